#include "src/mujoco/step/rk4.hpp"

#include <cmath>

namespace stickslip::mujoco {
namespace {

constexpr double kA[kRk4Stages] = {0.0, 0.5, 0.5, 1.0};
constexpr double kB[kRk4Stages] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};

// w <- dexp⁻¹(theta) w = w + ½ θ×w + c θ×(θ×w), c = 1/|θ|² - (1 + cos|θ|) / (2 |θ| sin|θ|), for a
// body's own axes (Iserles et al., Lie-group methods, Acta Numerica 2000, §4.2).
void carry_back(const double* theta, double* w) {
  const double angle = mju_norm3(theta);
  const double c = angle < 1e-4 ? 1.0 / 12.0 + angle * angle / 720.0
                                : 1.0 / (angle * angle) -
                                      (1.0 + std::cos(angle)) / (2.0 * angle * std::sin(angle));
  double once[3], twice[3];
  mju_cross(once, theta, w);
  mju_cross(twice, theta, once);
  mju_addToScl3(w, once, 0.5);
  mju_addToScl3(w, twice, c);
}

// The same for all joints with orientations; theta = h step.
void carry_back(const mjModel* m, const double* step, double h, double* velocity) {
  for (int j = 0; j < m->njnt; ++j) {
    if (m->jnt_type[j] != mjJNT_FREE && m->jnt_type[j] != mjJNT_BALL) continue;
    const int adr = m->jnt_dofadr[j] + (m->jnt_type[j] == mjJNT_FREE ? 3 : 0);
    double theta[3];
    mju_scl3(theta, step + adr, h);
    carry_back(theta, velocity + adr);
  }
}

}  // namespace

Rk4Memory::Rk4Memory(const mjModel* m, int num_envs)
    : state_(m->nq + m->nv + m->na),
      velocity_(m->nv),
      rate_(m->nv + m->na),
      stride_(state_ + kRk4Stages * (velocity_ + rate_) + 1),
      memory_(stride_ * num_envs) {}

Rk4Slot Rk4Memory::slot(int env) {
  Rk4Slot s;
  s.X0 = memory_.data() + stride_ * env;
  double* next = s.X0 + state_;
  for (int i = 0; i < kRk4Stages; ++i, next += velocity_) s.velocity[i] = next;
  for (int i = 0; i < kRk4Stages; ++i, next += rate_) s.rate[i] = next;
  s.time = next;
  return s;
}

void rk4_begin(const mjModel* m, const mjData* d, const Rk4Slot& slot) {
  mju_copy(slot.X0, d->qpos, int(m->nq));
  mju_copy(slot.X0 + m->nq, d->qvel, int(m->nv));
  mju_copy(slot.X0 + m->nq + m->nv, d->act, int(m->na));
  mju_copy(slot.velocity[0], d->qvel, int(m->nv));
  *slot.time = d->time;
}

void rk4_restore(const mjModel* m, mjData* d, const Rk4Slot& slot) {
  mju_copy(d->qpos, slot.X0, int(m->nq));
  mju_copy(d->qvel, slot.X0 + m->nq, int(m->nv));
  mju_copy(d->act, slot.X0 + m->nq + m->nv, int(m->na));
  d->time = *slot.time;
}

void rk4_record(const mjModel* m, const mjData* d, const Rk4Slot& slot, int i) {
  mju_copy(slot.rate[i], d->qacc, int(m->nv));
  mju_copy(slot.rate[i] + m->nv, d->act_dot, int(m->na));
}

void rk4_enter(const mjModel* m, mjData* d, const Rk4Slot& slot, int i) {
  const int nv = int(m->nv), na = int(m->na);
  const double h = m->opt.timestep;
  rk4_restore(m, d, slot);
  mju_addToScl(d->qvel, slot.rate[i - 1], kA[i] * h, nv);
  mju_addToScl(d->act, slot.rate[i - 1] + nv, kA[i] * h, na);
  mj_markStack(d);
  mjtNum* step = mj_stackAllocNum(d, nv);
  mju_scl(step, slot.velocity[i - 1], kA[i], nv);
  mj_integratePos(m, d->qpos, step, h);
  mju_copy(slot.velocity[i], d->qvel, nv);
  carry_back(m, step, h, slot.velocity[i]);
  mj_freeStack(d);
  d->time = *slot.time + kA[i] * h;
}

void rk4_advance(const mjModel* m, mjData* d, const Rk4Slot& slot) {
  const int nv = int(m->nv), na = int(m->na);
  mj_markStack(d);
  mjtNum* velocity = mj_stackAllocNum(d, nv);
  mjtNum* rate = mj_stackAllocNum(d, nv + na);
  mjtNum* last_qacc = mj_stackAllocNum(d, nv);
  mju_zero(velocity, nv);
  mju_zero(rate, nv + na);
  for (int i = 0; i < kRk4Stages; ++i) {
    mju_addToScl(velocity, slot.velocity[i], kB[i], nv);
    mju_addToScl(rate, slot.rate[i], kB[i], nv + na);
  }

  // MuJoCo's explicit Euler advances velocities, activations, histories, plugins and time; only the
  // positions differ from those of its semi-implicit step.
  mju_copy(last_qacc, d->qacc, nv);
  mju_copy(d->qacc, rate, nv);
  mju_copy(d->act_dot, rate + nv, na);
  rk4_restore(m, d, slot);
  mjModel explicit_euler = *m;  // shallow: the arrays belong to m
  explicit_euler.opt.disableflags |= mjDSBL_EULERDAMP;
  mj_Euler(&explicit_euler, d);
  mju_copy(d->qpos, slot.X0, int(m->nq));
  mj_integratePos(m, d->qpos, velocity, m->opt.timestep);

  mju_copy(d->qacc, last_qacc, nv);
  mju_copy(d->qacc_warmstart, last_qacc, nv);
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
