#include "src/mujoco/contacts/begin_poses.hpp"

#include <algorithm>

#include "src/mujoco/contacts/mocap.hpp"

namespace stickslip::mujoco {
namespace {

// Calls f(numbers, count) for the positions and what mj_kinematics computes.
template <class F>
void each_pose(const mjModel* m, mjData* d, F f) {
  f(d->qpos, m->nq);
  for (mjtNum* of_bodies : {d->xpos, d->xipos}) f(of_bodies, 3 * m->nbody);
  f(d->xquat, 4 * m->nbody);
  for (mjtNum* of_bodies : {d->xmat, d->ximat}) f(of_bodies, 9 * m->nbody);
  for (mjtNum* of_joints : {d->xanchor, d->xaxis}) f(of_joints, 3 * m->njnt);
  f(d->geom_xpos, 3 * m->ngeom);
  f(d->geom_xmat, 9 * m->ngeom);
  f(d->site_xpos, 3 * m->nsite);
  f(d->site_xmat, 9 * m->nsite);
#if mjVERSION_HEADER >= 4000000
  f(d->xiquat, 4 * m->nbody);
  f(d->geom_xquat, 4 * m->ngeom);
  f(d->site_xquat, 4 * m->nsite);
#endif
}

}  // namespace

void BeginPoses::keep(const mjModel* m, mjData* d) {
  std::size_t size = 0;
  each_pose(m, d, [&](const mjtNum* numbers, std::size_t count) {
    if (numbers == d->geom_xpos) geom_xpos_ = size;
    if (numbers == d->geom_xmat) geom_xmat_ = size;
    size += count;
  });
  numbers_.resize(size);
  mjtNum* to = numbers_.data();
  each_pose(m, d, [&](const mjtNum* numbers, std::size_t count) {
    to = std::copy_n(numbers, count, to);
  });
}

void BeginPoses::restore(const mjModel* m, mjData* d) const {
  const mjtNum* from = numbers_.data();
  each_pose(m, d, [&](mjtNum* numbers, std::size_t count) {
    std::copy_n(from, count, numbers);
    from += count;
  });
  return_mocap(m, d);
}

void go_to_end_of_step(const mjModel* m, mjData* d, const BeginPoses& begin, const mjtNum* v) {
  mju_copy(d->qpos, begin.qpos(), int(m->nq));
  mj_integratePos(m, d->qpos, v, m->opt.timestep);
  advance_mocap(m, d);
  mj_kinematics(m, d);
}

}  // namespace stickslip::mujoco
