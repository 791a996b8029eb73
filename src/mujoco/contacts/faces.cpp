#include "src/mujoco/contacts/faces.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/boxes_apart.hpp"
#include "src/mujoco/contacts/convex_search.hpp"
#include "src/mujoco/contacts/cylinder_side.hpp"
#include "src/mujoco/contacts/face_polygons.hpp"
#include "src/mujoco/contacts/field_contacts.hpp"
#include "src/mujoco/contacts/overlap_normal.hpp"
#include "src/mujoco/contacts/polyhedron.hpp"
#include "src/mujoco/contacts/surface_velocity.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kSameSide = 0.9;  // cosine
constexpr int kFew = 2;            // points of two edges, or of an edge and a face
constexpr double kLarger = 5e-4;   // of the smallest half size
constexpr double kTilt = 1e-10;    // rad; aligned but for rounding

// A cylinder and a plane: how the axis of one lies to the normal of the other.
struct Standing {
  double normal[3], axis[3];
  double sine;

  Standing(const mjData* d, int plane, int cylinder) {
    double across[3];
    for (int i = 0; i < 3; ++i) {
      normal[i] = d->geom_xmat[9 * plane + 3 * i + 2];
      axis[i] = d->geom_xmat[9 * cylinder + 3 * i + 2];
    }
    mju_cross(across, normal, axis);
    sine = mju_norm3(across);
  }
};

bool is_cylinder(const mjModel* m, int geom) {
  return geom >= 0 && m->geom_type[geom] == mjGEOM_CYLINDER;
}

bool is_cylinder_on_plane(const mjModel* m, int a, int b) {
  return a >= 0 && m->geom_type[a] == mjGEOM_PLANE && is_cylinder(m, b);
}

// Measures a contact of the lower rim of a cylinder that stands on a plane: there the collider's
// point is wrong by rounding over the angle.
void measure_rim(const mjModel* m, const mjData* d, int plane, int cylinder, double* position,
                 double* distance) {
  constexpr double kStands = 1e-4;
  if (!is_cylinder_on_plane(m, plane, cylinder)) return;
  const Standing is(d, plane, cylinder);
  if (is.sine > kStands) return;
  const double *size = m->geom_size + 3 * cylinder, *center = d->geom_xpos + 3 * cylinder;
  const double down = mju_dot3(is.normal, is.axis) > 0 ? -size[1] : size[1];
  double out[3], rim[3];
  mju_sub3(out, position, center);
  mju_addToScl3(out, is.axis, -mju_dot3(out, is.axis));
  mju_normalize3(out);
  mju_addScl3(rim, center, is.axis, down);
  mju_addToScl3(rim, out, size[0]);
  mju_sub3(out, rim, d->geom_xpos + 3 * plane);
  *distance = mju_dot3(out, is.normal);
  mju_addScl3(position, rim, is.normal, -0.5 * *distance);
}

// The axis, 0 or 1, about which a capsule that is parallel to a face of the box turns away from it;
// -1: it is parallel to none.
int axis_to_lift(const mjData* d, int capsule, int box) {
  const double *xmat = d->geom_xmat + 9 * capsule, *faces = d->geom_xmat + 9 * box;
  for (int face = 0; face < 3; ++face) {
    double along[3] = {};  // of the capsule's axes on the normal
    for (int i = 0; i < 3; ++i)
      for (int axis = 0; axis < 3; ++axis) along[axis] += xmat[3 * i + axis] * faces[3 * i + face];
    if (std::abs(along[2]) < kTilt) return std::abs(along[1]) > std::abs(along[0]) ? 0 : 1;
  }
  return -1;
}

// Turns the orientation about its own axis, 0 or 1, by a small angle.
void turn(double* xmat, int about, double angle) {
  const int other = 1 - about;
  if (about == 1) angle = -angle;
  for (double* row = xmat; row < xmat + 9; row += 3) {
    const double y = row[other], z = row[2];
    row[other] += angle * z;
    row[2] -= angle * y;
  }
}

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
  const double g = growth(m, a, b);
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

