// step_jvp of one environment. Nothing here has a destructor, because MuJoCo's errors jump over it.
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

}  // namespace

void jvp_environment(const mjModel* m, mjData* d, int env, void* arg) {
  DerivativeJob& job = *static_cast<DerivativeJob*>(arg);
  StepContext& step = job.sim->enter(env, m, d);
  StepPoint& point = job.points[step.slot];
  const int nv = int(m->nv);
  Validity validity;
  if (!finite_changes(job, m, env) || !open_step(job, step, point, validity)) return;
  const std::size_t size = step.buffers->problems().max_rows();
  point.for_solves([&](SolveDerivative& solve) {
    solve.velocity.assign(nv, 0.0);
    for (auto* values : {&solve.rows, &solve.beta, &solve.mu, &solve.lo, &solve.hi})
      values->assign(size, 0.0);
  });
  const auto add_change = [&](double amount) {
    point.for_solves([&](SolveDerivative& solve) {
      add_scaled(solve.change.velocity, amount, solve.velocity);
      add_scaled(solve.change.rows, amount, solve.rows);
      add_scaled(solve.change.mu, amount, solve.mu);
      add_scaled(solve.change.hi, amount, solve.hi);
    });
  };
  for_inputs(
      step, point, job.change, validity,
      [&] {
        point.forces.force.assign(nv, 0.0);
        point.forces.dv.assign(nv, 0.0);
      },
      [&](double amount, const Input& input, bool told) {
        told ? add_force(step, point, input, amount) : add_change(amount);
      });
  return_to_point(step, point);
  if (point.forces.exact) {
    change_by_forces(step, point);
    add_change(1.0);
  }
  bool all_finite = true;
  point.for_solves([&](SolveDerivative& solve) {
    add_change_of_impulses(step, point, solve, validity);
    all_finite = all_finite && finite(solve.velocity.data(), nv);
  });
  if (!all_finite) return;
  const SolveDerivative& mover = point.mover();
  move_positions(m, mover.base.velocity.data(), row_of(job.change.qpos, env, nv),
                 mover.velocity.data(), row_of(job.result.qpos, env, nv));
  mju_copy(row_of(job.result.qvel, env, nv), point.velocities.velocity.data(), nv);
  validity.write(job.report, env);
}

}  // namespace stickslip::mujoco
