#include "src/mujoco/contacts/hull.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {
namespace {

double along(const double* direction, const float* v) {
  return direction[0] * v[0] + direction[1] * v[1] + direction[2] * v[2];
}

// Of a mesh without a graph, the number in the mesh.
int farthest_of_all(const mjModel* m, int mesh, const double* direction) {
  const float* const first = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  int best = 0;
  for (int i = 1; i < m->mesh_vertnum[mesh]; ++i)
    if (along(direction, first + 3 * i) > along(direction, first + 3 * best)) best = i;
  return best;
}

}  // namespace

HullGraph::HullGraph(const mjModel* m, int mesh)
    : extremes_(m->mesh_extrema + 27 * mesh), positions_(m->mesh_vert + 3 * m->mesh_vertadr[mesh]) {
  if (m->mesh_graphadr[mesh] < 0) return;
  const int* const graph = m->mesh_graph + m->mesh_graphadr[mesh];
  count_ = graph[0];
  first_edge_ = graph + 2;
  ids_ = first_edge_ + count_;
  edges_ = ids_ + count_;
}

// A vertex of a convex body that is not the farthest has a neighbour that is farther.
int HullGraph::farthest(const double* direction, int first) const {
  constexpr double kSide = 0.4;  // of the 27 directions, as in MuJoCo
  int place = 0;
  for (int i = 0; i < 3; ++i)
    place = 3 * place + 1 + (direction[i] > kSide) - (direction[i] < -kSide);
  int best = first >= 0 ? first : extremes_[place], last = -1;
  double most = along(direction, vertex(best));
  while (best != last) {
    last = best;
    for_neighbours(last, [&](int i) {
      const double other = along(direction, vertex(i));
      if (!(other > most)) return;
      most = other;
      best = i;
    });
  }
  return best;
}

void farthest_point(const mjModel* m, int geom, const double* direction, int& vertex,
                    double* point) {
  const double* size = m->geom_size + 3 * geom;
  const double x = direction[0], y = direction[1], z = direction[2];
  const int type = m->geom_type[geom], mesh = m->geom_dataid[geom];
  if (type == mjGEOM_MESH) {
    const HullGraph hull(m, mesh);
    const bool has_graph = hull.num_vertices() > 0;
    vertex = has_graph ? hull.farthest(direction, vertex) : farthest_of_all(m, mesh, direction);
    const int id = has_graph ? hull.id(vertex) : vertex;
    std::copy_n(m->mesh_vert + 3 * (m->mesh_vertadr[mesh] + id), 3, point);
  } else if (type == mjGEOM_BOX) {
    for (int i = 0; i < 3; ++i) point[i] = std::copysign(size[i], direction[i]);
  } else if (type == mjGEOM_CYLINDER) {
    const double across = std::sqrt(x * x + y * y), scale = across > 0 ? size[0] / across : 0.0;
    point[0] = scale * x;
    point[1] = scale * y;
    point[2] = std::copysign(size[1], z);
  } else if (type == mjGEOM_ELLIPSOID) {
    double squares[3], sum = 0;
    for (int i = 0; i < 3; ++i)
      sum += (squares[i] = size[i] * size[i] * direction[i]) * direction[i];
    mju_scl3(point, squares, 1 / std::sqrt(sum));
  } else {
    const bool round = type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE;
    mju_scl3(point, direction, round ? size[0] : m->geom_rbound[geom]);
    if (type == mjGEOM_CAPSULE) point[2] += std::copysign(size[1], z);
  }
}

int face_towards(const mjModel* m, int mesh, const double* direction, double least) {
  const HullGraph hull(m, mesh);
  const int first = m->mesh_polyadr[mesh];
  int best = -1;
  double nearest = least;
  const auto look = [&](int face) {
    const double cosine = mju_dot3(m->mesh_polynormal + 3 * face, direction);
    if (cosine < nearest) return;
    nearest = cosine;
    best = face;
  };
  if (hull.num_vertices() == 0) {
    for (int i = 0; i < m->mesh_polynum[mesh]; ++i) look(first + i);
    return best;
  }
  const int corner = m->mesh_vertadr[mesh] + hull.id(hull.farthest(direction));
  const int* faces = m->mesh_polymap + m->mesh_polymapadr[corner];
  for (int i = 0; i < m->mesh_polymapnum[corner]; ++i) look(first + faces[i]);
  return best;
}

}  // namespace stickslip::mujoco
