#include "src/mujoco/look_ahead.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace stickslip::mujoco {
namespace {

using Part = LookAhead::Part;
using Motion = LookAhead::Motion;

constexpr double kSpareSpeed = 0.25;  // m/s that velocities may change by within a step
constexpr double kRounding = 1e-6;    // m
constexpr std::size_t kMostPairs = 20000;

// The loop over pairs costs as much as MuJoCo's own broadphase: with calls into another library for
// every sum of three numbers, three times that.
inline double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double norm(const double* a) { return std::sqrt(dot(a, a)); }
inline void difference(double* to, const double* a, const double* b) {
  for (int i = 0; i < 3; ++i) to[i] = a[i] - b[i];
}
inline void cross(double* to, const double* a, const double* b) {
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}

// A resting contact must not be lost when its gap is 0 + rounding, and gravity may close one.
double least_margin(const mjModel* m) {
  const double h = m->opt.timestep;
  return 4 * h * h * mju_norm3(m->opt.gravity) + kRounding;
}

bool can_move(const mjModel* m, int body) { return m->body_treeid[body] >= 0; }

// Velocity of the point of a body that is at `point` now. cvel belongs to the centre of mass of the
// body's tree.
void point_velocity(const mjModel* m, const mjData* d, int body, const double* point, double* v) {
  const double* twist = d->cvel + 6 * body;
  double arm[3], turned[3];
  difference(arm, point, d->subtree_com + 3 * m->body_rootid[body]);
  cross(turned, twist, arm);
  for (int i = 0; i < 3; ++i) v[i] = twist[3 + i] + turned[i];
}

// Of two bodies of different mechanisms that move together, a third may stop one within the step.
bool may_be_stopped(const mjModel* m, int a, int b) {
  return can_move(m, a) && can_move(m, b) && m->body_rootid[a] != m->body_rootid[b];
}

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

// Square of the distance from the point to the box, at `offset` from whose centre it is, and whose
// axes are the columns of R.
double square_to_box(const double* offset, const double* R, const double* half) {
  double square = 0;
  for (int i = 0; i < 3; ++i) {
    const double along = R[i] * offset[0] + R[3 + i] * offset[1] + R[6 + i] * offset[2];
    const double out = std::max(0.0, std::abs(along) - half[i]);
    square += out * out;
  }
  return square;
}

void motion_of(const mjModel* m, const mjData* d, const Part& part, Motion& motion) {
  const bool single = part.num_geoms == 1;
  const double* at = single ? d->geom_xpos + 3 * part.first_geom : d->xipos + 3 * part.body;
  motion.axes = single ? d->geom_xmat + 9 * part.first_geom : d->ximat + 9 * part.body;
  for (int i = 0; i < 3; ++i) motion.centre[i] = at[i] + dot(motion.axes + 3 * i, part.centre);
  motion.reach = 0;
  if (can_move(m, part.body)) {
    mju_copy3(motion.angular, d->cvel + 6 * part.body);
    point_velocity(m, d, part.body, motion.centre, motion.linear);
    const double turn = part.sphere || part.plane ? 0.0 : norm(motion.angular) * part.radius;
    motion.reach = m->opt.timestep * (norm(motion.linear) + turn);
  } else {
    for (int i = 0; i < 3; ++i) motion.angular[i] = motion.linear[i] = 0;
  }
  const double around = motion.reach + m->body_margin[part.body] +
                        (least_margin(m) + m->opt.timestep * kSpareSpeed) / 2;
  for (int i = 0; i < 3; ++i) {
    const double* row = motion.axes + 3 * i;
    motion.bound[i] = part.plane ? mjMAXVAL
                                 : std::abs(row[0]) * part.half[0] + std::abs(row[1]) * part.half[1] +
                                       std::abs(row[2]) * part.half[2] + around;
  }
}

// Whether the parts are too far apart to meet, however they move; cheap, for most are.
inline bool far_apart(const Motion& a, const Motion& b, double spare) {
  double out[3];  // no branch before the end: which axis it is that tells cannot be predicted
  for (int i = 0; i < 3; ++i)
    out[i] = std::abs(a.centre[i] - b.centre[i]) - (a.bound[i] + b.bound[i] + spare);
  return std::max(std::max(out[0], out[1]), out[2]) > 0;
}

// Distance from a's box to b's bounding sphere, m; if b is a plane, nothing is known.
inline double one_way(const Part& a, const Motion& of_a, const Part& b, const Motion& of_b) {
  double offset[3];
  difference(offset, of_b.centre, of_a.centre);
  if (a.plane) {
    const double normal[3] = {of_a.axes[2], of_a.axes[5], of_a.axes[8]};
    return dot(offset, normal) - b.radius;
  }
  return b.plane ? -mjMAXVAL : std::sqrt(square_to_box(offset, of_a.axes, a.half)) - b.radius;
}

inline double least_distance(const Part& a, const Motion& of_a, const Part& b, const Motion& of_b) {
  return std::max(one_way(a, of_a, b, of_b), one_way(b, of_b, a, of_a));
}

// The most by which two parts of one mechanism, or one of which is at rest, can approach each other
// in a step, m: as their velocities are at the centre of the smaller one. A sphere does not approach
// by turning.
double approach(const Part& a, const Motion& of_a, const Part& b, const Motion& of_b, double h) {
  if (!a.sphere && (b.sphere || b.radius < a.radius)) return approach(b, of_b, a, of_a, h);
  double arm[3], carried[3], slip[3], spin[3];
  difference(arm, of_a.centre, of_b.centre);
  cross(carried, of_b.angular, arm);
  for (int i = 0; i < 3; ++i) slip[i] = of_a.linear[i] - of_b.linear[i] - carried[i];
  difference(spin, of_a.angular, of_b.angular);
  const double turn = a.sphere ? 0.0 : norm(spin) * a.radius;
  return h * (norm(slip) + turn + kSpareSpeed);
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
    explicit_pairs.insert(
        std::minmax(part_of_[m->pair_geom1[k]], part_of_[m->pair_geom2[k]]));
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
    const double around = radius + spare + least + m->body_margin[part.body] +
                          m->body_margin[other.body];
    if (square > (around + move) * (around + move)) continue;
    difference(arm, at, motion.centre);
    cross(slip, motion.angular, arm);
    cross(moved, of_other.angular, of_arm);
    for (int i = 0; i < 3; ++i)
      slip[i] += motion.linear[i] - of_other.linear[i] - moved[i];
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
      margins.ahead[g] = std::max(margins.ahead[g], motion[i].reach +
                                                        (h * kSpareSpeed + least_margin(m)) / 2);
}

// MuJoCo looks at pairs of bodies that its bounding spheres do not tell apart; where our boxes do, it
// need not. It searches the list in ascending order, in which the pairs come, behind the model's own.
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
    margins.pair[k] = m->pair_margin[k] +
                      (margins.ahead[m->pair_geom1[k]] + margins.ahead[m->pair_geom2[k]]);
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

double gap_of(const mjModel* m, const mjContact& contact, const Margins& margins) {
  const auto ahead = [&](int side) {
    return contact.geom[side] >= 0 ? margins.ahead[contact.geom[side]]
                                   : margins.flex_ahead[contact.flex[side]];
  };
  const bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  const double widened = override ? margins.override_ahead : ahead(0) + ahead(1);
  return contact.dist - (contact.includemargin - widened);
}

namespace {

// By which the contact may close within the step, m/s, by what the velocities of its bodies are now.
double closing_speed(const mjModel* m, const mjData* d, const mjContact& c) {
  const int a = m->geom_bodyid[c.geom[0]], b = m->geom_bodyid[c.geom[1]];
  double of_a[3], of_b[3], relative[3];
  point_velocity(m, d, a, c.pos, of_a);
  point_velocity(m, d, b, c.pos, of_b);
  if (may_be_stopped(m, a, b)) return mju_norm3(of_a) + mju_norm3(of_b);
  mju_sub3(relative, of_b, of_a);
  return std::max(0.0, -mju_dot3(relative, c.frame)) + 0.5 * mju_norm3(relative);
}

// By how much bodies nearby may close it, m.
double pushed(const mjContact& c, const Margins& margins) {
  if (margins.jolt.empty()) return 0;
  return margins.jolt[(*margins.part_of)[c.geom[0]]] + margins.jolt[(*margins.part_of)[c.geom[1]]];
}

}  // namespace

void leave_out_far_contacts(const mjModel* m, mjData* d, const Margins& margins,
                            std::vector<double>& gaps) {
  const double h = m->opt.timestep, least = least_margin(m);
  gaps.resize(d->ncon);
  int kept = 0;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& c = d->contact[i];
    const double gap = gap_of(m, c, margins);
    bool near = gap < h + least || c.geom[0] < 0 || c.geom[1] < 0;  // at 1 m/s
    if (!near) near = gap < h * (closing_speed(m, d, c) + 1.0) + pushed(c, margins) + least;
    if (!near) continue;
    gaps[kept] = gap;
    if (kept != i) d->contact[kept] = c;
    ++kept;
  }
  d->ncon = kept;
  gaps.resize(kept);
}

}  // namespace stickslip::mujoco
