#include "src/mujoco/look_ahead.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace stickslip::mujoco {
namespace {

constexpr std::size_t kMostPairs = 20000;

// As MuJoCo's: two bodies that are welded together, or to each other's parents, do not collide.
bool related(const mjModel* m, int a, int b) {
  const int weld_a = m->body_weldid[a], weld_b = m->body_weldid[b];
  if (weld_a == weld_b) return true;
  if (m->opt.disableflags & mjDSBL_FILTERPARENT) return false;
  if (weld_a == 0 || weld_b == 0) return false;
  return weld_a == m->body_weldid[m->body_parentid[weld_b]] ||
         weld_b == m->body_weldid[m->body_parentid[weld_a]];
}

int signature_of(int a, int b) { return (std::min(a, b) << 16) + std::max(a, b); }

bool excluded(const mjModel* m, int a, int b) {
  return std::find(m->exclude_signature, m->exclude_signature + m->nexclude, signature_of(a, b)) !=
         m->exclude_signature + m->nexclude;
}

}  // namespace

LookAhead::LookAhead(const mjModel* m, double margin) : constant_(margin) {
  list_parts(m);
  if (margin < 0) list_pairs(m);
}

void LookAhead::list_parts(const mjModel* m) {
  part_of_.assign(m->ngeom, -1);
  for (int body = 0; body < m->nbody; ++body) {
    const int first = m->body_geomadr[body], end = first + m->body_geomnum[body];
    const int step = can_move(m, body) ? std::max(1, end - first) : 1;
    for (int g = first; g < end; g += step) {
      Part part{};
      part.body = body;
      part.first_geom = g;
      part.num_geoms = step;
      const bool single = step == 1;
      part.plane = single && m->geom_type[g] == mjGEOM_PLANE;
      part.sphere = single && m->geom_type[g] == mjGEOM_SPHERE;
      const mjtNum* box = single ? m->geom_aabb + 6 * g : m->bvh_aabb + 6 * m->body_bvhadr[body];
      if (!part.plane) mju_copy3(part.centre, box);  // a plane's box has no middle
      mju_copy3(part.half, box + 3);
      part.radius = part.sphere ? m->geom_rbound[g] : mju_norm3(part.half);
      std::fill_n(part_of_.begin() + g, step, int(parts_.size()));
      parts_.push_back(part);
    }
  }
}

void LookAhead::list_pairs(const mjModel* m) {
  std::set<std::pair<int, int>> explicit_pairs;
  for (int k = 0; k < m->npair; ++k)
    explicit_pairs.insert(std::minmax(part_of_[m->pair_geom1[k]], part_of_[m->pair_geom2[k]]));
  const auto bits = [&](const Part& part, const int* of_geom) {
    int all = 0;
    for (int g = part.first_geom; g < part.first_geom + part.num_geoms; ++g) all |= of_geom[g];
    return all;
  };
  const auto whole = [&](int part) {
    return parts_[part].num_geoms == m->body_geomnum[parts_[part].body];
  };
  std::vector<int> type, affinity;
  for (const Part& part : parts_) {
    type.push_back(bits(part, m->geom_contype));
    affinity.push_back(bits(part, m->geom_conaffinity));
  }
  for (int a = 0; a < int(parts_.size()); ++a)
    for (int b = a + 1; b < int(parts_.size()); ++b) {
      const int body_a = parts_[a].body, body_b = parts_[b].body;
      if (!can_move(m, body_a) && !can_move(m, body_b)) continue;
      const bool meet = ((type[a] & affinity[b]) || (type[b] & affinity[a])) &&
                        !related(m, body_a, body_b) && !excluded(m, body_a, body_b);
      if (!meet && !explicit_pairs.count({a, b})) continue;
      if (whole(a) && whole(b)) of_bodies_.push_back(int(pairs_.size()));
      pairs_.push_back({a, b, may_be_stopped(m, body_a, body_b)});
      if (pairs_.size() > kMostPairs) {
        too_many_pairs_ = true;
        of_bodies_.clear();
        return pairs_.clear();
      }
    }
}

