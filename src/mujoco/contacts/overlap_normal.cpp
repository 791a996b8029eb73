#include "src/mujoco/contacts/overlap_normal.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/convex_search.hpp"
#include "src/mujoco/contacts/cylinder_side.hpp"
#include "src/mujoco/contacts/hull.hpp"
#include "src/mujoco/contacts/part.hpp"
#include "src/mujoco/contacts/step_contacts.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kTurned = 1e-4, kSameShare = 1e-2;  // rad; of a distance
constexpr double kShallowest = kTouching;  // m; contacts with less are looked at as ghosts
constexpr double kDeepest = 3e-3;          // m; as deep as a wheel above the side of a tile may be

// Calls `look` for each face of a geom: its outward normal, and how far it is along that, m, both
// in the frame of the geom, as `place` is, to which the round side of a cylinder is turned, or at
// which an ellipsoid is touched.
template <class Look>
void for_faces(const mjModel* m, int geom, const double* place, const Look& look) {
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
    double out[3] = {place[0], place[1], 0.0};
    if (type == mjGEOM_CYLINDER && mju_normalize3(out) > 0) look(out, m->geom_size[3 * geom]);
  } else if (type == mjGEOM_ELLIPSOID) {
    const double* size = m->geom_size + 3 * geom;
    double out[3], axes[3];
    for (int i = 0; i < 3; ++i) out[i] = place[i] / (size[i] * size[i]);
    if (!(mju_normalize3(out) > 0)) return;
    for (int i = 0; i < 3; ++i) axes[i] = size[i] * out[i];
    look(out, mju_norm3(axes));
  }
}

// Two geoms, and the points of each that the last searches found.
struct Pair {
  const mjModel* m;
  const mjData* d;
  int geom[2];
  int vertex[2] = {-1, -1};  // of meshes
  double point[2][3] = {};

  // Finds the point of the geom of one side that is farthest along a direction.
  void find_farthest(int side, const double* direction) {
    double local[3], there[3];
    mju_mulMatTVec3(local, d->geom_xmat + 9 * geom[side], direction);
    farthest_point(m, geom[side], local, vertex[side], there);
    mju_mulMatVec3(point[side], d->geom_xmat + 9 * geom[side], there);
    mju_addTo3(point[side], d->geom_xpos + 3 * geom[side]);
  }
  // The gap between them along a direction from the first to the second.
  double gap(const double* direction) {
    const double back[3] = {-direction[0], -direction[1], -direction[2]};
    find_farthest(0, direction);
    find_farthest(1, back);
    return dot(point[1], direction) - dot(point[0], direction);
  }
  // The gap along the outward normal of a face of one side, which is `reach` from the geom's
  // centre; or any number up to `least` if it is at most that: a known point often shows it.
  double gap_to_face(int side, const double* outward, double reach, double least) {
    const int other = 1 - side;
    const double level = reach + dot(d->geom_xpos + 3 * geom[side], outward);
    const double most = dot(point[other], outward) - level;
    if (most <= least) return most;
    const double back[3] = {-outward[0], -outward[1], -outward[2]};
    find_farthest(other, back);
    return dot(point[other], outward) - level;
  }
};

// Whether the geoms overlap less along the normal of one of their faces; then that is the
// contact's. A direction in which they overlap by less than `most` is normal to a face that is
// within that of all points where they overlap, as the contact's is: other faces are not measured.
bool overlap_less(Pair& pair, double now, mjPreContact& found) {
  const mjData* d = pair.d;
  const double most = std::min(kShallowest - now, kDeepest);
  double least = std::max(now + 0.5 * kShallowest, -kDeepest), place[3], local[3], normal[3];
  bool less = false;
  for (int side = 0; side < 2; ++side) {
    const double *center = d->geom_xpos + 3 * pair.geom[side],
                 *frame = d->geom_xmat + 9 * pair.geom[side];
    mju_sub3(place, found.pos, center);
    mju_mulMatTVec3(local, frame, place);
    for_faces(pair.m, pair.geom[side], local, [&](const double* outward, double reach) {
      if (std::abs(dot(local, outward) - reach) > most) return;
      mju_mulMatVec3(normal, frame, outward);
      const double gap = pair.gap_to_face(side, normal, reach, least);
      if (gap <= least) return;
      less = true;
      least = found.dist = gap;
      mju_scl3(found.normal, normal, side == 0 ? 1 : -1);
    });
  }
  if (less) mju_zero3(found.tangent);
  return less;
}

