// Nothing here has a destructor, because MuJoCo's errors jump over it.
#include "src/mujoco/step_differences.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/passage.hpp"
#include "src/mujoco/stages.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

// Differences of smooth values: rounding is 1e-16 / step, truncation step² times a third
// derivative, which forces do not have in ctrl and hardly in qvel.
constexpr double kPositionStep = 1e-6, kOtherStep = 1e-5;

// The step from the point to one side; 0 where ctrl would leave its range.
double amount(const mjModel* m, const StepPoint& point, Input input, int i, double sign) {
  if (input == Input::qpos) return kPositionStep;
  if (input == Input::qvel) return kOtherStep;
  const bool limited = m->actuator_ctrllimited[i] && !(m->opt.disableflags & mjDSBL_CLAMPCTRL);
  const double *range = m->actuator_ctrlrange + 2 * i, now = point.ctrl[i];
  const double there = now + sign * kOtherStep;
  const bool inside = std::min(now, there) >= range[0] && std::max(now, there) <= range[1];
  return limited && !inside ? 0.0 : kOtherStep;
}

void move(const mjModel* m, mjData* d, StepPoint& point, Input input, int i, double by) {
  if (input == Input::ctrl) {
    d->ctrl[i] = point.ctrl[i] + by;
  } else if (input == Input::qvel) {
    d->qvel[i] = point.qvel[i] + by;
  } else {
    point.direction.assign(m->nv, 0.0);
    point.direction[i] = 1.0;
    mju_copy(d->qpos, point.qpos.data(), int(m->nq));
    mj_integratePos(m, d->qpos, point.direction.data(), by);
  }
}

// MuJoCo's stages that depend on the input.
void forward(Impl& sim, const mjModel* m, mjData* d, Passage& p, Input input) {
  if (input == Input::qpos) return forward_to_solver(sim, m, d, p, false);
  if (input == Input::qvel) return forward_velocities(m, d, false);
  mj_fwdActuation(m, d);
  mj_fwdAcceleration(m, d);
}

// The values at `by` from the point.
bool values_at(Impl& sim, const mjModel* m, mjData* d, Passage& p, StepPoint& point, Input input,
               int i, double by, StepValues& values) {
  move(m, d, point, input, i, by);
  forward(sim, m, d, p, input);
  return (input != Input::qpos || find_rows(d, point.step, point.scratch)) &&
         evaluate(sim, m, d, p, point.step, point.scratch, values);
}

// change = (plus - minus) / span of one of the arrays. Whether it is smooth: a kink or a jump
// between the sides shows in the second difference.
bool subtract(const std::vector<double>& plus, const std::vector<double>& base,
              const std::vector<double>& minus, double span, std::vector<double>& change) {
  constexpr double kShare = 1e-2, kRounding = 1e-3;
  double first = 0, second = 0, size = 1;
  change.resize(base.size());
  for (std::size_t k = 0; k < base.size(); ++k) {
    change[k] = (plus[k] - minus[k]) / span;
    first = std::max(first, std::abs(plus[k] - minus[k]));
    second = std::max(second, std::abs(plus[k] - 2 * base[k] + minus[k]));
    size = std::max(size, std::abs(base[k]));
  }
  return second <= kShare * first + kRounding * span * size;
}

Smoothness subtract(StepPoint& point, const StepValues& plus, const StepValues& minus, double span,
                    bool central) {
  StepValues& to = point.change;
  const StepValues& base = point.base;
  bool smooth = subtract(plus.velocity, base.velocity, minus.velocity, span, to.velocity);
  smooth = subtract(plus.rows, base.rows, minus.rows, span, to.rows) && smooth;
  return smooth || !central ? Smoothness::smooth : Smoothness::kink;
}

}  // namespace

bool open_point(Impl& sim, const mjModel* m, mjData* d, const Passage& p, StepPoint& point) {
  point.ctrl.assign(d->ctrl, d->ctrl + m->nu);
  point.qvel.assign(d->qvel, d->qvel + m->nv);
  point.qpos.assign(d->qpos, d->qpos + m->nq);
  know_step(sim, d, p, point.step);
  const int* efc_of = sim.buffers->slot(p.slot).efc_of;
  point.scratch.efc_of.assign(efc_of, efc_of + sim.buffers->rows(p.slot));
  return evaluate(sim, m, d, p, point.step, point.scratch, point.base);
}

Smoothness difference(Impl& sim, const mjModel* m, mjData* d, Passage& p, StepPoint& point,
                      Input input, int i) {
  const double ahead = amount(m, point, input, i, 1), behind = amount(m, point, input, i, -1);
  const bool has_plus = ahead > 0 && values_at(sim, m, d, p, point, input, i, ahead, point.plus);
  const bool has_minus =
      behind > 0 && values_at(sim, m, d, p, point, input, i, -behind, point.minus);
  move(m, d, point, input, i, 0.0);
  const double span = (has_plus ? ahead : 0) + (has_minus ? behind : 0);
  const Smoothness found =
      subtract(point, has_plus ? point.plus : point.base, has_minus ? point.minus : point.base,
               span > 0 ? span : 1.0, has_plus && has_minus);
  const bool lacks_row = (ahead > 0 && !has_plus) || (behind > 0 && !has_minus);
  if (!lacks_row) return found;
  return span > 0 ? Smoothness::kink : Smoothness::unknown;
}

void return_to_point(Impl& sim, const mjModel* m, mjData* d, Passage& p, StepPoint& point) {
  mju_copy(d->ctrl, point.ctrl.data(), int(m->nu));
  mju_copy(d->qvel, point.qvel.data(), int(m->nv));
  mju_copy(d->qpos, point.qpos.data(), int(m->nq));
  forward_to_solver(sim, m, d, p, false);
  find_rows(d, point.step, point.scratch);
  evaluate(sim, m, d, p, point.step, point.scratch, point.base);
}

}  // namespace stickslip::mujoco