double LookAhead::flex_reach(const mjModel* m, const mjData* d, int flex) const {
  double most = 0;
  const int first = m->flex_vertadr[flex], end = first + m->flex_vertnum[flex];
  for (int v = first; v < end; ++v) {
    double velocity[3];
    point_velocity(m, d, m->flex_vertbodyid[v], d->flexvert_xpos + 3 * v, velocity);
    most = std::max(most, mju_norm3(velocity));
  }
  // Vertices of an interpolated flex move with its nodes.
  for (int n = m->flex_nodeadr[flex]; n < m->flex_nodeadr[flex] + m->flex_nodenum[flex]; ++n)
    most = std::max(most, mju_norm3(d->cvel + 6 * m->flex_nodebodyid[n] + 3));
  return m->opt.timestep * (most + kSpareSpeed);
}

// Widens the margins of a part's geoms that may meet the other part: each by half of what it may
// approach that in the step, at most `move`. Of two geoms that meet, either's way is enough.
void LookAhead::widen_geoms(const mjModel* m, const mjData* d, Margins& margins, const Pair& pair,
                            int from, int to, double move, double spare) const {
  const double h = m->opt.timestep, least = least_margin(m);
  const Part &part = parts_[from], &other = parts_[to];
  const Motion &motion = margins.motion[from], &of_other = margins.motion[to];
  const auto widen = [&](int g, double by) {
    margins.ahead[g] = std::max(margins.ahead[g], (by + spare + least) / 2);
  };
  if (part.num_geoms == 1 || other.plane) {
    for (int g = part.first_geom; g < part.first_geom + part.num_geoms; ++g) widen(g, move);
    return;
  }
  double spin[3];
  difference(spin, motion.angular, of_other.angular);
  const double turning = norm(spin);
  for (int g = part.first_geom; g < part.first_geom + part.num_geoms; ++g) {
    if (!(m->geom_contype[g] | m->geom_conaffinity[g]) && m->npair == 0) continue;
    const double *at = d->geom_xpos + 3 * g, radius = m->geom_rbound[g];
    double arm[3], of_arm[3], slip[3], moved[3];
    difference(of_arm, at, of_other.centre);
    const double square = square_to_box(of_arm, of_other.axes, other.half);
    const double around =
        radius + spare + least + m->body_margin[part.body] + m->body_margin[other.body];
    if (square > (around + move) * (around + move)) continue;
    difference(arm, at, motion.centre);
    cross(slip, motion.angular, arm);
    cross(moved, of_other.angular, of_arm);
    for (int i = 0; i < 3; ++i) slip[i] += motion.linear[i] - of_other.linear[i] - moved[i];
    const double turn = m->geom_type[g] == mjGEOM_SPHERE ? 0.0 : turning * radius;
    const double by = pair.apart ? move : std::min(move, h * (norm(slip) + turn + kSpareSpeed));
    if (square <= (around + by) * (around + by)) widen(g, by);
  }
}

// Whether the pair may meet in the step, with `spare` metres more; then its margins are widened.
bool LookAhead::meet(const mjModel* m, const mjData* d, Margins& margins, const Pair& pair,
                     double spare) const {
  const Part &a = parts_[pair.a], &b = parts_[pair.b];
  const Motion &of_a = margins.motion[pair.a], &of_b = margins.motion[pair.b];
  const double h = m->opt.timestep;
  const double gap = least_distance(a, of_a, b, of_b) - spare - least_margin(m) -
                     m->body_margin[a.body] - m->body_margin[b.body];
  const double most = of_a.reach + of_b.reach + h * kSpareSpeed;
  if (gap > most) return false;
  const double move = pair.apart ? most : approach(a, of_a, b, of_b, h);
  if (gap > move) return false;
  widen_geoms(m, d, margins, pair, pair.a, pair.b, move, spare);
  widen_geoms(m, d, margins, pair, pair.b, pair.a, move, spare);
  return true;
}