bool is_flat(const mjModel* m, int geom) { return is_cylinder(m, geom) || has_faces(m, geom); }

// The width up to which a strip is an edge, m: geoms that touch, but at an edge of both alone, have
// no contact. Its normal would be that of either face, as rounding decides. 0: they do not touch,
// or have no faces.
double narrow_strip(const mjModel* m, int a, int b, double gap) {
  if (!is_flat(m, a) || !is_flat(m, b)) return 0.0;
  const double g = growth(m, a, b);
  return std::abs(gap) <= g ? 2 * g : 0.0;
}

// The points of the faces of which one has the contacts' normal, once that is right, or of the line
// of a cylinder on one.
int find_polygon(const mjModel* m, mjData* d, int a, int b, double margin,
                 const mjPreContact* shown, int count, mjPreContact* found) {
  mjPreContact right[mjMAXCONPAIR];
  std::copy_n(shown, count, right);
  const bool changed = correct_normal(m, d, a, b, margin, right, count);
  const bool rolls = is_cylinder(m, a) || (a >= 0 && m->geom_type[a] == mjGEOM_CAPSULE);
  int whole = 0;
  if (is_flat(m, a) && is_flat(m, b))
    whole = share_face(m, d, a, b, margin, right, count, found,
                       narrow_strip(m, a, b, nearest(right, count)));
  if (whole == 0 && has_faces(m, b) && (rolls || has_faces(m, a))) {
    const double g = growth(m, a, b), gap = nearest(right, count);
    if (std::abs(gap) <= g && meet_at_edge(m, d, a, b, right->normal, g)) whole = kEdgeAlone;
    if (whole == 0 && rolls) whole = lie_on_face(m, d, a, b, margin, right, g, found);
    if (whole == 0 && rolls) whole = lie_on_edge(m, d, a, b, margin, *right, found);
  }
  if (whole == 0) whole = lie_along(m, d, a, b, margin, *right, found);
  if (whole != 0) return whole;
  if (!changed) return 0;
  std::copy_n(right, count, found);
  return count;
}

// The same for boxes.
int find_box_face(const mjModel* m, mjData* d, int a, int b, double margin,
                  const mjPreContact* shown, int count, mjPreContact* found) {
  const double g = growth(m, a, b), gap = nearest(shown, count);
  const double narrow = narrow_strip(m, a, b, gap);
  mjPreContact larger[mjMAXCONPAIR];
  const int whole = count > kFew ? 0 : collide_larger(m, d, a, b, margin, larger);
  const bool is_whole = whole > count && mju_dot3(larger->normal, shown->normal) > kSameSide &&
                        nearest(larger, whole) <= gap + g;
  const int shared = is_whole ? share_face(m, d, a, b, margin, larger, whole, found, narrow)
                              : share_face(m, d, a, b, margin, shown, count, found, narrow);
  if (shared != 0 || !is_whole) return shared;
  std::copy_n(larger, whole, found);
  return whole;
}

// The points of a face that replace the `count` contacts `shown` of the pair; 0: none; kEdgeAlone:
// the pair has no contact.
int find_face(const mjModel* m, mjData* d, int a, int b, double margin, const mjPreContact* shown,
              int count, mjPreContact* found) {
  if (count == 0) return 0;
  if (a >= 0 && b >= 0 && m->geom_type[a] == mjGEOM_HFIELD && m->geom_type[b] <= mjGEOM_MESH)
    return lie_on_field(m, d, a, b, margin, shown, count, found);
  if (a >= 0 && b >= 0 && m->geom_type[a] == mjGEOM_PLANE && m->geom_type[b] == mjGEOM_MESH)
    return stand_on_plane(m, d, a, b, margin, found);
  return are_boxes(m, a, b) ? find_box_face(m, d, a, b, margin, shown, count, found)
                            : find_polygon(m, d, a, b, margin, shown, count, found);
}

}  // namespace

double growth(const mjModel* m, int a, int b) {
  return kLarger * std::min(thinnest(m, a), thinnest(m, b));
}

