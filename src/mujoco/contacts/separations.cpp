#include "src/mujoco/contacts/separations.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/convex_search.hpp"
#include "src/mujoco/contacts/hull.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kWait = 16;  // a pair in contact would be searched twice in every step

// Whether MuJoCo's search for convex shapes may be asked for them.
bool is_searched(const mjModel* m, const int* geom) {
  return uses_convex_search(m, geom[0], geom[1]) || are_boxes(m, geom[0], geom[1]);
}

// The distance from which MuJoCo may find contacts of the pair, m, with the errors of its search
// and of ours: in a mesh of floats, a vertex of a hull may have no neighbour that is farther,
// though another vertex is, by 1e-7 of the size.
double safe_distance(const mjModel* m, const NearPair& pair) {
  const auto& [a, b] = pair.geom;
  const double rounding = 1e-6 * (m->geom_rbound[a] + m->geom_rbound[b]);
  return margin_of(m, a, b, pair.listed) + gap_of(m, a, b, pair.listed) + pair.ahead +
         10 * m->opt.ccd_tolerance + rounding;
}

}  // namespace

Separations::Pose Separations::relative_pose(const mjData* d, const int* geom) {
  const double *A = d->geom_xmat + 9 * geom[0], *B = d->geom_xmat + 9 * geom[1];
  double offset[3];
  difference(offset, d->geom_xpos + 3 * geom[1], d->geom_xpos + 3 * geom[0]);
  Pose pose;
  mju_mulMatTVec3(pose.place, A, offset);
  mju_mulMatTMat(pose.axes, A, B, 3, 3, 3);
  return pose;
}

// By how much the geoms may have come nearer along the plane's normal n, m: where a point of the
// second one is in the frame of the first, y = R p + t, n · y has changed by n · Δt + p · ΔRᵀ n.
double Separations::approached(const mjModel* m, const Known& known, const Pose& now) {
  double shift[3], turn[3] = {};
  difference(shift, now.place, known.pose.place);
  for (int i = 0; i < 9; ++i)
    turn[i % 3] += (now.axes[i] - known.pose.axes[i]) * known.normal[i / 3];
  return norm(turn) * m->geom_rbound[known.geom[1]] - dot(known.normal, shift);
}

// The way from the farthest point of the first geom along the normal to the farthest one of the
// second against it, in the frame of the first. Along the normal, it is as long as the geoms are
// far apart in that direction.
void Separations::shortest_way(const mjModel* m, const Pose& pose, Known& known, double* offset) {
  double back[3], of_first[3], of_second[3];
  mju_mulMatTVec3(back, pose.axes, known.normal);
  mju_scl3(back, back, -1);
  farthest_point(m, known.geom[0], known.normal, known.vertex[0], of_first);
  farthest_point(m, known.geom[1], back, known.vertex[1], of_second);
  mju_mulMatVec3(offset, pose.axes, of_second);
  mju_addTo3(offset, pose.place);
  mju_subFrom3(offset, of_first);
}

// Whether the geoms are farther apart than `least` along a plane's normal: first along that of the
// last step. Each step of Gilbert's algorithm moves `near`, a way from the first geom to the
// second, towards the shortest way w along it, as far as that makes it shorter:
//
//     near <- near + γ (w - near),  γ = near · (near - w) / |near - w|²,  at most 1.
//
// The length of the shortest of all ways lies between near · w / |near| and |near|.
bool Separations::find_plane(const mjModel* m, const Pose& pose, double least, Known& known) {
  constexpr int kMostSteps = 16;
  constexpr double kGood = 0.5;  // of the excess over `least`: a plane worth stopping at once
  double near[3], offset[3], step[3];
  known.pose = pose;
  shortest_way(m, pose, known, near);
  known.distance = dot(known.normal, near);
  if (known.distance > least) return true;
  for (int k = 1; k < kMostSteps; ++k) {
    const double most = norm(near);
    if (!(most > std::max(0.0, least))) return false;
    mju_scl3(known.normal, near, 1 / most);
    shortest_way(m, pose, known, offset);
    known.distance = dot(known.normal, offset);
    const double enough = k == 1 ? kGood * (most - least) : 0.0;
    if (known.distance - least > enough) return true;
    difference(step, offset, near);
    const double square = dot(step, step);
    if (square > 0) mju_addToScl3(near, step, std::min(1.0, -dot(near, step) / square));
  }
  return false;
}

Separations::Known Separations::recall(const NearPair& pair, const Pose& pose) {
  while (at_ < known_.size() && known_[at_].parts < pair.parts) ++at_;
  for (std::size_t k = at_; k < known_.size() && known_[k].parts == pair.parts; ++k)
    if (std::equal(pair.geom, pair.geom + 2, known_[k].geom)) return known_[k];
  Known known{pair.parts, {pair.geom[0], pair.geom[1]}, 0, {-1, -1}, {}, -mjMAXVAL, pose};
  mju_copy3(known.normal, pose.place);
  mju_normalize3(known.normal);
  return known;
}

bool Separations::is_distant(const mjModel* m, const mjData* d, const NearPair& pair) {
  if (!is_searched(m, pair.geom)) return false;
  const Pose pose = relative_pose(d, pair.geom);
  Known known = recall(pair, pose);
  const double least = safe_distance(m, pair);
  bool distant = known.distance - approached(m, known, pose) > least;
  if (!distant && known.wait > 0) {
    --known.wait;
  } else if (!distant) {
    distant = find_plane(m, pose, least, known);
    if (!distant) known.wait = kWait;
  }
  next_.push_back(known);
  return distant;
}

void Separations::leave_out_distant(const mjModel* m, const mjData* d,
                                    std::vector<NearPair>& pairs) {
  at_ = 0;
  next_.clear();
  std::erase_if(pairs, [&](const NearPair& pair) { return is_distant(m, d, pair); });
  std::swap(known_, next_);
}

}  // namespace stickslip::mujoco
