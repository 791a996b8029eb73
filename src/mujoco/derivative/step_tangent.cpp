// step_jvp and step_transition of one environment. Nothing here has a destructor, because MuJoCo's
// errors jump over it.
#include <algorithm>

#include "src/mujoco/derivative/step_derivative.hpp"
#include "src/mujoco/derivative/tangent_space.hpp"

namespace stickslip::mujoco {
namespace {

void add_scaled(const std::vector<double>& x, double scale, std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += scale * x[i];
}

bool finite_changes(const DerivativeJob& job, const mjModel* m, int env) {
  const StepInputs<const double>& c = job.change;
  const auto good = [&](const double* values, std::int64_t size) {
    return finite(row_of(values, env, size), size);
  };
  return good(c.ctrl, m->nu) && good(c.qvel, m->nv) && good(c.qpos, m->nv) &&
         std::all_of(c.fields.begin(), c.fields.end(), [&](const FieldArray<const double>& f) {
           return good(f.values, find_field(f.field).size(m));
         });
}

// Adds dv⁺/dr dr to the change of the velocities at fixed impulses. Needs the step's state, with
// the integrator's matrix, in d.
void add_change_of_impulses(const StepContext& step, const StepPoint& point, SolveDerivative& solve,
                            Validity& validity) {
  if (point.keys.empty()) return;
  for (std::size_t i = 0; i < solve.hi.size(); ++i) solve.lo[i] = -solve.hi[i];
  GradientStatus status{};
  double kink_distance = 0, inconsistency = 0;
  ChangeBatch<double> change;
  change.b = {solve.rows.data(), 0};
  change.mu = {solve.mu.data(), 0};
  change.lo = {solve.lo.data(), 0};
  change.hi = {solve.hi.data(), 0};
  enter_solve(step, point, solve);
  step.buffers->jvp(step.slot, change,
                    {{solve.beta.data(), 0}, {}, {&status, &kink_distance, &inconsistency}, true});
  validity.note(status, kink_distance, inconsistency);
  solve.loss.assign(step.m->nv, 0.0);
  add_forces(step.d, point.scratch, solve.beta.data(), solve.loss.data());
  velocity_response(step, false, solve.loss.data());
  add_scaled(solve.loss, 1.0, solve.velocity);
}

void clear_forces(const StepContext& step, StepPoint& point) {
  point.forces.force.assign(step.m->nv, 0.0);
  point.forces.dv.assign(step.m->nv, 0.0);
}

void clear_changes(const StepContext& step, StepPoint& point) {
  const std::size_t size = step.buffers->problems().max_rows();
  point.for_solves([&](SolveDerivative& solve) {
    solve.velocity.assign(step.m->nv, 0.0);
    for (auto* values : {&solve.rows, &solve.beta, &solve.mu, &solve.lo, &solve.hi})
      values->assign(size, 0.0);
  });
  clear_forces(step, point);
}

// Adds `amount` times the latest `change`.
void add_change(StepPoint& point, double amount) {
  point.for_solves([&](SolveDerivative& solve) {
    add_scaled(solve.change.velocity, amount, solve.velocity);
    add_scaled(solve.change.rows, amount, solve.rows);
    add_scaled(solve.change.mu, amount, solve.mu);
    add_scaled(solve.change.hi, amount, solve.hi);
  });
}

// The next state, [nv] each, of the changes that were added, where the positions change by dq.
// Needs the point in d. False, with nothing written, if it is not finite.
bool change_state(const StepContext& step, StepPoint& point, const double* dq, double* to_qpos,
                  double* to_qvel, Validity& validity) {
  const int nv = int(step.m->nv);
  bool all_finite = true;
  point.for_solves([&](SolveDerivative& solve) {
    add_change_of_impulses(step, point, solve, validity);
    all_finite = all_finite && finite(solve.velocity.data(), nv);
  });
  if (!all_finite) return false;
  const SolveDerivative& mover = point.mover();
  move_positions(step.m, mover.base.velocity.data(), dq, mover.velocity.data(), to_qpos);
  mju_copy(to_qvel, point.velocities.velocity.data(), nv);
  return true;
}

// The column of an input in the matrices: that of the state (qpos, qvel), or of the controls.
int column_of(const mjModel* m, const Input& input) {
  const int nv = int(m->nv);
  return input.i + (input.kind == Input::qpos ? 0 : input.kind == Input::qvel ? nv : 2 * nv);
}

// Keeps how the values of the step change with each input: `columns`, whose velocities are empty
// where the forces tell it.
void difference_inputs(const DerivativeJob& job, StepContext& step, StepPoint& point,
                       Validity& validity) {
  point.columns.resize(2 * step.m->nv + step.m->nu);
  const auto keep = [&](double&, const Input& input, bool told) {
    auto& [of_velocities, of_positions] = point.columns[column_of(step.m, input)];
    of_velocities.velocity.clear();
    if (told) return;
    of_velocities = point.velocities.change;
    if (point.recovers) of_positions = point.positions.change;
  };
  for_inputs(
      step, point, job.gradient, validity, [] {}, keep);
}

}  // namespace

void transition_environment(const mjModel* m, mjData* d, int env, void* arg) {
  DerivativeJob& job = *static_cast<DerivativeJob*>(arg);
  StepContext& step = job.sim->enter(env, m, d);
  StepPoint& point = job.points[step.slot];
  Validity validity;
  if (!open_step(job, step, point, validity)) return;
  difference_inputs(job, step, point, validity);
  return_to_point(step, point);
  const int nv = int(m->nv), nu = int(m->nu);
  point.direction.resize(3 * nv);
  double *const dq = point.direction.data(), *const to = dq + nv;
  const auto write_column = [&](const Input& input) {
    clear_changes(step, point);
    const int column = column_of(m, input);
    auto& [of_velocities, of_positions] = point.columns[column];
    if (of_velocities.velocity.empty()) {
      add_force(step, point, input, 1.0);
      change_by_forces(step, point);
    } else {
      std::swap(point.velocities.change, of_velocities);
      if (point.recovers) std::swap(point.positions.change, of_positions);
    }
    add_change(point, 1.0);
    mju_zero(dq, nv);
    if (input.kind == Input::qpos) dq[input.i] = 1.0;
    if (!change_state(step, point, dq, to, to + nv, validity)) return false;
    for (int row = 0; row < 2 * nv; ++row) {
      if (input.kind == Input::ctrl)
        row_of(job.matrices.B, env, 2 * nv * nu)[row * nu + input.i] = to[row];
      else
        row_of(job.matrices.A, env, 4 * nv * nv)[2 * nv * row + column] = to[row];
    }
    return true;
  };
  bool good = true;
  for (int i = 0; i < nv && good; ++i) good = write_column({Input::qpos, i});
  for (int i = 0; i < nv && good; ++i) good = write_column({Input::qvel, i});
  for (int i = 0; i < nu && good; ++i) good = write_column({Input::ctrl, i});
  if (good) validity.write(job.report, env);
}

void jvp_environment(const mjModel* m, mjData* d, int env, void* arg) {
  DerivativeJob& job = *static_cast<DerivativeJob*>(arg);
  StepContext& step = job.sim->enter(env, m, d);
  StepPoint& point = job.points[step.slot];
  const int nv = int(m->nv);
  Validity validity;
  if (!finite_changes(job, m, env) || !open_step(job, step, point, validity)) return;
  clear_changes(step, point);
  for_inputs(
      step, point, job.change, validity, [&] { clear_forces(step, point); },
      [&](double amount, const Input& input, bool told) {
        told ? add_force(step, point, input, amount) : add_change(point, amount);
      });
  return_to_point(step, point);
  if (point.forces.exact) {
    change_by_forces(step, point);
    add_change(point, 1.0);
  }
  if (change_state(step, point, row_of(job.change.qpos, env, nv), row_of(job.result.qpos, env, nv),
                   row_of(job.result.qvel, env, nv), validity))
    validity.write(job.report, env);
}

}  // namespace stickslip::mujoco
