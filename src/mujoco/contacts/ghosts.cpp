#include "src/mujoco/contacts/ghosts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/mujoco/contacts/faces.hpp"
#include "src/mujoco/contacts/overlap_normal.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kLeastSamples = 4, kMostSamples = 1024, kMostTests = 4096;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSameSide = 0.5;  // cosine

// GeomMotion of a geom during the step.
struct GeomPath {
  double from[3], by[3];    // of its centre, m
  double quat[4], turn[3];  // initial orientation, and the rotation vector of its turn
};

GeomPath path_of(const mjData* d, const BeginPoses& begin, int geom) {
  GeomPath path;
  mju_copy3(path.from, begin.geom_xpos(geom));
  mju_sub3(path.by, d->geom_xpos + 3 * geom, path.from);
  double end[4], inverse[4], difference[4];
  mju_mat2Quat(path.quat, begin.geom_xmat(geom));
  mju_mat2Quat(end, d->geom_xmat + 9 * geom);
  mju_negQuat(inverse, path.quat);
  mju_mulQuat(difference, inverse, end);
  mju_quat2Vel(path.turn, difference, 1.0);
  return path;
}

void move_geom(mjData* d, int geom, const GeomPath& path, double share) {
  mju_addScl3(d->geom_xpos + 3 * geom, path.from, path.by, share);
  double quat[4];
  mju_copy4(quat, path.quat);
  mju_quatIntegrate(quat, path.turn, share);
  mju_quat2Mat(d->geom_xmat + 9 * geom, quat);
}

void put_back(mjData* d, int geom, const BeginPoses& begin) {
  mju_copy3(d->geom_xpos + 3 * geom, begin.geom_xpos(geom));
  mju_copy(d->geom_xmat + 9 * geom, begin.geom_xmat(geom), 9);
}

bool is_smooth(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  return type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE || type == mjGEOM_ELLIPSOID;
}

// Whether a contact with a height field is closed at the end of the step, in whose pose d is, with
// nearly the normal that it had: its geoms would overlap there without its impulse.
bool is_closed_on_field(const mjModel* m, mjData* d, const mjContact& c, double margin) {
  constexpr double kSameNormal = 1 - 1e-3;  // cosine
  mjPreContact found[mjMAXCONPAIR];
  const int count = collide_geoms(m, d, c.geom[0], c.geom[1], margin + kDeeper, found);
  return std::any_of(found, found + count, [&](const mjPreContact& f) {
    return f.dist - margin <= kDeeper && mju_dot3(f.normal, c.frame) > kSameNormal;
  });
}

// Whether the contact is closed at the end of the step, in whose pose d is. If its geoms are smooth
// where they touch, the gap was linear enough there, and they would overlap without its impulse. An
// edge or a corner turns its normal as the other geom passes; a face does not.
bool is_closed_at_end(const mjModel* m, mjData* d, const BeginPoses& begin, const mjContact& c,
                      double margin) {
  constexpr double kSameNormal = 1 - 1e-12;  // cosine
  const int a = c.geom[0], b = c.geom[1];
  mjPreContact found[mjMAXCONPAIR];
  if (m->geom_type[a] == mjGEOM_HFIELD) return is_closed_on_field(m, d, c, margin);
  if (!is_smooth(m, a) && !is_smooth(m, b)) return false;
  const int other = is_smooth(m, a) ? b : a;
  const double near = margin + (is_smooth(m, other) ? kShallow : kDeeper);
  const auto collide = mjCOLLISIONFUNC[m->geom_type[a]][m->geom_type[b]];
  const int num_found = collide(m, d, found, a, b, near);
  double before[3], after[3];
  mju_mulMatTVec3(before, begin.geom_xmat(other), c.frame);
  for (int f = 0; f < num_found; ++f) {
    if (found[f].dist > near) continue;
    mju_mulMatTVec3(after, d->geom_xmat + 9 * other, found[f].normal);
    if (is_smooth(m, other) || mju_dot3(before, after) > kSameNormal) return true;
  }
  return false;
}

