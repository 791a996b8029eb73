// step_vjp of one environment. Nothing here has a destructor, because MuJoCo's errors jump over it.
#include <algorithm>

#include "src/mujoco/derivative/step_derivative.hpp"
#include "src/mujoco/derivative/tangent_space.hpp"

namespace stickslip::mujoco {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// dL/d(problem) of dL/dv⁺, by the loss of the impulses (∂v⁺/∂r)ᵀ dL/dv⁺. Needs the step's state,
// with the integrator's matrix, in d.
void solve_adjoint(const StepContext& step, const StepPoint& point, SolveDerivative& solve,
                   Validity& validity) {
  const std::size_t size = step.buffers->problems().max_rows();
  for (auto* values : {&solve.rows, &solve.beta, &solve.mu, &solve.lo, &solve.hi})
    values->assign(size, 0.0);
  solve.redundant = 0;
  if (point.keys.empty()) return;
  solve.velocity = solve.loss;
  velocity_response(step, true, solve.velocity.data());
  for (std::size_t row = 0; row < point.keys.size(); ++row)
    solve.rows[row] = row_velocity(step.d, point.scratch.efc_of[row], solve.velocity.data());
  GradientStatus status{};
  double kink_distance = 0, inconsistency = 0;
  GradientBatch<double> to;
  to.b = {solve.beta.data(), 0};
  to.mu = {solve.mu.data(), 0};
  to.lo = {solve.lo.data(), 0};
  to.hi = {solve.hi.data(), 0};
  to.report = {&status, &kink_distance, &inconsistency, &solve.redundant};
  enter_solve(step, point, solve);
  step.buffers->vjp(step.slot, {{solve.rows.data(), 0}, {}}, to);
  validity.note(status, kink_distance, inconsistency);
  for (std::size_t i = 0; i < size; ++i) solve.hi[i] -= solve.lo[i];  // lo = -hi
}

// Rows that depend on each other may do so at this position only: where it moves, they cannot all
// keep their velocities, and the impulses jump. The loss does not show this, the change of the rows
// does.
bool keeps_rows_consistent(const StepContext& step, const StepPoint& point,
                           SolveDerivative& solve) {
  if (!solve.redundant) return true;
  GradientStatus status{};
  double kink_distance = 0, inconsistency = 0;
  std::copy(solve.change.rows.begin(), solve.change.rows.end(), solve.rows.begin());
  ChangeBatch<double> change;
  change.b = {solve.rows.data(), 0};
  enter_solve(step, point, solve);
  step.buffers->jvp(step.slot, change,
                    {{solve.lo.data(), 0}, {}, {&status, &kink_distance, &inconsistency}, true});
  return status != GradientStatus::not_unique;
}

void take_loss(const mjModel* m, const double* by_qpos, const double* by_qvel, StepPoint& point) {
  const int nv = int(m->nv);
  point.for_solves([&](SolveDerivative& solve) { solve.loss.assign(nv, 0.0); });
  if (by_qvel) mju_copy(point.velocities.loss.data(), by_qvel, nv);
  if (!by_qpos) return;
  SolveDerivative& mover = point.mover();
  add_velocity_part_transposed(m, mover.base.velocity.data(), by_qpos, mover.loss.data());
}

}  // namespace

void vjp_environment(const mjModel* m, mjData* d, int env, void* arg) {
  DerivativeJob& job = *static_cast<DerivativeJob*>(arg);
  StepContext& step = job.sim->enter(env, m, d);
  StepPoint& point = job.points[step.slot];
  const int nv = int(m->nv);
  const double* by_qpos = row_of(job.loss.qpos, env, nv);
  const double* by_qvel = row_of(job.loss.qvel, env, nv);
  Validity validity;
  if (!finite(by_qpos, nv) || !finite(by_qvel, nv)) return;
  if (!open_step(job, step, point, validity)) return;
  take_loss(m, by_qpos, by_qvel, point);
  point.for_solves([&](SolveDerivative& solve) { solve_adjoint(step, point, solve, validity); });
  if (validity.status == GradientStatus::unsolved) return;
  bool all_finite = true;
  const auto by_change = [&](Input::Kind kind) {
    double value = 0;
    point.for_solves([&](SolveDerivative& solve) {
      const StepValues& change = solve.change;
      value += dot(solve.loss, change.velocity) + dot(solve.beta, change.rows) +
               dot(solve.mu, change.mu) + dot(solve.hi, change.hi);
      if (kind == Input::qpos && validity.qpos_status < GradientStatus::not_unique &&
          !keeps_rows_consistent(step, point, solve))
        validity.qpos_status = GradientStatus::not_unique;
    });
    return value;
  };
  for_inputs(
      step, point, job.gradient, validity, [&] { pull_back_to_forces(step, point); },
      [&](double& value, const Input& input, bool told) {
        value = told ? pull_back_to_input(step, point, input) : by_change(input.kind);
        all_finite = all_finite && std::isfinite(value);
      });
  double* qpos = row_of(job.gradient.qpos, env, nv);
  if (qpos && by_qpos)
    add_position_part_transposed(m, point.mover().base.velocity.data(), by_qpos, qpos);
  if (all_finite) validity.write(job.report, env);
}

}  // namespace stickslip::mujoco
