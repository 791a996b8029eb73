#include "src/mujoco/contacts/broadphase.hpp"

#include <algorithm>
#include <tuple>

namespace stickslip::mujoco {
namespace {

constexpr std::size_t kMostPairs = 20000;

// As in MuJoCo: two bodies that are welded together, or to each other's parents, do not collide.
bool related(const mjModel* m, int a, int b) {
  const int weld_a = m->body_weldid[a], weld_b = m->body_weldid[b];
  if (weld_a == weld_b) return true;
  if (m->opt.disableflags & mjDSBL_FILTERPARENT) return false;
  if (weld_a == 0 || weld_b == 0) return false;
  return weld_a == m->body_weldid[m->body_parentid[weld_b]] ||
         weld_b == m->body_weldid[m->body_parentid[weld_a]];
}

bool excluded(const mjModel* m, int a, int b) {
  const int *begin = m->exclude_signature, *end = begin + m->nexclude;
  const int signature = (std::min(a, b) << 16) + std::max(a, b);
  return std::find(begin, end, signature) != end;
}

struct Bits {
  int type, affinity;
  bool any() const { return type || affinity; }
  bool meets(const Bits& other) const { return (type & other.affinity) || (other.type & affinity); }
};

Bits bits_of(const mjModel* m, int geom) {
  return {m->geom_contype[geom], m->geom_conaffinity[geom]};
}

Bits bits_of(const mjModel* m, const Part& part) {
  Bits all{};
  for (int g = part.first_geom; g < part.first_geom + part.num_geoms; ++g) {
    all.type |= m->geom_contype[g];
    all.affinity |= m->geom_conaffinity[g];
  }
  return all;
}

// By how much two parts or geoms may approach each other in the step, m, if they may meet; else
// negative. `margin`: the distance from which on they meet, m.
double way_to_meet(const mjModel* m, const Part& a, const GeomMotion& of_a, const Part& b,
                   const GeomMotion& of_b, bool apart, double margin) {
  const double h = m->opt.timestep, most = of_a.reach + of_b.reach + h * kSpareSpeed;
  double gap = one_way(a, of_a, b, of_b) - margin;
  if (gap > most) return -1;
  gap = std::max(gap, one_way(b, of_b, a, of_a) - margin);
  if (gap > most) return -1;
  const double way = apart ? most : std::min(most, approach(a, of_a, b, of_b, h));
  if (gap > way || a.plane || b.plane) return gap > way ? -1 : way;
  return distance_along_axes(of_a, of_b) - margin > way ? -1 : way;
}

// Whether the spheres around two geoms are within a distance, m. A plane has none.
bool spheres_meet(const mjModel* m, const mjData* d, int a, int b, double distance) {
  const double radius_a = m->geom_rbound[a], radius_b = m->geom_rbound[b];
  double offset[3];
  difference(offset, d->geom_xpos + 3 * a, d->geom_xpos + 3 * b);
  const double reach = radius_a + radius_b + distance;
  return dot(offset, offset) <= reach * reach || radius_a == 0 || radius_b == 0;
}

// Whether geoms or actuators adhere.
bool may_adhere(const mjModel* m) {
  const auto adheres = [](double force) { return force > 0; };
  const auto is_body = [](int type) { return type == mjTRN_BODY; };
  return std::any_of(m->geom_adhesion, m->geom_adhesion + m->ngeom, adheres) ||
         std::any_of(m->pair_adhesion, m->pair_adhesion + m->npair, adheres) ||
         std::any_of(m->actuator_trntype, m->actuator_trntype + m->nu, is_body);
}

// The distance at which contacts of two geoms, or of a pair of the model's list, are searched, m.
double distance_of(const mjModel* m, const NearPairs& found, int a, int b, int listed) {
  return margin_of(m, a, b, listed) + (found.sees_gaps ? gap_of(m, a, b, listed) : 0.0);
}

}  // namespace

double margin_of(const mjModel* m, int a, int b, int listed) {
  return listed >= 0 ? m->pair_margin[listed] : m->geom_margin[a] + m->geom_margin[b];
}

double gap_of(const mjModel* m, int a, int b, int listed) {
  return listed >= 0 ? m->pair_gap[listed] : m->geom_gap[a] + m->geom_gap[b];
}

Broadphase::Broadphase(const mjModel* m) {
  list_parts(m);
  list_pairs(m);
}

void Broadphase::list_parts(const mjModel* m) {
  const std::vector<bool> meets = meeting_geoms(m);
  const auto has_bits = [&](int g) { return bits_of(m, g).any(); };
  part_of_.assign(m->ngeom, -1);
  for (int g = 0; g < m->ngeom; ++g) geoms_.push_back(part_of_geom(m, g));
  for (int body = 0; body < m->nbody; ++body) {
    const int first = m->body_geomadr[body], end = first + m->body_geomnum[body];
    int with_bits = 0, shared = -1;
    for (int g = first; g < end; ++g) with_bits += has_bits(g) ? 1 : 0;
    for (int g = first; g < end; ++g) {
      if (!meets[g]) continue;
      // MuJoCo's box of a body does not cover geoms that only listed pairs name.
      const bool in_box = has_bits(g) && with_bits > 1 && can_move(m, body);
      part_of_[g] = in_box && shared >= 0 ? shared : int(parts_.size());
      if (part_of_[g] < int(parts_.size())) continue;
      parts_.push_back(in_box ? part_of_body(m, body) : geoms_[g]);
      if (in_box) shared = part_of_[g];
    }
  }
}

std::vector<Broadphase::Listed> Broadphase::list_model_pairs(const mjModel* m) const {
  std::vector<Listed> all;
  for (int k = 0; k < m->npair; ++k) {
    const auto [a, b] = std::minmax(part_of_[m->pair_geom1[k]], part_of_[m->pair_geom2[k]]);
    all.push_back({a, b, k});
  }
  const auto order = [](const Listed& p) { return std::tuple(p.a, p.b, p.number); };
  std::sort(all.begin(), all.end(),
            [&](const Listed& p, const Listed& q) { return order(p) < order(q); });
  return all;
}

void Broadphase::list_pairs(const mjModel* m) {
  std::vector<Bits> bits;
  for (const Part& part : parts_) bits.push_back(bits_of(m, part));
  listed_ = list_model_pairs(m);
  auto next = listed_.begin();
  for (int a = 0; a < int(parts_.size()); ++a)
    for (int b = a; b < int(parts_.size()); ++b) {
      const auto first = next;
      while (next != listed_.end() && next->a == a && next->b == b) ++next;
      const int body_a = parts_[a].body, body_b = parts_[b].body;
      if (!can_move(m, body_a) && !can_move(m, body_b)) continue;
      const bool by_bits =
          bits[a].meets(bits[b]) && !related(m, body_a, body_b) && !excluded(m, body_a, body_b);
      if (!by_bits && first == next) continue;
      const bool single = parts_[a].num_geoms == 1 && parts_[b].num_geoms == 1 && first == next;
      pairs_.push_back({a, b, by_bits, may_be_stopped(m, body_a, body_b), single,
                        int(first - listed_.begin()), int(next - first)});
      usable_ = pairs_.size() <= kMostPairs;
      if (!usable_) return pairs_.clear();
    }
}

void Broadphase::find_motions(const mjModel* m, const mjData* d, NearPairs& found) const {
  found.sees_gaps = may_adhere(m);
  found.of_part.resize(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) motion_of(m, d, parts_[i], found.of_part[i]);
}

// The largest distance at which contacts of two parts are searched, m.
inline double Broadphase::distance_of(const mjModel* m, const NearPairs& found,
                                      const Pair& pair) const {
  const GeomMotion &a = found.of_part[pair.a], &b = found.of_part[pair.b];
  double distance = a.margin + b.margin + (found.sees_gaps ? a.gap + b.gap : 0.0);
  for (int k = pair.listed; k < pair.listed + pair.num_listed; ++k)
    distance = std::max(distance, mujoco::distance_of(m, found, -1, -1, listed_[k].number));
  return distance;
}

// Finds which pairs of parts may meet, and by how much bodies of other mechanisms may push parts in
// the step. Returns the maximum.
double Broadphase::find_jolts(const mjModel* m, NearPairs& found) const {
  const GeomMotion* motion = found.of_part.data();
  const double least = least_margin(m);
  double most = 0;
  found.way.resize(pairs_.size());
  found.jolt.assign(parts_.size(), 0.0);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const GeomMotion &a = motion[pair.a], &b = motion[pair.b];
    const double margin = least + distance_of(m, found, pair);
    found.way[i] = far_apart(a, b, margin)
                       ? -1.0
                       : way_to_meet(m, parts_[pair.a], a, parts_[pair.b], b, pair.apart, margin);
    if (found.way[i] < 0 || !pair.apart) continue;
    found.jolt[pair.a] = std::max(found.jolt[pair.a], b.reach);
    found.jolt[pair.b] = std::max(found.jolt[pair.b], a.reach);
    most = std::max({most, a.reach, b.reach});
  }
  return most;
}

