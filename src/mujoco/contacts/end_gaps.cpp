#include "src/mujoco/contacts/end_gaps.hpp"

#include <algorithm>
#include <limits>

#include "src/mujoco/contacts/faces.hpp"
#include "src/mujoco/contacts/touching.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void carry(const mjData* d, StepContact& c) {
  for (int side = 0; side < 2; ++side) {
    const int geom = c.contact->geom[side];
    mju_mulMatVec3(c.carried[side], d->geom_xmat + 9 * geom, c.local[side]);
    mju_addTo3(c.carried[side], d->geom_xpos + 3 * geom);
  }
}

double distance(const StepContact& c, const mjPreContact& found) {
  double least = kInfinity;
  for (int side = 0; side < 2; ++side) {
    double point[3];
    surface_point(point, found.pos, found.normal, found.dist, side);
    least = std::min(least, mju_dist3(c.carried[side], point));
  }
  return least;
}

int nearest(const StepContact& c, const mjPreContact* found, int num_found) {
  int best = 0;
  for (int f = 1; f < num_found; ++f)
    if (distance(c, found[f]) < distance(c, found[best])) best = f;
  return best;
}

int nearest(const mjPreContact& found, const StepContact* contacts, int count) {
  int best = 0;
  for (int k = 1; k < count; ++k)
    if (distance(contacts[k], found) < distance(contacts[best], found)) best = k;
  return best;
}

// Margin of the model: the distance at which the gap is zero.
double margin_of(const StepContact& c) { return c.contact->dist - c.gap; }

// A contact matches the found one that is nearest to it, if it is also nearest to the found one.
void recognise(StepContact* contacts, int count, const mjPreContact* found, int num_found) {
  if (num_found == 0) return;
  for (int k = 0; k < count; ++k) {
    const int match = nearest(contacts[k], found, num_found);
    if (nearest(found[match], contacts, count) != k) continue;
    contacts[k].found = true;
    contacts[k].end_gap = found[match].dist - margin_of(contacts[k]);
  }
}

double measure_pair(const mjModel* m, mjData* d, StepContact* contacts, int count) {
  const mjContact& first = *contacts->contact;
  double reach = first.includemargin;  // no gap exceeds the distance of the carried points
  for (int k = 0; k < count; ++k) {
    contacts[k].found = false;
    carry(d, contacts[k]);
    reach = std::max(reach, mju_dist3(contacts[k].carried[0], contacts[k].carried[1]));
  }
  const int a = first.geom[0], b = first.geom[1];
  mjPreContact found[mjMAXCONPAIR];
  const int num_found = collide_geoms(m, d, a, b, reach, found);
  recognise(contacts, count, found, num_found);
  double least = kInfinity;
  for (int f = 0; f < num_found; ++f) least = std::min(least, found[f].dist - margin_of(*contacts));
  return least;
}

}  // namespace

void store_position(const mjData* d, StepContact& c) {
  for (int side = 0; side < 2; ++side) {
    const int geom = c.contact->geom[side];
    double arm[3];
    surface_point(arm, c.contact->pos, c.contact->frame, c.contact->dist, side);
    mju_subFrom3(arm, d->geom_xpos + 3 * geom);
    mju_mulMatTVec3(c.local[side], d->geom_xmat + 9 * geom, arm);
  }
}

double measure_end_gaps(const mjModel* m, mjData* d, StepContact* contacts, int count) {
  double least = kInfinity;
  for (int begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && same_pair(*contacts[begin].contact, *contacts[end].contact)) ++end;
    least = std::min(least, measure_pair(m, d, contacts + begin, end - begin));
  }
  return least;
}

}  // namespace stickslip::mujoco