void LookAhead::find_margins(const mjModel* m, const mjData* d, Margins& margins) const {
  const double h = m->opt.timestep;
  const std::size_t n = parts_.size();
  margins.motion.resize(n);
  margins.jolt.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) motion_of(m, d, parts_[i], margins.motion[i]);
  margins.near.resize(pairs_.size());
  const Motion* motion = margins.motion.data();
  double most_jolt = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const Motion &a = motion[pair.a], &b = motion[pair.b];
    margins.near[i] = !far_apart(a, b, 0) && meet(m, d, margins, pair, 0);
    if (!margins.near[i] || !pair.apart) continue;
    margins.jolt[pair.a] = std::max(margins.jolt[pair.a], b.reach);
    margins.jolt[pair.b] = std::max(margins.jolt[pair.b], a.reach);
    most_jolt = std::max({most_jolt, a.reach, b.reach});
  }
  if (most_jolt > h * kSpareSpeed)
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto [a, b, apart] = pairs_[i];
      const double jolt = margins.jolt[a] + margins.jolt[b];
      if (jolt > 0 && !far_apart(motion[a], motion[b], jolt))
        margins.near[i] |= meet(m, d, margins, pairs_[i], jolt);
    }
  // Too many pairs to look at, or geoms that meet flexes: by the speeds in the world.
  if (!too_many_pairs_ && m->nflex == 0) return;
  for (std::size_t i = 0; i < n; ++i)
    for (int g = parts_[i].first_geom; g < parts_[i].first_geom + parts_[i].num_geoms; ++g)
      margins.ahead[g] =
          std::max(margins.ahead[g], motion[i].reach + (h * kSpareSpeed + least_margin(m)) / 2);
}

// MuJoCo looks at pairs of bodies that its bounding spheres do not tell apart; where our boxes do,
// it need not. It searches the list in ascending order, in which the pairs come, behind the model's
// own.
void LookAhead::exclude_far_bodies(const mjModel* m, Margins& margins) const {
  margins.exclude.assign(m->exclude_signature, m->exclude_signature + m->nexclude);
  for (const int i : of_bodies_) {
    if (margins.near[i]) continue;
    const Part &a = parts_[pairs_[i].a], &b = parts_[pairs_[i].b];
    double offset[3];
    difference(offset, margins.motion[pairs_[i].a].centre, margins.motion[pairs_[i].b].centre);
    const double spheres = a.radius + b.radius + margins.body[a.body] + margins.body[b.body];
    if (dot(offset, offset) <= spheres * spheres)
      margins.exclude.push_back(signature_of(a.body, b.body));
  }
  std::inplace_merge(margins.exclude.begin(), margins.exclude.begin() + m->nexclude,
                     margins.exclude.end());
}

mjModel LookAhead::widen(const mjModel* m, const mjData* d, Margins& margins) const {
  const bool by_speed = constant_ < 0;
  margins.ahead.assign(m->ngeom, (by_speed ? least_margin(m) : constant_) / 2);
  if (by_speed) find_margins(m, d, margins);
  margins.part_of = &part_of_;
  margins.geom.resize(m->ngeom);
  margins.body.assign(m->body_margin, m->body_margin + m->nbody);
  double most = 0;
  for (int g = 0; g < m->ngeom; ++g) {
    const int body = m->geom_bodyid[g];
    const double ahead = margins.ahead[g];
    most = std::max(most, ahead);
    margins.geom[g] = m->geom_margin[g] + ahead;
    margins.body[body] = std::max(margins.body[body], m->body_margin[body] + ahead);
  }
  margins.pair.resize(m->npair);
  for (int k = 0; k < m->npair; ++k)
    margins.pair[k] =
        m->pair_margin[k] + (margins.ahead[m->pair_geom1[k]] + margins.ahead[m->pair_geom2[k]]);
  margins.flex.resize(m->nflex);
  margins.flex_ahead.resize(m->nflex);
  for (int f = 0; f < m->nflex; ++f) {
    margins.flex_ahead[f] = by_speed ? flex_reach(m, d, f) + least_margin(m) / 2 : constant_ / 2;
    margins.flex[f] = m->flex_margin[f] + margins.flex_ahead[f];
    most = std::max(most, margins.flex_ahead[f]);
  }
  margins.override_ahead = 2 * most;

  mjModel wide = *m;  // shallow: the other arrays are m's
  wide.geom_margin = margins.geom.data();
  wide.body_margin = margins.body.data();
  wide.pair_margin = margins.pair.data();
  wide.flex_margin = margins.flex.data();
  wide.opt.o_margin += margins.override_ahead;
  if (by_speed && m->nflex == 0) {
    exclude_far_bodies(m, margins);
    wide.exclude_signature = margins.exclude.data();
    wide.nexclude = int(margins.exclude.size());
  }
  return wide;
}

}  // namespace stickslip::mujoco