bool tilt_aligned(const mjModel* m, mjData* d, int a, int b, Tilted& tilted) {
  int about;
  if (is_cylinder_on_plane(m, a, b)) {
    if (Standing(d, a, b).sine > kTilt) return false;
    tilted.geom = b;
    about = 0;
  } else if (m->geom_type[a] == mjGEOM_CAPSULE && m->geom_type[b] == mjGEOM_BOX) {
    about = axis_to_lift(d, a, b);
    if (about < 0) return false;
    tilted.geom = a;
  } else {
    return false;
  }
  double* xmat = d->geom_xmat + 9 * tilted.geom;
  mju_copy(tilted.xmat, xmat, 9);
  turn(xmat, about, 2 * kTilt);
  return true;
}

void put_back(mjData* d, const Tilted& tilted) {
  mju_copy(d->geom_xmat + 9 * tilted.geom, tilted.xmat, 9);
}

mjContact move_contact(const mjModel* m, const mjData* d, const mjContact& contact,
                       const mjPreContact& to) {
  mjContact moved = contact;
  double *normal = moved.frame, *first = moved.frame + 3, *second = moved.frame + 6;
  moved.dist = to.dist;
  mju_copy3(moved.pos, to.pos);
  mju_copy3(normal, to.normal);
  if (mju_dot3(normal, contact.frame) < kSameSide) {
    mju_zero3(first);
    first[std::abs(normal[1]) < 0.5 ? 1 : 2] = 1;  // as MuJoCo
  }
  mju_addToScl3(first, normal, -mju_dot3(first, normal));
  mju_normalize3(first);
  mju_cross(second, normal, first);
  set_surface_velocity(m, d, moved);
  return moved;
}

void replace_contacts(const mjModel* m, mjData* d, const std::vector<mjContact>& contacts) {
  d->ncon = std::min(d->ncon, int(contacts.size()));
  while (d->ncon < int(contacts.size()) && mj_addContact(m, d, &contacts[d->ncon]) == 0) {
  }
  std::copy_n(contacts.begin(), d->ncon, d->contact);
}

int collide_geoms(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found) {
  const auto collide = mjCOLLISIONFUNC[m->geom_type[a]][m->geom_type[b]];
  Tilted tilted;
  const bool tilts = tilt_aligned(m, d, a, b, tilted);
  int count = collide(m, d, found, a, b, margin);
  if (tilts) put_back(d, tilted);
  for (int i = 0; i < count; ++i) measure_rim(m, d, a, b, found[i].pos, &found[i].dist);
  mjPreContact better[mjMAXCONPAIR];
  const auto take = [&](int number) {
    std::copy_n(better, std::max(number, 0), found);
    if (number != 0) count = std::max(number, 0);
  };
  take(search_apart(m, d, a, b, margin, nearest(found, count), better));
  take(find_face(m, d, a, b, margin, found, count, better));
  return count;
}

void complete_faces(const mjModel* m, mjData* d, std::vector<mjContact>& contacts) {
  for (mjContact* c = d->contact; c < d->contact + d->ncon; ++c)
    measure_rim(m, d, c->geom[0], c->geom[1], c->pos, &c->dist);
  bool any = false;
  for (int i = 0, end = 0; i < d->ncon; i = end) {
    const mjContact *const begin = d->contact, *const pair = begin + i;
    end = end_of_pair(d, i);
    mjPreContact shown[mjMAXCONPAIR], face[mjMAXCONPAIR];
    for (int k = i; k < end; ++k) {
      shown[k - i].dist = begin[k].dist;
      mju_copy3(shown[k - i].pos, begin[k].pos);
      mju_copy3(shown[k - i].normal, begin[k].frame);
    }
    const int whole =
        find_face(m, d, pair->geom[0], pair->geom[1], pair->includemargin, shown, end - i, face);
    if (whole != 0 && !any) contacts.assign(begin, pair);
    any = any || whole != 0;
    if (any && whole == 0) contacts.insert(contacts.end(), pair, begin + end);
    for (int k = 0; k < whole; ++k) contacts.push_back(move_contact(m, d, *pair, face[k]));
  }
  if (any) replace_contacts(m, d, contacts);
}

}  // namespace stickslip::mujoco
