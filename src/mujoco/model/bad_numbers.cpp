#include "src/mujoco/model/bad_numbers.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {

// mju_isBad of each, without calls.
bool any_bad(const mjtNum* x, mjtSize n) {
  return std::any_of(x, x + n, [](mjtNum number) { return !(std::abs(number) <= mjMAXVAL); });
}

bool bad_state(const mjModel* m, const mjData* d) {
  return any_bad(d->qpos, m->nq) || any_bad(d->qvel, m->nv) || any_bad(d->act, m->na);
}

bool bad_inputs(const mjModel* m, const mjData* d) {
  return any_bad(d->ctrl, m->nu) || any_bad(d->mocap_pos, 3 * m->nmocap) ||
         any_bad(d->mocap_quat, 4 * m->nmocap) || mju_isBad(d->time);
}

bool bad_acceleration(const mjModel* m, const mjData* d) { return any_bad(d->qacc, m->nv); }

bool bad_acceleration_to(const mjModel* m, const mjData* d, const double* v_end) {
  for (int i = 0; i < m->nv; ++i)
    if (mju_isBad((v_end[i] - d->qvel[i]) / m->opt.timestep)) return true;
  return false;
}

}  // namespace stickslip::mujoco
