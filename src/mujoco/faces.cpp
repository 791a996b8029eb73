#include "src/mujoco/faces.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {
namespace {

constexpr double kSameSide = 0.9;  // cosine
constexpr int kFew = 2;            // points of two edges, or of an edge and a face
constexpr double kLarger = 5e-4;   // of the smallest half size

bool is_box(const mjModel* m, int geom) { return geom >= 0 && m->geom_type[geom] == mjGEOM_BOX; }

// How far a cube of half size 1 in the axes of a geom reaches along a normal.
double reach_of_cube(const mjData* d, int geom, const double* normal) {
  double local[3];
  mju_mulMatTVec3(local, d->geom_xmat + 9 * geom, normal);
  return std::abs(local[0]) + std::abs(local[1]) + std::abs(local[2]);
}

// The contacts of boxes larger by g in each direction, with the gaps of the boxes as they are: a
// larger box is the sum of the box and a cube of half size g.
int collide_larger(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found) {
  mj_markStack(d);
  mjModel larger = *m;  // shallow: the other arrays belong to m
  larger.geom_size = mj_stackAllocNum(d, 3 * m->ngeom);
  const double* sizes[2] = {m->geom_size + 3 * a, m->geom_size + 3 * b};
  const double g = kLarger * std::min(*std::min_element(sizes[0], sizes[0] + 3),
                                      *std::min_element(sizes[1], sizes[1] + 3));
  for (int i = 0; i < 3; ++i) {  // the function reads no other sizes
    larger.geom_size[3 * a + i] = sizes[0][i] + g;
    larger.geom_size[3 * b + i] = sizes[1][i] + g;
  }
  const int count = mjCOLLISIONFUNC[mjGEOM_BOX][mjGEOM_BOX](&larger, d, found, a, b, margin);
  for (int i = 0; i < count; ++i) {
    const double* n = found[i].normal;
    found[i].dist += g * (reach_of_cube(d, a, n) + reach_of_cube(d, b, n));
  }
  mj_freeStack(d);
  return count;
}

// The points of a face that replace `count` contacts of the pair with a `normal`; 0: none.
int find_face(const mjModel* m, mjData* d, int a, int b, double margin, int count,
              const double* normal, mjPreContact* found) {
  if (count == 0 || count > kFew || !is_box(m, a) || !is_box(m, b)) return 0;
  const int whole = collide_larger(m, d, a, b, margin, found);
  return whole > count && mju_dot3(found->normal, normal) > kSameSide ? whole : 0;
}

// Velocity of the second surface relative to the first at a point, less that at another `from`.
void surface_difference(const mjModel* m, const mjData* d, const mjContact& c, const double* from,
                        double* velocity) {
  double way[3], turn[3], turned[3];
  mju_sub3(way, c.pos, from);
  mju_zero3(velocity);
  for (int side = 0; side < 2; ++side) {
    const int geom = c.geom[side];
    mju_mulMatVec3(turn, d->geom_xmat + 9 * geom, m->geom_surfacevel + 6 * geom + 3);
    mju_cross(turned, turn, way);
    mju_addToScl3(velocity, turned, side == 0 ? -1 : 1);
  }
}

// The contact at another point of the same two geoms, in nearly the same frame.
mjContact move_contact(const mjModel* m, const mjData* d, const mjContact& contact,
                       const mjPreContact& to) {
  mjContact moved = contact;
  double *normal = moved.frame, *first = moved.frame + 3, *second = moved.frame + 6;
  moved.dist = to.dist;
  mju_copy3(moved.pos, to.pos);
  mju_copy3(normal, to.normal);
  mju_addToScl3(first, normal, -mju_dot3(first, normal));
  mju_normalize3(first);
  mju_cross(second, normal, first);
  double velocity[3];
  surface_difference(m, d, moved, contact.pos, velocity);
  for (int axis = 1; axis < 3; ++axis)
    moved.surfacevel[axis - 1] += mju_dot3(moved.frame + 3 * axis, velocity);
  return moved;
}

int end_of_pair(const mjData* d, int begin) {
  int end = begin + 1;
  while (end < d->ncon && same_pair(d->contact[begin], d->contact[end])) ++end;
  return end;
}

// Replaces the contacts of d. MuJoCo warns where its memory has no room for all.
void replace_contacts(const mjModel* m, mjData* d, const std::vector<mjContact>& contacts) {
  while (d->ncon < int(contacts.size()) && mj_addContact(m, d, &contacts[d->ncon]) == 0) {
  }
  std::copy_n(contacts.begin(), d->ncon, d->contact);
}

}  // namespace

bool tilt_standing(const mjModel* m, mjData* d, int plane, int cylinder, Tilted& tilted) {
  constexpr double kTilt = 1e-8;
  if (m->geom_type[plane] != mjGEOM_PLANE || m->geom_type[cylinder] != mjGEOM_CYLINDER)
    return false;
  double* xmat = d->geom_xmat + 9 * cylinder;
  double normal[3], axis[3], across[3];
  for (int i = 0; i < 3; ++i) {
    normal[i] = d->geom_xmat[9 * plane + 3 * i + 2];
    axis[i] = xmat[3 * i + 2];
  }
  mju_cross(across, normal, axis);
  if (mju_norm3(across) > kTilt) return false;
  tilted.geom = cylinder;
  mju_copy(tilted.xmat, xmat, 9);
  for (int i = 0; i < 3; ++i) {  // about its own first axis
    xmat[3 * i + 1] += 2 * kTilt * tilted.xmat[3 * i + 2];
    xmat[3 * i + 2] -= 2 * kTilt * tilted.xmat[3 * i + 1];
  }
  return true;
}

void put_upright(mjData* d, const Tilted& tilted) {
  mju_copy(d->geom_xmat + 9 * tilted.geom, tilted.xmat, 9);
}

int collide_geoms(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found) {
  const auto collide = mjCOLLISIONFUNC[m->geom_type[a]][m->geom_type[b]];
  Tilted tilted;
  const bool tilts = tilt_standing(m, d, a, b, tilted);
  const int count = collide(m, d, found, a, b, margin);
  if (tilts) put_upright(d, tilted);
  mjPreContact face[mjMAXCONPAIR];
  const int whole = find_face(m, d, a, b, margin, count, found->normal, face);
  std::copy_n(face, whole, found);
  return std::max(count, whole);
}

void complete_faces(const mjModel* m, mjData* d, std::vector<mjContact>& contacts) {
  bool any = false;
  for (int i = 0, end = 0; i < d->ncon; i = end) {
    const mjContact *const begin = d->contact, *const pair = begin + i;
    end = end_of_pair(d, i);
    mjPreContact face[mjMAXCONPAIR];
    const int whole = find_face(m, d, pair->geom[0], pair->geom[1], pair->includemargin, end - i,
                                pair->frame, face);
    if (whole > 0 && !any) contacts.assign(begin, pair);
    any = any || whole > 0;
    if (any && whole == 0) contacts.insert(contacts.end(), pair, begin + end);
    for (int k = 0; k < whole; ++k) contacts.push_back(move_contact(m, d, *pair, face[k]));
  }
  if (any) replace_contacts(m, d, contacts);
}

}  // namespace stickslip::mujoco
