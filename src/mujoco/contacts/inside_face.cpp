#include "src/mujoco/contacts/inside_face.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "src/mujoco/contacts/faces.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kSameFace = 1 - 1e-6;  // cosine
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How far a point on a face of a box is from the face's edges, m; negative beyond an edge, or if
// the normal is that of no face.
double from_edge(const mjModel* m, const mjData* d, int box, const double* normal,
                 const double* point) {
  const double *half = m->geom_size + 3 * box, *turn = d->geom_xmat + 9 * box;
  double from_centre[3], along[3], place[3];
  mju_sub3(from_centre, point, d->geom_xpos + 3 * box);
  mju_mulMatTVec3(along, turn, normal);
  mju_mulMatTVec3(place, turn, from_centre);
  for (int axis = 0; axis < 3; ++axis) {
    if (!(std::abs(along[axis]) > kSameFace)) continue;
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    return std::min(half[a] - std::abs(place[a]), half[b] - std::abs(place[b]));
  }
  return -kInfinity;
}

// The least width of the points' polygon across a normal, m: it is that across one of its edges. 0
// if they are fewer than three, or all one.
double least_width(std::span<const double* const> points, const double* normal) {
  double least = kInfinity;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      double edge[3], across[3];
      mju_sub3(edge, points[k], points[i]);
      mju_cross(across, edge, normal);
      if (!(mju_normalize3(across) > mjMINVAL)) continue;
      double low = kInfinity, high = -kInfinity;
      for (const double* point : points) {
        low = std::min(low, mju_dot3(point, across));
        high = std::max(high, mju_dot3(point, across));
      }
      least = std::min(least, high - low);
    }
  }
  return points.size() > 2 && least < kInfinity ? least : 0.0;
}

}  // namespace

bool is_inside_face(const mjModel* m, const mjData* d, int i, double away) {
  const mjContact& c = d->contact[i];
  away += 4 * growth(m, c.geom[0], c.geom[1]);  // what larger boxes share beside an edge, and more
  std::array<const double*, mjMAXCONPAIR> points;
  std::size_t count = 0;
  double middle[3] = {};
  for (int k = 0; k < d->ncon && count < points.size(); ++k) {
    const mjContact& other = d->contact[k];
    if (!same_pair(other, c) || !(mju_dot3(other.frame, c.frame) > kSameFace)) continue;
    points[count++] = other.pos;
    mju_addTo3(middle, other.pos);
  }
  mju_scl3(middle, middle, 1.0 / double(count));
  for (const int geom : c.geom)
    if (m->geom_type[geom] == mjGEOM_BOX && from_edge(m, d, geom, c.frame, middle) > away)
      return true;
  return least_width({points.data(), count}, c.frame) > 2 * away;
}

}  // namespace stickslip::mujoco
