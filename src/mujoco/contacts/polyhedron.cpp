#include "src/mujoco/contacts/polyhedron.hpp"

#include <algorithm>

namespace stickslip::mujoco {
namespace {

// Vertex i of a box lies on the upper side of axis k if bit k of i is set.
constexpr int kBoxFaces[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                               2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
constexpr int kBoxBegin[6] = {0, 4, 8, 12, 16, 20}, kBoxSize[6] = {4, 4, 4, 4, 4, 4};

double (*allocate(mjData* d, int count))[3] {
  return reinterpret_cast<double(*)[3]>(mj_stackAllocNum(d, 3 * count));
}

// In the frame of the geom.
Polyhedron box_of(const mjModel* m, mjData* d, int geom) {
  Polyhedron p{8, 6, allocate(d, 8), allocate(d, 6), kBoxBegin, kBoxSize, kBoxFaces, {}, {}};
  const double* half = m->geom_size + 3 * geom;
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k) p.vertex[i][k] = (i >> k & 1) ? half[k] : -half[k];
  for (int f = 0; f < 6; ++f) {
    mju_zero3(p.normal[f]);
    p.normal[f][f / 2] = f % 2 ? 1 : -1;
  }
  return p;
}

Polyhedron hull_of(const mjModel* m, mjData* d, int geom) {
  const int mesh = m->geom_dataid[geom], first = m->mesh_polyadr[mesh];
  Polyhedron p{};
  p.num_vertices = m->mesh_vertnum[mesh];
  p.num_faces = m->mesh_polynum[mesh];
  p.vertex = allocate(d, p.num_vertices);
  p.normal = allocate(d, p.num_faces);
  p.face_begin = m->mesh_polyvertadr + first;
  p.face_size = m->mesh_polyvertnum + first;
  p.of_faces = m->mesh_polyvert;
  std::copy_n(m->mesh_vert + 3 * m->mesh_vertadr[mesh], 3 * p.num_vertices, p.vertex[0]);
  std::copy_n(m->mesh_polynormal + 3 * first, 3 * p.num_faces, p.normal[0]);
  return p;
}

}  // namespace

Polyhedron polyhedron_of(const mjModel* m, mjData* d, int geom, int frame) {
  Polyhedron p = m->geom_type[geom] == mjGEOM_BOX ? box_of(m, d, geom) : hull_of(m, d, geom);
  double turn[9], offset[3], shift[3];
  mju_mulMatTMat(turn, d->geom_xmat + 9 * frame, d->geom_xmat + 9 * geom, 3, 3, 3);
  mju_sub3(offset, d->geom_xpos + 3 * geom, d->geom_xpos + 3 * frame);
  mju_mulMatTVec3(shift, d->geom_xmat + 9 * frame, offset);
  std::fill_n(p.low, 3, mjMAXVAL);
  std::fill_n(p.high, 3, -mjMAXVAL);
  for (double(*v)[3] = p.vertex; v < p.vertex + p.num_vertices; ++v) {
    double turned[3];
    mju_mulMatVec3(turned, turn, *v);
    mju_add3(*v, turned, shift);
    for (int k = 0; k < 3; ++k) {
      p.low[k] = std::min(p.low[k], (*v)[k]);
      p.high[k] = std::max(p.high[k], (*v)[k]);
    }
  }
  for (double(*n)[3] = p.normal; n < p.normal + p.num_faces; ++n) {
    double turned[3];
    mju_mulMatVec3(turned, turn, *n);
    mju_copy3(*n, turned);
  }
  return p;
}

}  // namespace stickslip::mujoco
