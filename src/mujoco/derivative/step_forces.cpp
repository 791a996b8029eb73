// Nothing here has a destructor, because MuJoCo's errors jump over it.
#include "src/mujoco/derivative/step_forces.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/model/internals.hpp"
#include "src/mujoco/step/stages.hpp"

namespace stickslip::mujoco {
namespace {

// Central differences of a step are exact here, but for rounding, if the forces tell its
// derivative: bias forces are quadratic in the velocities, the others linear.
constexpr double kCheckStep = 1e-3;

// Whether A depends on this velocity: MuJoCo integrates free bodies without children by a matrix
// with the derivative of the gyroscopic force.
bool turns_free_body(const mjModel* m, const mjData* d, int dof) {
  mjtNum A[36];
  const int joint = m->dof_jntid[dof];
  return m->opt.integrator == mjINT_IMPLICITFAST && m->jnt_type[joint] == mjJNT_FREE &&
         dof >= m->jnt_dofadr[joint] + 3 && mjd_freeMhat(m, d, joint, m->opt.timestep, A, 0);
}

bool moves_freely(const mjModel* m, const StepPoint& point, int i) {
  return may_move(m, point, i, kCheckStep) && may_move(m, point, i, -kCheckStep);
}

// Whether two changes are equal but for rounding, `size` being that of the numbers that changed.
bool same(double a, double b, double size) {
  constexpr double kShare = 1e-9, kRounding = 1e-13;
  return std::abs(a - b) <= kShare * std::abs(a) + kRounding * std::max(1.0, std::abs(size));
}

// Calls f(dof, amount) for the forces that an input changes by `amount` per unit of it.
template <class F>
void for_force(const mjModel* m, const mjData* d, const SmoothForces& forces, const Input& input,
               F&& f) {
  const int nv = int(m->nv), i = input.i;
  if (input.kind == Input::qvel) {
    for (int k = 0; k < nv; ++k) f(k, forces.by_qvel[std::size_t(i) * nv + k]);
    return;
  }
  for (int k = d->moment_rowadr[i]; k < d->moment_rowadr[i] + d->moment_rownnz[i]; ++k)
    f(d->moment_colind[k], forces.by_ctrl[i] * d->actuator_moment[k]);
}

// force += the change of qfrc_smooth with `by` of an input; dv, the change of the velocities.
void add_force(const mjModel* m, const mjData* d, const SmoothForces& forces, const Input& input,
               double by, double* force, double* dv) {
  for_force(m, d, forces, input, [&](int k, double amount) { force[k] += by * amount; });
  if (input.kind == Input::qvel) dv[input.i] += by;
}

// by_ctrl, of the controls that move freely: all at once, because each has one actuator. Whether
// the forces are linear in them, and no joint or tendon limits what they add up to.
bool differentiate_actuators(const mjModel* m, mjData* d, StepPoint& point) {
  const int nu = int(m->nu), nv = int(m->nv);
  SmoothForces& forces = point.forces;
  std::vector<double>&ahead = forces.force, &behind = forces.dv, &sum = point.direction;
  ahead.assign(nu + nv, 0.0);
  behind.assign(nu + nv, 0.0);
  sum.assign(nv, 0.0);
  const auto add = [&](double scale, std::vector<double>& to) {
    mju_addToScl(to.data(), d->actuator_force, scale, nu);
    mju_addToScl(to.data() + nu, d->qfrc_actuator, scale, nv);
  };
  const auto move = [&](double by) {
    for (int i = 0; i < nu; ++i) d->ctrl[i] = point.ctrl[i] + (moves_freely(m, point, i) ? by : 0);
    mj_fwdActuation(m, d);
  };
  add(-1, ahead);
  add(1, behind);
  move(kCheckStep);
  add(1, ahead);
  move(-kCheckStep);
  add(-1, behind);
  move(0);
  bool linear = true;
  forces.by_ctrl.resize(nu);
  for (int i = 0; i < nu; ++i) {
    forces.by_ctrl[i] = ahead[i] / kCheckStep;
    add_force(m, d, forces, {Input::ctrl, i}, kCheckStep, sum.data(), nullptr);
    linear = linear && same(ahead[i], behind[i], d->actuator_force[i]);
  }
  for (int j = 0; j < nv; ++j) linear = linear && same(ahead[nu + j], sum[j], d->qfrc_actuator[j]);
  return linear;
}

// by_qvel: column by column.
void copy_derivative(const mjModel* m, mjData* d, StepPoint& point) {
  const int nv = int(m->nv);
  std::vector<double>& to = point.forces.by_qvel;
  to.assign(std::size_t(nv) * nv, 0.0);
  mjd_smooth_vel(m, d, 1);
  for (int row = 0; row < nv; ++row)
    for (int k = m->D_rowadr[row]; k < m->D_rowadr[row] + m->D_rownnz[row]; ++k)
      to[std::size_t(m->D_colind[k]) * nv + row] = d->qDeriv[k];
}

// The change of the values with a smooth force and the velocities before the step.
void change_values(const StepContext& step, StepPoint& point, const double* force, const double* dv,
                   StepValues& to) {
  const int nv = int(step.m->nv);
  const double h = step.m->opt.timestep;
  const bool impulses = step.sim->formulation.level == Level::velocity;
  to.velocity.assign(force, force + nv);
  solve_smooth_matrix(step.m, step.d, false, to.velocity.data());
  mju_scl(to.velocity.data(), to.velocity.data(), h, nv);
  mju_addTo(to.velocity.data(), dv, nv);
  double* acceleration = point.scratch.acceleration.data();
  if (!impulses) mj_solveM(step.m, step.d, acceleration, force, 1);
  to.rows.resize(point.keys.size());
  for (std::size_t row = 0; row < to.rows.size(); ++row) {
    const int i = point.scratch.efc_of[row];
    const double before = row_velocity(step.d, i, dv),
                 damped = step.d->efc_KBIP[4 * i + 1] * before;
    if (!impulses)
      to.rows[row] = row_velocity(step.d, i, acceleration) + damped;
    else if (point.keys[row].rigid)
      to.rows[row] = row_velocity(step.d, i, to.velocity.data());
    else
      to.rows[row] = row_velocity(step.d, i, to.velocity.data()) - before + h * damped;
  }
  to.mu.assign(point.velocities.base.mu.size(), 0.0);
  to.hi.assign(point.velocities.base.hi.size(), 0.0);
}

// Whether `change` times 2 kCheckStep is the difference of the two sides, but for rounding.
bool agrees(const std::vector<double>& plus, const std::vector<double>& minus,
            const std::vector<double>& change) {
  constexpr double kShare = 1e-9, kRounding = 1e-13;
  double most = 0, size = 1, off = 0;
  for (std::size_t k = 0; k < change.size(); ++k) {
    const double moved = plus[k] - minus[k];
    most = std::max(most, std::abs(moved));
    size = std::max(size, std::abs(plus[k]));
    off = std::max(off, std::abs(moved - 2 * kCheckStep * change[k]));
  }
  return off <= kShare * most + kRounding * size;
}

// A direction of the inputs that the forces may tell.
void choose_direction(const mjModel* m, const mjData* d, const StepPoint& point,
                      SmoothForces& forces) {
  const auto number = [](int i) { return 0.5 + (37 * i % 64) / 128.0; };
  forces.ctrl.assign(m->nu, 0.0);
  forces.qvel.assign(m->nv, 0.0);
  for (int i = 0; i < m->nu; ++i)
    if (moves_freely(m, point, i)) forces.ctrl[i] = number(i);
  for (int i = 0; i < m->nv; ++i)
    if (!turns_free_body(m, d, i)) forces.qvel[i] = i % 2 ? number(i) : -number(i);
}

bool values_there(const StepContext& step, StepPoint& point, double by, StepValues& values) {
  const SmoothForces& to = point.forces;
  for (int i = 0; i < step.m->nu; ++i) step.d->ctrl[i] = point.ctrl[i] + by * to.ctrl[i];
  for (int i = 0; i < step.m->nv; ++i) step.d->qvel[i] = point.qvel[i] + by * to.qvel[i];
  forward_velocities(step.m, step.d, step.sim->formulation.level, false);
  return evaluate(step, point.keys, point.velocities.known, point.scratch, values);
}

// The stages of MuJoCo that depend on velocities and controls, and the integrator's matrix, at the
// point.
bool enter_point(const StepContext& step, StepPoint& point) {
  forward_velocities(step.m, step.d, step.sim->formulation.level, false);
  SolveDerivative& solve = point.velocities;
  return evaluate(step, point.keys, solve.known, point.scratch, solve.base);
}

// Whether the derivatives of the forces tell that of the step in their direction, of which the
// sides are known.
bool forces_agree(const StepContext& step, StepPoint& point) {
  SmoothForces& forces = point.forces;
  SolveDerivative& solve = point.velocities;
  forces.force.assign(step.m->nv, 0.0);
  forces.dv.assign(step.m->nv, 0.0);
  const auto add = [&](Input::Kind kind, const std::vector<double>& direction) {
    for (int i = 0; i < int(direction.size()); ++i)
      add_force(step.m, step.d, forces, {kind, i}, direction[i], forces.force.data(),
                forces.dv.data());
  };
  add(Input::ctrl, forces.ctrl);
  add(Input::qvel, forces.qvel);
  change_values(step, point, forces.force.data(), forces.dv.data(), solve.change);
  return agrees(solve.plus.velocity, solve.minus.velocity, solve.change.velocity) &&
         agrees(solve.plus.rows, solve.minus.rows, solve.change.rows);
}

}  // namespace

void find_forces(StepContext& step, StepPoint& point) {
  SmoothForces& forces = point.forces;
  SolveDerivative& solve = point.velocities;
  if (step.m->nout != step.m->nu) return;
  choose_direction(step.m, step.d, point, forces);
  bool good = values_there(step, point, kCheckStep, solve.plus) &&
              values_there(step, point, -kCheckStep, solve.minus);
  mju_copy(step.d->qvel, point.qvel.data(), int(step.m->nv));
  mju_copy(step.d->ctrl, point.ctrl.data(), int(step.m->nu));
  forward_velocities(step.m, step.d, step.sim->formulation.level, false);
  good = differentiate_actuators(step.m, step.d, point) && good;
  copy_derivative(step.m, step.d, point);
  good = enter_point(step, point) && good;
  forces.exact = good && forces_agree(step, point);
}

bool forces_tell(const StepContext& step, const StepPoint& point, const Input& input) {
  if (!point.forces.exact) return false;
  return (input.kind == Input::ctrl && moves_freely(step.m, point, input.i)) ||
         (input.kind == Input::qvel && !turns_free_body(step.m, step.d, input.i) &&
          !step.contacts.friction_falls);
}

void add_force(const StepContext& step, StepPoint& point, const Input& input, double by) {
  SmoothForces& forces = point.forces;
  add_force(step.m, step.d, forces, input, by, forces.force.data(), forces.dv.data());
}

void change_by_forces(const StepContext& step, StepPoint& point) {
  SmoothForces& forces = point.forces;
  change_values(step, point, forces.force.data(), forces.dv.data(), point.velocities.change);
  if (point.recovers) point.positions.change = point.velocities.change;
}

// The transpose of change_values, in its order.
void pull_back_to_forces(const StepContext& step, StepPoint& point) {
  const int nv = int(step.m->nv);
  const double h = step.m->opt.timestep;
  const bool impulses = step.sim->formulation.level == Level::velocity;
  std::vector<double>&by_force = point.forces.force, &by_dv = point.forces.dv,
  &by_velocity = point.direction;
  by_velocity.assign(nv, 0.0);
  by_force.assign(nv, 0.0);
  by_dv.assign(nv, 0.0);
  point.for_solves([&](SolveDerivative& solve) {
    mju_addTo(by_velocity.data(), solve.loss.data(), nv);
    const auto add_rows = [&](const std::vector<double>& by_row, std::vector<double>& to) {
      add_forces(step.d, point.scratch, by_row.data(), to.data());
    };
    add_rows(solve.beta, impulses ? by_velocity : by_force);
    for (std::size_t row = 0; row < point.keys.size(); ++row) {
      const double damping = step.d->efc_KBIP[4 * point.scratch.efc_of[row] + 1];
      const double share = !impulses ? damping : point.keys[row].rigid ? 0 : h * damping - 1;
      solve.rows[row] = share * solve.beta[row];
    }
    add_rows(solve.rows, by_dv);
  });
  if (!impulses) mj_solveM(step.m, step.d, by_force.data(), by_force.data(), 1);
  mju_addTo(by_dv.data(), by_velocity.data(), nv);
  solve_smooth_matrix(step.m, step.d, true, by_velocity.data());
  mju_addToScl(by_force.data(), by_velocity.data(), h, nv);
}

double pull_back_to_input(const StepContext& step, const StepPoint& point, const Input& input) {
  const SmoothForces& forces = point.forces;
  double sum = input.kind == Input::qvel ? forces.dv[input.i] : 0.0;
  for_force(step.m, step.d, forces, input,
            [&](int k, double amount) { sum += amount * forces.force[k]; });
  return sum;
}

}  // namespace stickslip::mujoco
