#include "src/mujoco/look_ahead.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace stickslip::mujoco {
namespace {

constexpr double kSpareSpeed = 0.25;  // m/s that velocities may change by within a step
constexpr double kRounding = 1e-6;    // m
constexpr std::size_t kMostPairs = 20000;

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
  double arm[3];
  mju_sub3(arm, point, d->subtree_com + 3 * m->body_rootid[body]);
  mju_cross(v, twist, arm);
  mju_addTo3(v, twist + 3);
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

bool excluded(const mjModel* m, int a, int b) {
  const int signature = (std::min(a, b) << 16) + std::max(a, b);
  return std::find(m->exclude_signature, m->exclude_signature + m->nexclude, signature) !=
         m->exclude_signature + m->nexclude;
}

// Distance from the point to the box, whose centre is `centre` and whose axes are the columns of R.
double to_box(const double* point, const double* centre, const double* R, const double* half) {
  double offset[3], local[3], square = 0;
  mju_sub3(offset, point, centre);
  mju_mulMatTVec3(local, R, offset);
  for (int i = 0; i < 3; ++i) {
    const double out = std::max(0.0, std::abs(local[i]) - half[i]);
    square += out * out;
  }
  return std::sqrt(square);
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
      if (meet || explicit_pairs.count({a, b})) pairs_.push_back({a, b});
      if (pairs_.size() > kMostPairs) {
        too_many_pairs_ = true;
        return pairs_.clear();
      }
    }
}

Margins::Motion LookAhead::motion_of(const mjModel* m, const mjData* d, const Part& part) const {
  const bool single = part.num_geoms == 1;
  const double* at = single ? d->geom_xpos + 3 * part.first_geom : d->xipos + 3 * part.body;
  const double* R = single ? d->geom_xmat + 9 * part.first_geom : d->ximat + 9 * part.body;
  Margins::Motion motion{};
  mju_mulMatVec3(motion.centre, R, part.centre);
  mju_addTo3(motion.centre, at);
  if (!can_move(m, part.body)) return motion;
  mju_copy3(motion.angular, d->cvel + 6 * part.body);
  point_velocity(m, d, part.body, motion.centre, motion.linear);
  const double turn = part.sphere || part.plane ? 0.0 : mju_norm3(motion.angular) * part.radius;
  motion.reach = m->opt.timestep * (mju_norm3(motion.linear) + turn);
  return motion;
}

// The most by which two parts can approach each other in a step, m.
double LookAhead::approach(const mjModel* m, const Margins& margins, int a, int b) const {
  const double h = m->opt.timestep;
  if (may_be_stopped(m, parts_[a].body, parts_[b].body))
    return margins.motion[a].reach + margins.motion[b].reach + h * kSpareSpeed;
  // A sphere does not approach by turning; else seen from the smaller one.
  const bool swap = parts_[b].sphere ||
                    (!parts_[a].sphere && parts_[b].radius < parts_[a].radius);
  if (swap) std::swap(a, b);
  const auto &of_a = margins.motion[a], &of_b = margins.motion[b];
  double arm[3], carried[3], spin[3];
  mju_sub3(arm, of_a.centre, of_b.centre);
  mju_cross(carried, of_b.angular, arm);
  mju_addTo3(carried, of_b.linear);
  mju_sub3(spin, of_a.angular, of_b.angular);
  const double turn = parts_[a].sphere ? 0.0 : mju_norm3(spin) * parts_[a].radius;
  return h * (mju_dist3(of_a.linear, carried) + turn + kSpareSpeed);
}