// Lists the geoms of part `a` that may come within `distance` of part b, m, by their spheres.
void Broadphase::list_near_geoms(const mjModel* m, const mjData* d, const NearPairs& found, int a,
                                 int b, double distance, std::vector<int>& geoms) const {
  const GeomMotion &own = found.of_part[a], &other = found.of_part[b];
  const double around = most_reach(m, own) + distance;
  const int first = parts_[a].first_geom, end = first + parts_[a].num_geoms;
  geoms.clear();
  for (int g = first; g < end; ++g) {
    if (!bits_of(m, g).any()) continue;
    const double *centre = d->geom_xpos + 3 * g, radius = m->geom_rbound[g] + around;
    double out = 0;
    for (int i = 0; i < 3; ++i)
      out = std::max(out, std::abs(centre[i] - other.centre[i]) - (radius + other.bound[i]));
    if (out == 0 || m->geom_rbound[g] == 0) geoms.push_back(g);  // a plane has no sphere
  }
}

// Adds the pairs of geoms of two parts that may meet, with `jolt` added to the distance, m.
void Broadphase::add_geoms(const mjModel* m, const mjData* d, NearPairs& found, const Pair& pair,
                           double jolt) const {
  const double least = least_margin(m);
  const auto motion = [&](int g) -> const GeomMotion& {
    if (parts_[part_of_[g]].num_geoms == 1) return found.of_part[part_of_[g]];
    if (!found.known[g]) motion_of(m, d, geoms_[g], found.of_geom[g]);
    found.known[g] = true;
    return found.of_geom[g];
  };
  const int parts = int(&pair - pairs_.data());
  const auto push = [&](int ga, int gb, int listed, double way) {
    if (m->geom_type[ga] > m->geom_type[gb]) std::swap(ga, gb);  // MuJoCo's order
    found.pairs.push_back({{ga, gb}, parts, listed, way + least + jolt, jolt});
  };
  if (pair.single && jolt == 0)  // found.way is that of the geoms
    return push(parts_[pair.a].first_geom, parts_[pair.b].first_geom, -1, found.way[parts]);
  const auto add = [&](int ga, int gb, int listed) {
    const GeomMotion &of_a = motion(ga), &of_b = motion(gb);
    const double all = mujoco::distance_of(m, found, ga, gb, listed) + least + jolt;
    if (far_apart(of_a, of_b, all)) return;
    const double way = way_to_meet(m, geoms_[ga], of_a, geoms_[gb], of_b, pair.apart, all);
    if (way >= 0) push(ga, gb, listed, way);
  };
  const auto begin = listed_.begin() + pair.listed, end = begin + pair.num_listed;
  const auto is_listed = [&](int ga, int gb) {
    return std::any_of(begin, end, [&](const Listed& p) {
      return std::minmax(m->pair_geom1[p.number], m->pair_geom2[p.number]) == std::minmax(ga, gb);
    });
  };
  if (pair.by_bits) {
    const double distance = distance_of(m, found, pair) + least + jolt;
    list_near_geoms(m, d, found, pair.a, pair.b, distance, found.geoms_a);
    list_near_geoms(m, d, found, pair.b, pair.a, distance, found.geoms_b);
    const double ways = most_reach(m, found.of_part[pair.a]) + most_reach(m, found.of_part[pair.b]);
    for (const int ga : found.geoms_a)
      for (const int gb : found.geoms_b)
        if (spheres_meet(m, d, ga, gb, distance + ways) && bits_of(m, ga).meets(bits_of(m, gb)) &&
            !is_listed(ga, gb))
          add(ga, gb, -1);
  }
  for (auto p = begin; p != end; ++p)
    add(m->pair_geom1[p->number], m->pair_geom2[p->number], p->number);
}

void Broadphase::find_pairs(const mjModel* m, const mjData* d, NearPairs& found) const {
  found.pairs.clear();
  found.of_geom.resize(geoms_.size());
  found.known.assign(geoms_.size(), false);
  const double most_jolt = find_jolts(m, found), least = least_margin(m);
  const bool pushed = most_jolt > m->opt.timestep * kSpareSpeed;
  const GeomMotion* motion = found.of_part.data();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const double jolt = pushed ? found.jolt[pair.a] + found.jolt[pair.b] : 0.0;
    if (found.way[i] < 0 && (jolt == 0 || far_apart(motion[pair.a], motion[pair.b],
                                                    least + distance_of(m, found, pair) + jolt)))
      continue;
    add_geoms(m, d, found, pair, jolt);
  }
}

}  // namespace stickslip::mujoco
