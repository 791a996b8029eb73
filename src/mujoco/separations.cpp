#include "src/mujoco/separations.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/hull.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kWait = 16;  // a pair in contact would be searched twice in every step

// Whether MuJoCo collides them by its search for convex shapes of any kind.
bool is_searched(const mjModel* m, const int* geom) {
  return mjCOLLISIONFUNC[m->geom_type[geom[0]]][m->geom_type[geom[1]]] ==
         mjCOLLISIONFUNC[mjGEOM_MESH][mjGEOM_MESH];
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
  double way[3];
  difference(way, d->geom_xpos + 3 * geom[1], d->geom_xpos + 3 * geom[0]);
  Pose pose;
  mju_mulMatTVec3(pose.place, A, way);
  mju_mulMatTMat(pose.axes, A, B, 3, 3, 3);
  return pose;
}

// By how much a point of the second geom may have moved in the frame of the first, m: with
// y = R p + t, |Δy| <= |Δt| + |ΔR| |p|, and |ΔR| is its Frobenius norm over √2.
double Separations::moved(const mjModel* m, const Pose& from, const Pose& to, int geom) {
  double shift[3], square = 0;
  difference(shift, to.place, from.place);
  for (int i = 0; i < 9; ++i) {
    const double turn = to.axes[i] - from.axes[i];
    square += turn * turn;
  }
  return norm(shift) + std::sqrt(0.5 * square) * m->geom_rbound[geom];
}

// The distance of the geoms along the normal, m: no more than their distance.
double Separations::distance_along(const mjModel* m, const Known& known) {
  double back[3];  // in the frame of the second
  mju_mulMatTVec3(back, known.pose.axes, known.normal);
  mju_scl3(back, back, -1);
  return dot(known.normal, known.pose.place) - reach_along(m, known.geom[0], known.normal) -
         reach_along(m, known.geom[1], back);
}

// Sets the normal along which the geoms are farthest apart. False: they overlap.
bool Separations::find_normal(const mjModel* m, mjData* d, Known& known) {
  double points[6], way[3];
  const double distance = mj_geomDistance(m, d, known.geom[0], known.geom[1], mjMAXVAL, points);
  difference(way, points + 3, points);
  const double length = norm(way);
  if (!(distance > 0) || !(length > 0)) return false;
  mju_mulMatTVec3(known.normal, d->geom_xmat + 9 * known.geom[0], way);
  mju_scl3(known.normal, known.normal, 1 / length);
  return true;
}

Separations::Known Separations::recall(const NearPair& pair) {
  while (at_ < known_.size() && known_[at_].parts < pair.parts) ++at_;
  for (std::size_t k = at_; k < known_.size() && known_[k].parts == pair.parts; ++k)
    if (std::equal(pair.geom, pair.geom + 2, known_[k].geom)) return known_[k];
  return {pair.parts, {pair.geom[0], pair.geom[1]}, 0, {}, -mjMAXVAL, {}};
}

bool Separations::is_distant(const mjModel* m, mjData* d, const NearPair& pair) {
  if (!is_searched(m, pair.geom)) return false;
  Known known = recall(pair);
  const double least = safe_distance(m, pair);
  const Pose pose = relative_pose(d, pair.geom);
  const auto separates = [&] {
    known.pose = pose;
    known.distance = distance_along(m, known);
    return known.distance > least;
  };
  const bool is_new = known.distance == -mjMAXVAL;
  bool distant = known.distance - moved(m, known.pose, pose, pair.geom[1]) > least;
  if (!distant && known.wait > 0) {
    --known.wait;
  } else if (!distant) {
    distant = (!is_new && separates()) || (find_normal(m, d, known) && separates());
    if (!distant) known.wait = kWait;
  }
  next_.push_back(known);
  return distant;
}

void Separations::leave_out_distant(const mjModel* m, mjData* d, std::vector<NearPair>& pairs) {
  at_ = 0;
  next_.clear();
  std::erase_if(pairs, [&](const NearPair& pair) { return is_distant(m, d, pair); });
  std::swap(known_, next_);
}

}  // namespace stickslip::mujoco