// A lower bound on the distance of two parts, m.
double LookAhead::distance(const mjData* d, const Margins& margins, int a, int b) const {
  const auto one_way = [&](int from, int to) {
    const Part& box = parts_[from];
    const double *centre = margins.motion[from].centre, *point = margins.motion[to].centre;
    const bool single = box.num_geoms == 1;
    const double* R = single ? d->geom_xmat + 9 * box.first_geom : d->ximat + 9 * box.body;
    if (box.plane) {
      const double normal[3] = {R[2], R[5], R[8]};
      return mju_dot3(point, normal) - mju_dot3(centre, normal) - parts_[to].radius;
    }
    if (parts_[to].plane) return -mjMAXVAL;
    return to_box(point, centre, R, box.half) - parts_[to].radius;
  };
  return std::max(one_way(a, b), one_way(b, a));
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

// Whether two parts may come closer than `spare` more than the model's margins within the step.
bool LookAhead::near(const mjModel* m, const mjData* d, const Margins& margins, const Pair& pair,
                     double approach, double spare) const {
  const auto [a, b] = pair;
  const double margin =
      m->body_margin[parts_[a].body] + m->body_margin[parts_[b].body] + least_margin(m) + spare;
  if (!parts_[a].plane && !parts_[b].plane) {  // most pairs are far apart: tell them quickly
    const double far = parts_[a].radius + parts_[b].radius + margins.motion[a].reach +
                       margins.motion[b].reach + m->opt.timestep * kSpareSpeed + margin;
    double offset[3];
    mju_sub3(offset, margins.motion[a].centre, margins.motion[b].centre);
    if (mju_dot3(offset, offset) > far * far) return false;
  }
  return distance(d, margins, a, b) <= approach + margin;
}

void LookAhead::find_needs(const mjModel* m, const mjData* d, Margins& margins) const {
  const double h = m->opt.timestep, least = least_margin(m);
  margins.motion.resize(parts_.size());
  margins.need.assign(parts_.size(), least / 2);
  margins.jolt.assign(parts_.size(), 0.0);
  for (std::size_t i = 0; i < parts_.size(); ++i) margins.motion[i] = motion_of(m, d, parts_[i]);
  const auto meet = [&](const Pair& pair, double spare) {
    const double closer = approach(m, margins, pair.a, pair.b);
    if (!near(m, d, margins, pair, closer, spare)) return false;
    for (const int part : {pair.a, pair.b})
      margins.need[part] = std::max(margins.need[part], (closer + spare + least) / 2);
    return true;
  };
  double most_jolt = 0;
  for (const Pair& pair : pairs_) {
    if (!meet(pair, 0) || !may_be_stopped(m, parts_[pair.a].body, parts_[pair.b].body)) continue;
    const double reach_a = margins.motion[pair.a].reach, reach_b = margins.motion[pair.b].reach;
    margins.jolt[pair.a] = std::max(margins.jolt[pair.a], reach_b);
    margins.jolt[pair.b] = std::max(margins.jolt[pair.b], reach_a);
    most_jolt = std::max({most_jolt, reach_a, reach_b});
  }
  if (most_jolt > h * kSpareSpeed)
    for (const Pair& pair : pairs_)
      if (const double jolt = margins.jolt[pair.a] + margins.jolt[pair.b]; jolt > 0)
        meet(pair, jolt);
  // Too many pairs to look at, or geoms that meet flexes: by the speeds in the world.
  if (too_many_pairs_ || m->nflex > 0)
    for (std::size_t i = 0; i < parts_.size(); ++i)
      margins.need[i] =
          std::max(margins.need[i], margins.motion[i].reach + (h * kSpareSpeed + least) / 2);
}

mjModel LookAhead::widen(const mjModel* m, const mjData* d, Margins& margins) const {
  if (constant_ < 0)
    find_needs(m, d, margins);
  else
    margins.need.assign(parts_.size(), constant_ / 2);
  margins.part_of = &part_of_;
  margins.geom.resize(m->ngeom);
  margins.ahead.resize(m->ngeom);
  margins.body.assign(m->body_margin, m->body_margin + m->nbody);
  double most = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    most = std::max(most, margins.need[i]);
    margins.body[part.body] =
        std::max(margins.body[part.body], m->body_margin[part.body] + margins.need[i]);
    for (int g = part.first_geom; g < part.first_geom + part.num_geoms; ++g) {
      margins.ahead[g] = margins.need[i];
      margins.geom[g] = m->geom_margin[g] + margins.need[i];
    }
  }
  margins.pair.resize(m->npair);
  for (int k = 0; k < m->npair; ++k)
    margins.pair[k] = m->pair_margin[k] +
                      (margins.ahead[m->pair_geom1[k]] + margins.ahead[m->pair_geom2[k]]);
  margins.flex.resize(m->nflex);
  margins.flex_ahead.resize(m->nflex);
  for (int f = 0; f < m->nflex; ++f) {
    margins.flex_ahead[f] =
        constant_ < 0 ? flex_reach(m, d, f) + least_margin(m) / 2 : constant_ / 2;
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
}

}  // namespace stickslip::mujoco
