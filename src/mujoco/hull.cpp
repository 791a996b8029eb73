#include "src/mujoco/hull.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {
namespace {

double along(const double* direction, const float* v) {
  return direction[0] * v[0] + direction[1] * v[1] + direction[2] * v[2];
}

double reach_of_mesh(const mjModel* m, int mesh, const double* direction) {
  const HullGraph hull(m, mesh);
  if (hull.num_vertices() > 0) return along(direction, hull.vertex(hull.farthest(direction)));
  const float* const first = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  double most = -mjMAXVAL;
  for (const float* v = first; v < first + 3 * m->mesh_vertnum[mesh]; v += 3)
    most = std::max(most, along(direction, v));
  return most;
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
int HullGraph::farthest(const double* direction) const {
  constexpr double kSide = 0.4;  // of the 27 directions, as in MuJoCo
  int place = 0;
  for (int i = 0; i < 3; ++i)
    place = 3 * place + 1 + (direction[i] > kSide) - (direction[i] < -kSide);
  int best = extremes_[place], last = -1;
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

double reach_along(const mjModel* m, int geom, const double* direction) {
  const double* size = m->geom_size + 3 * geom;
  const double x = direction[0], y = direction[1], z = direction[2];
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE:
      return size[0];
    case mjGEOM_CAPSULE:
      return size[0] + size[1] * std::abs(z);
    case mjGEOM_ELLIPSOID:
      return std::sqrt(size[0] * size[0] * x * x + size[1] * size[1] * y * y +
                       size[2] * size[2] * z * z);
    case mjGEOM_CYLINDER:
      return size[0] * std::sqrt(x * x + y * y) + size[1] * std::abs(z);
    case mjGEOM_BOX:
      return size[0] * std::abs(x) + size[1] * std::abs(y) + size[2] * std::abs(z);
    case mjGEOM_MESH:
      return reach_of_mesh(m, m->geom_dataid[geom], direction);
    default:
      return m->geom_rbound[geom];
  }
}

}  // namespace stickslip::mujoco
