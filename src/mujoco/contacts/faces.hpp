// Whole faces. Where a gap near 0 meets any tilt, MuJoCo's collider of two boxes returns one point
// on two edges in place of the corners of the faces that meet (mujoco#2471), and rigid contacts
// rest at gap 0: bodies at rest would lose their support. Such pairs are collided once more with
// boxes a little larger, which overlap there, and their gaps corrected. Where the axis of a
// cylinder is normal to a plane but for rounding, the collider returns one point that is many
// millimetres wrong, or none; where a capsule is parallel to a face of a box, one end may be
// missing. Such geoms are tilted by 0.2 nrad while they are collided. The points of a rim, found
// from what is left of two parallel vectors, are measured anew.
#pragma once
#include <mujoco/mujoco.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace stickslip::mujoco {

/// Whether both contacts are of the same two geoms.
inline bool same_pair(const mjContact& a, const mjContact& b) {
  return a.geom[0] == b.geom[0] && a.geom[1] == b.geom[1];
}

/// The contacts of one pair of geoms follow one another: the end of those from `begin` on.
inline int end_of_pair(const mjData* d, int begin) {
  int end = begin + 1;
  while (end < d->ncon && same_pair(d->contact[begin], d->contact[end])) ++end;
  return end;
}

/// The least distance of `count` contacts, m; of none infinity.
template <class Contact>
double nearest(const Contact* contacts, int count) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) least = std::min(least, contacts[i].dist);
  return least;
}

/// The smallest half size of a geom, m.
inline double thinnest(const mjModel* m, int geom) {
  const double* half = m->geom_aabb + 6 * geom + 3;
  return std::min({half[0], half[1], half[2]});
}

/// By how much geoms a and b, if they are boxes, are larger in each direction while they are
/// collided once more, m.
double growth(const mjModel* m, int a, int b);

/// The orientation of a geom.
struct Tilted {
  int geom;
  double xmat[9];
};

/// Tilts the cylinder of a pair if its axis is normal to the plane a, or the capsule if it is
/// parallel to a face of the box b, and keeps how it was.
bool tilt_aligned(const mjModel* m, mjData* d, int a, int b, Tilted& tilted);
void put_back(mjData* d, const Tilted& tilted);

/// The contact at another point of the same two geoms, in nearly the same frame if its normal is
/// nearly the same.
mjContact move_contact(const mjModel* m, const mjData* d, const mjContact& contact,
                       const mjPreContact& to);
/// Replaces the contacts of d. MuJoCo warns where its memory has no room for all.
void replace_contacts(const mjModel* m, mjData* d, const std::vector<mjContact>& contacts);

/// MuJoCo's collision function of geoms a and b, with whole faces. `found`: room for
/// mjMAXCONPAIR. Returns their number.
int collide_geoms(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found);

/// Completes the faces in the contacts that mj_collision has found, and measures rims; the contacts
/// remain in the order of their pairs. `contacts`: scratch.
void complete_faces(const mjModel* m, mjData* d, std::vector<mjContact>& contacts);

}  // namespace stickslip::mujoco
