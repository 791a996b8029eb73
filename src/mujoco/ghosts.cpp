#include "src/mujoco/ghosts.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {
namespace {

constexpr int kLeastSamples = 4, kMostSamples = 1024;
constexpr double kDeeper = 1e-5;   // m; less is rounding, or rest
constexpr double kSameSide = 0.5;  // cosine

// Motion of a geom during the step.
struct Way {
  double from[3], by[3];    // of its centre, m
  double quat[4], turn[3];  // initial orientation, and the rotation vector of its turn
};

Way way_of(const mjData* d, const GeomPoses& start, int geom) {
  Way way;
  mju_copy3(way.from, start.xpos.data() + 3 * geom);
  mju_sub3(way.by, d->geom_xpos + 3 * geom, way.from);
  double end[4], inverse[4], difference[4];
  mju_mat2Quat(way.quat, start.xmat.data() + 9 * geom);
  mju_mat2Quat(end, d->geom_xmat + 9 * geom);
  mju_negQuat(inverse, way.quat);
  mju_mulQuat(difference, inverse, end);
  mju_quat2Vel(way.turn, difference, 1.0);
  return way;
}

void go_to(mjData* d, int geom, const Way& way, double share) {
  mju_addScl3(d->geom_xpos + 3 * geom, way.from, way.by, share);
  double quat[4];
  mju_copy4(quat, way.quat);
  mju_quatIntegrate(quat, way.turn, share);
  mju_quat2Mat(d->geom_xmat + 9 * geom, quat);
}

void put_back(mjData* d, int geom, const GeomPoses& start) {
  mju_copy3(d->geom_xpos + 3 * geom, start.xpos.data() + 3 * geom);
  mju_copy(d->geom_xmat + 9 * geom, start.xmat.data() + 9 * geom, 9);
}

double thinnest(const mjModel* m, int geom) {
  const double* half = m->geom_aabb + 6 * geom + 3;
  return std::min({half[0], half[1], half[2]});
}

// Samples are at most half as far apart as the overlap when one geom passes through the other.
int samples(const mjModel* m, const GeomPair& pair, const Way& a, const Way& b) {
  double relative[3];
  mju_sub3(relative, b.by, a.by);
  const double overlap = thinnest(m, pair.geom[0]) + thinnest(m, pair.geom[1]);
  const double wanted = std::ceil(mju_norm3(relative) / std::max(1e-6, 0.5 * overlap));
  return int(std::clamp(wanted, double(kLeastSamples), double(kMostSamples)));
}

void look(const mjModel* m, mjData* d, GeomPair& pair, const Way& a, const Way& b) {
  const int ga = pair.geom[0], gb = pair.geom[1];
  const auto collide = mjCOLLISIONFUNC[m->geom_type[ga]][m->geom_type[gb]];
  mjPreContact found[mjMAXCONPAIR];
  for (int count = samples(m, pair, a, b), k = 1; k <= count && !pair.touches; ++k) {
    const double share = double(k) / count;
    go_to(d, ga, a, share);
    go_to(d, gb, b, share);
    const int num_found = collide(m, d, found, ga, gb, pair.margin);
    for (int f = 0; f < num_found; ++f) {
      if (found[f].dist - pair.margin >= pair.least_gap - kDeeper) continue;
      pair.touches = true;
      if (pair.num_normals < 4) mju_copy3(pair.normals[pair.num_normals++], found[f].normal);
    }
  }
}

}  // namespace

bool agrees(const GeomPair& pair, const double* normal) {
  for (int k = 0; k < pair.num_normals; ++k)
    if (mju_dot3(pair.normals[k], normal) > kSameSide) return true;
  return false;
}

void trace_pairs(const mjModel* m, mjData* d, const double* v, std::vector<GeomPair>& pairs,
                 GeomPoses& start) {
  start.xpos.assign(d->geom_xpos, d->geom_xpos + 3 * m->ngeom);
  start.xmat.assign(d->geom_xmat, d->geom_xmat + 9 * m->ngeom);
  mj_markStack(d);
  mjtNum* q = mj_stackAllocNum(d, m->nq);
  mju_copy(q, d->qpos, int(m->nq));
  mj_integratePos(m, d->qpos, v, m->opt.timestep);
  mj_kinematics(m, d);
  const std::size_t bytes = 2 * pairs.size() * sizeof(Way);
  Way* ways = static_cast<Way*>(mj_stackAllocByte(d, bytes, alignof(Way)));
  for (std::size_t k = 0; k < pairs.size(); ++k)
    for (int side = 0; side < 2; ++side) ways[2 * k + side] = way_of(d, start, pairs[k].geom[side]);
  mju_copy(d->qpos, q, int(m->nq));
  mj_kinematics(m, d);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (pairs[k].touches) continue;
    look(m, d, pairs[k], ways[2 * k], ways[2 * k + 1]);
    for (const int geom : pairs[k].geom) put_back(d, geom, start);
  }
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