// Corrects the contacts that the search has found for geoms with faces. Returns whether it does.
bool correct_searched(Pair& pair, mjData* d, mjPreContact* found, int& count) {
  const auto [a, b] = pair.geom;
  const double turned = kTurned * (pair.m->geom_rbound[a] + pair.m->geom_rbound[b]);
  // One point, of geoms that touch but for the search's tolerance, may have any normal.
  const auto is_vague = [&](int number, double told) {
    return number == 1 && std::abs(told) <= kShallowest;
  };
  const auto is_right = [&](const mjPreContact* contacts, int number) {
    const double told = contacts->dist;
    const double error =
        is_vague(number, told) ? kShallowest : turned + kSameShare * std::abs(told);
    return std::abs(pair.gap(contacts->normal) - told) <= error;
  };
  bool changed = false, wrong = !is_right(found, count);
  if (wrong) {
    mjPreContact again[mjMAXCONPAIR];
    const int number = convex_search()(pair.m, d, again, a, b, 0.0);
    changed = number > 0 && is_right(again, number);
    if (changed) {
      std::copy_n(again, number, found);
      count = number;
      wrong = false;
    }
  }
  const double told = found->dist, now = wrong ? pair.gap(found->normal) : told;
  const double most = !wrong ? -kShallowest : is_vague(count, told) ? kShallowest : 0.0;
  if (told < -kDeepest || told > most) return changed;
  if (!overlap_less(pair, now, *found)) return changed;
  count = 1;
  return true;
}

// Whether the geoms overlap less along the normal of one of `others` than along that of the
// contact, beyond `error`, m; then that is the contact's.
bool overlap_less_along(Pair& pair, const mjPreContact* others, int number, double error,
                        mjPreContact* found, int& count) {
  double least = pair.gap(found->normal) + error;
  bool less = false;
  for (int k = 0; k < number; ++k) {
    const double gap = pair.gap(others[k].normal);
    if (gap <= least) continue;
    less = true;
    least = gap;
    found[0] = others[k];
    found[0].dist = gap;
    count = 1;
  }
  return less;
}

}  // namespace

bool meet_at_edge(const mjModel* m, const mjData* d, int a, int b, const double* normal,
                  double width) {
  constexpr double kSameSide = 0.9;  // cosine
  Pair pair{m, d, {a, b}};
  if (pair.gap(normal) < -width) return false;
  bool at_edge = false;
  for (int side = 0; side < 2; ++side) {
    const double nowhere[3] = {};
    for_faces(m, pair.geom[side], nowhere, [&](const double* outward, double reach) {
      double direction[3];
      mju_mulMatVec3(direction, d->geom_xmat + 9 * pair.geom[side], outward);
      if (at_edge || std::abs(mju_dot3(direction, normal)) > kSameSide) return;
      at_edge = pair.gap_to_face(side, direction, reach, -width) > -width;
    });
  }
  return at_edge;
}

bool correct_normal(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found,
                    int& count) {
  constexpr double kSame = 1e-7;  // m; of gaps, beside the errors of the search
  if (!uses_convex_search(m, a, b)) return false;
  Pair pair{m, d, {a, b}};
  const bool changed = correct_searched(pair, d, found, count);
  mjPreContact side[mjMAXCONPAIR];
  bool on_side = false;
  const int number = meet_side(m, d, a, b, margin, side, on_side);
  if (number == 0) return changed;
  // A cylinder whose end sinks onto an edge: no face has the direction in which they overlap least.
  if (!on_side) {
    const bool overlap = found->dist < 0.0;
    return (overlap && overlap_less_along(pair, side, number, kSame, found, count)) || changed;
  }
  if (side->dist < pair.gap(found->normal) - kSame) return changed;
  std::copy_n(side, number, found);
  count = number;
  return true;
}

}  // namespace stickslip::mujoco