// Samples are at most half as far apart as the overlap when one geom passes through the other.
int samples(const mjModel* m, const GeomPair& pair, const GeomPath& a, const GeomPath& b) {
  double relative[3];
  mju_sub3(relative, b.by, a.by);
  const double overlap = thinnest(m, pair.geom[0]) + thinnest(m, pair.geom[1]);
  const double wanted = std::ceil(mju_norm3(relative) / std::max(1e-6, 0.5 * overlap));
  return int(std::clamp(wanted, double(kLeastSamples), double(kMostSamples)));
}

void sample_path(const mjModel* m, mjData* d, GeomPair& pair, const GeomPath& a,
                 const GeomPath& b) {
  const int ga = pair.geom[0], gb = pair.geom[1];
  const auto collide = mjCOLLISIONFUNC[m->geom_type[ga]][m->geom_type[gb]];
  mjPreContact found[mjMAXCONPAIR];
  pair.deepest = 0;
  for (int count = samples(m, pair, a, b), k = 1; k <= count; ++k) {
    const double share = double(k) / count;
    move_geom(d, ga, a, share);
    move_geom(d, gb, b, share);
    int num_found = collide(m, d, found, ga, gb, pair.margin);
    if (num_found > 0) correct_normal(m, d, ga, gb, pair.margin, found, num_found);
    const bool first = !pair.touches;
    for (int f = 0; f < num_found; ++f) {
      const double gap = found[f].dist - pair.margin;
      pair.deepest = std::min(pair.deepest, gap);
      if (!first || gap >= pair.least_gap - kDeeper) continue;
      pair.touches = pair.is_new = true;
      if (pair.num_normals < 4) mju_copy3(pair.normals[pair.num_normals++], found[f].normal);
    }
    const double approach = share * pair.approach;
    if (pair.touches && pair.deepest <= pair.gap + approach + most_excess(approach)) {
      pair.deepest = -kInfinity;
      return;
    }
  }
}

}  // namespace

bool agrees(const GeomPair& pair, const double* normal) {
  for (int k = 0; k < pair.num_normals; ++k)
    if (mju_dot3(pair.normals[k], normal) > kSameSide) return true;
  return false;
}

void drop_closed_contacts(const mjModel* m, mjData* d, const double* v,
                          const std::vector<double>& gap, std::vector<int>& contacts,
                          const BeginPoses& begin) {
  go_to_end_of_step(m, d, begin, v);
  int kept = 0;
  for (const int i : contacts) {
    const mjContact& c = d->contact[i];
    if (!is_closed_at_end(m, d, begin, c, c.dist - gap[i])) contacts[kept++] = i;
  }
  contacts.resize(kept);
  begin.restore(m, d);
}

void trace_pairs(const mjModel* m, mjData* d, const double* v, std::vector<GeomPair>& pairs,
                 const BeginPoses& begin) {
  go_to_end_of_step(m, d, begin, v);
  mj_markStack(d);
  const std::size_t bytes = 2 * pairs.size() * sizeof(GeomPath);
  GeomPath* paths = static_cast<GeomPath*>(mj_stackAllocByte(d, bytes, alignof(GeomPath)));
  for (std::size_t k = 0; k < pairs.size(); ++k)
    for (int side = 0; side < 2; ++side) {
      GeomPath& path = paths[2 * k + side] = path_of(d, begin, pairs[k].geom[side]);
      mju_addTo3(path.from, pairs[k].lift[side]);
    }
  begin.restore(m, d);
  int tests = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (pairs[k].touches) continue;
    tests += samples(m, pairs[k], paths[2 * k], paths[2 * k + 1]);
    pairs[k].touches = tests > kMostTests;  // at absurd speeds
    if (pairs[k].touches) continue;
    sample_path(m, d, pairs[k], paths[2 * k], paths[2 * k + 1]);
    for (const int geom : pairs[k].geom) put_back(d, geom, begin);
  }
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
