#include "src/mujoco/contacts/shallow_overlap.hpp"

#include <cmath>

#include "src/mujoco/contacts/convex_search.hpp"
#include "src/mujoco/contacts/hull.hpp"
#include "src/mujoco/contacts/part.hpp"
#include "src/mujoco/contacts/step_contacts.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kShallowest = kTouching;  // m; contacts with less are looked at as ghosts
constexpr double kDeepest = 3e-3;          // m; as deep as a wheel above the side of a tile may be

// Calls `look` for each face of a geom: its outward normal, and how far it is along that, m, both
// in the frame of the geom.
template <class Look>
void for_faces(const mjModel* m, int geom, const Look& look) {
  const int type = m->geom_type[geom];
  if (type == mjGEOM_MESH) {
    const int mesh = m->geom_dataid[geom], first = m->mesh_polyadr[mesh];
    const float* vertices = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
    for (int face = first; face < first + m->mesh_polynum[mesh]; ++face) {
      const double* normal = m->mesh_polynormal + 3 * face;
      const float* v = vertices + 3 * m->mesh_polyvert[m->mesh_polyvertadr[face]];
      look(normal, normal[0] * v[0] + normal[1] * v[1] + normal[2] * v[2]);
    }
  } else if (type == mjGEOM_BOX || type == mjGEOM_CYLINDER) {
    for (int axis = type == mjGEOM_BOX ? 0 : 2; axis < 3; ++axis)
      for (const double sign : {-1.0, 1.0}) {
        double normal[3] = {};
        normal[axis] = sign;
        look(normal, m->geom_size[3 * geom + (type == mjGEOM_BOX ? axis : 1)]);
      }
  }
}

// Two geoms, and the vertices of meshes that the last search found.
struct Pair {
  const mjModel* m;
  const mjData* d;
  int geom[2];
  int vertex[2] = {-1, -1};

  // How far the geom of one side reaches along a direction, from the origin.
  double reach(int side, const double* direction) {
    double local[3], point[3], moved[3];
    mju_mulMatTVec3(local, d->geom_xmat + 9 * geom[side], direction);
    farthest_point(m, geom[side], local, vertex[side], point);
    mju_mulMatVec3(moved, d->geom_xmat + 9 * geom[side], point);
    mju_addTo3(moved, d->geom_xpos + 3 * geom[side]);
    return mju_dot3(moved, direction);
  }
  // The gap between them along a direction from the first to the second.
  double gap(const double* direction) {
    const double back[3] = {-direction[0], -direction[1], -direction[2]};
    return -reach(1, back) - reach(0, direction);
  }
};

}  // namespace

// A direction in which the geoms overlap by less than `most` is normal to a face that is within
// that of all points where they overlap, as the contact's is: other faces are not measured.
bool overlap_less(const mjModel* m, const mjData* d, int a, int b, mjPreContact& found) {
  if (found.dist > -kShallowest || found.dist < -kDeepest || !uses_convex_search(m, a, b))
    return false;
  Pair pair{m, d, {a, b}};
  const double most = kShallowest - found.dist;
  double least = found.dist + 0.5 * kShallowest, place[3], local[3], normal[3];
  bool less = false;
  for (int side = 0; side < 2; ++side) {
    const double *center = d->geom_xpos + 3 * pair.geom[side],
                 *frame = d->geom_xmat + 9 * pair.geom[side];
    mju_sub3(place, found.pos, center);
    mju_mulMatTVec3(local, frame, place);
    for_faces(m, pair.geom[side], [&](const double* outward, double reach) {
      if (std::abs(dot(local, outward) - reach) > most) return;
      mju_mulMatVec3(normal, frame, outward);
      if (side == 1) mju_scl3(normal, normal, -1);
      const double gap = pair.gap(normal);
      if (gap <= least) return;
      less = true;
      least = found.dist = gap;
      mju_copy3(found.normal, normal);
    });
  }
  if (less) mju_zero3(found.tangent);
  return less;
}

}  // namespace stickslip::mujoco
