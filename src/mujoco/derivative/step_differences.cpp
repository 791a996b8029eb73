// Nothing here has a destructor, because MuJoCo's errors jump over it.
#include "src/mujoco/derivative/step_differences.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/contacts/touching.hpp"
#include "src/mujoco/step/env_step.hpp"
#include "src/mujoco/step/stages.hpp"

namespace stickslip::mujoco {
namespace {

// Rounding is 1e-16 / step, truncation step² times a third derivative. Forces do not have one in
// ctrl, and hardly in qvel.
constexpr double kPositionStep = 1e-6, kOtherStep = 1e-5;

// The step from the point to one side; 0 where the input would leave its range.
double amount(const mjModel* m, const StepPoint& point, const Input& input, double sign) {
  if (input.kind == Input::qpos) return kPositionStep;
  if (input.kind == Input::qvel) return kOtherStep;
  if (input.kind == Input::field) {  // of numbers >= 0
    const double now = point.changed.value(*input.which, input.i);
    const double step = kPositionStep * std::max(now, 1e-3);
    return sign > 0 || now > step ? step : 0.0;
  }
  return may_move(m, point, input.i, sign * kOtherStep) ? kOtherStep : 0.0;
}

void enter_state(const mjModel* m, mjData* d, const StepPoint& point) {
  mj_setState(m, d, point.state, mjSTATE_INTEGRATION);
  begin_mocap(m, d, 0);
}

// The stages before the solver, with the rows that the problem has.
void forward_to_rows(StepContext& step) {
  forward_to_solver(step, false);
  if (step.sim->rigid()) act_on_surfaces(step.m, step.d, step.contacts);
}

// Moves an input by `by` from the point, and computes what depends on it. A field is changed in a
// model of its own, which the step has then.
void perturb(StepContext& step, StepPoint& point, const Input& input, double by) {
  if (input.kind == Input::ctrl) {
    step.d->ctrl[input.i] = point.ctrl[input.i] + by;
    mj_fwdActuation(step.m, step.d);
    smooth_forces(step.m, step.d, step.sim->formulation.level);
  } else if (input.kind == Input::qvel) {
    step.d->qvel[input.i] = point.qvel[input.i] + by;
    forward_velocities(step, false);
  } else if (input.kind == Input::qpos) {
    point.direction.assign(step.m->nv, 0.0);
    point.direction[input.i] = 1.0;
    mju_copy(step.d->qpos, point.qpos.data(), int(step.m->nq));
    mj_integratePos(step.m, step.d->qpos, point.direction.data(), by);
    forward_to_rows(step);
  } else {
    point.changed.set(*input.which, input.i, point.changed.value(*input.which, input.i) + by,
                      step.d);
    enter_state(step.m, step.d, point);
    step.m = point.changed.get();
    forward_to_rows(step);
  }
}

enum class Side { plus, minus };

StepValues& values_of(SolveDerivative& solve, Side side) {
  return side == Side::plus ? solve.plus : solve.minus;
}

// The values where `go_to` went.
bool values_there(const StepContext& step, StepPoint& point, const Input& input, Side side,
                  bool& same_rows) {
  const bool moved = input.kind == Input::qpos || input.kind == Input::field;
  if (moved && !find_rows(step.d, point.keys, point.scratch)) return false;
  bool good = true;
  point.for_solves([&](SolveDerivative& solve) {
    good = good && evaluate(step, point.keys, solve.known, point.scratch, values_of(solve, side));
  });
  if (good && input.kind == Input::qpos)
    same_rows &=
        point.left_out ==
        count_left_out(step, point.scratch, values_of(point.velocities, side).velocity.data());
  return good;
}

bool values_at(StepContext& step, StepPoint& point, const Input& input, double by, Side side,
               bool& same_rows) {
  const bool field = input.kind == Input::field;
  const double now = field ? point.changed.value(*input.which, input.i) : 0.0;
  const mjModel* const own = step.m;
  perturb(step, point, input, by);
  const bool good = values_there(step, point, input, side, same_rows);
  step.m = own;
  // Only now: the integrator's matrix, too, depends on masses, by the forces of a fluid.
  if (field) point.changed.set(*input.which, input.i, now, nullptr);
  return good;
}

void leave(const StepPoint& point, mjData* d, const Input& input) {
  if (input.kind == Input::ctrl) d->ctrl[input.i] = point.ctrl[input.i];
  if (input.kind == Input::qvel) d->qvel[input.i] = point.qvel[input.i];
  if (input.kind == Input::qpos) std::copy(point.qpos.begin(), point.qpos.end(), d->qpos);
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

bool subtract(SolveDerivative& solve, bool has_plus, bool has_minus, double span) {
  const StepValues& base = solve.base;
  const StepValues& plus = has_plus ? solve.plus : base;
  const StepValues& minus = has_minus ? solve.minus : base;
  StepValues& to = solve.change;
  const bool smooth = subtract(plus.velocity, base.velocity, minus.velocity, span, to.velocity) &
                      subtract(plus.rows, base.rows, minus.rows, span, to.rows);
  subtract(plus.mu, base.mu, minus.mu, span, to.mu);
  subtract(plus.hi, base.hi, minus.hi, span, to.hi);
  return smooth;
}

}  // namespace

bool may_move(const mjModel* m, const StepPoint& point, int i, double by) {
  const bool limited = m->actuator_ctrllimited[i] && !(m->opt.disableflags & mjDSBL_CLAMPCTRL);
  const double *range = m->actuator_ctrlrange + 2 * i, now = point.ctrl[i], there = now + by;
  return !limited || (std::min(now, there) >= range[0] && std::max(now, there) <= range[1]);
}

Smoothness difference(StepContext& step, StepPoint& point, const Input& input) {
  const double ahead = amount(step.m, point, input, 1), behind = amount(step.m, point, input, -1);
  bool same_rows = true;
  const auto has = [&](double by, Side side) {
    return by != 0 && values_at(step, point, input, by, side, same_rows);
  };
  const bool has_plus = has(ahead, Side::plus);
  const bool has_minus = has(-behind, Side::minus);
  leave(point, step.d, input);
  const double span = (has_plus ? ahead : 0) + (has_minus ? behind : 0);
  bool smooth = true;
  point.for_solves([&](SolveDerivative& solve) {
    smooth = subtract(solve, has_plus, has_minus, span > 0 ? span : 1.0) && smooth;
  });
  const bool lacks_rows = (ahead > 0 && !has_plus) || (behind > 0 && !has_minus);
  if (lacks_rows) return span > 0 ? Smoothness::kink : Smoothness::unknown;
  // A limit or contact that acts on one side only, as of a joint exactly at its limit.
  if (!same_rows) return Smoothness::kink;
  return smooth || !has_plus || !has_minus ? Smoothness::smooth : Smoothness::kink;
}

void take_point(const mjModel* m, const mjData* d, StepPoint& point) {
  point.ctrl.assign(d->ctrl, d->ctrl + m->nu);
  point.qvel.assign(d->qvel, d->qvel + m->nv);
  point.qpos.assign(d->qpos, d->qpos + m->nq);
}

void return_to_point(StepContext& step, StepPoint& point) {
  enter_state(step.m, step.d, point);
  forward_to_rows(step);
  find_rows(step.d, point.keys, point.scratch);
  evaluate(step, point.keys, point.velocities.known, point.scratch, point.velocities.base);
}

}  // namespace stickslip::mujoco
