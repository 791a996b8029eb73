#include "src/mujoco/derivative/step_gradient.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/mujoco/derivative/step_derivative.hpp"

namespace stickslip::mujoco {
namespace {

// Zeros in what the call writes, of the environments that are unsolved.
void clear_unsolved(const DerivativeJob& job) {
  const SimBatch& sim = *job.sim;
  const int nu = int(sim.model->nu), nv = int(sim.model->nv);
  for (int e = 0; e < sim.options.num_envs; ++e) {
    if (job.report.status[e] != GradientStatus::unsolved) continue;
    const auto clear = [&](double* values, std::int64_t size) {
      if (values) std::fill_n(values + e * size, size, 0.0);
    };
    clear(job.gradient.ctrl, nu);
    for (double* values : {job.gradient.qvel, job.gradient.qpos, job.result.qvel, job.result.qpos})
      clear(values, nv);
    for (const FieldArray<double>& field : job.gradient.fields)
      clear(field.values, find_field(field.field).size(sim.model));
    job.report.qpos_status[e] = GradientStatus::unsolved;
    job.report.kink_distance[e] = 0;
    job.report.inconsistency[e] = 1;
  }
}

void refuse_steps_without_derivatives(SimBatch& sim) {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
  if (sim.options.mujoco_law)
    refuse("law: steps have derivatives with the laws of this library, not with mujoco");
  if (sim.model->opt.integrator != mjINT_EULER && sim.model->opt.integrator != mjINT_IMPLICITFAST)
    refuse("integrator: steps have derivatives with euler and implicitfast, not with " +
           std::string(sim.model->opt.integrator == mjINT_RK4 ? "rk4" : "implicit"));
  if (const double e = sim.contact_models.largest_restitution(); e > 0)
    refuse("restitution: steps have derivatives with 0 in all environments, got " +
           std::to_string(e));
  if (sim.options.position_iterations > 0)
    refuse("position_iterations: steps have derivatives with 0, got " +
           std::to_string(sim.options.position_iterations));
  if (sim.gpu()) refuse("backend: steps have derivatives with cpu, not with cuda");
  if (mjb_persistent(sim.batch.get()))
    refuse("model: steps of models with plugins have no derivatives");
  sim.buffers->require_derivatives();
}

void run(DerivativeJob& job, mjfBatchFunc function) {
  SimBatch& sim = *job.sim;
  refuse_steps_without_derivatives(sim);
  if (!job.state && sim.begin_states.empty())
    throw std::invalid_argument(
        "state: expected the state before a step, because none was made since the simulation was "
        "made or varied, got none");
  if (!job.state) job.state = sim.begin_states.data();
  job.points.resize(sim.contexts.size());
  std::fill_n(job.report.status, sim.options.num_envs, GradientStatus::unsolved);
  sim.repeat_steps(function, &job);
  clear_unsolved(job);
}

}  // namespace

void step_vjp(SimBatch& sim, const double* state, const NextState<const double>& loss,
              const StepInputs<double>& gradient, const StepReport& report) {
  DerivativeJob job{&sim, state, loss, gradient, {}, {}, {}, report, {}};
  run(job, &vjp_environment);
}

void step_jvp(SimBatch& sim, const double* state, const StepInputs<const double>& change,
              const NextState<double>& result, const StepReport& report) {
  DerivativeJob job{&sim, state, {}, {}, change, result, {}, report, {}};
  run(job, &jvp_environment);
}

void step_transition(SimBatch& sim, const double* state, const Transition& result,
                     const StepReport& report) {
  const mjModel& m = *sim.model;
  if (m.na > 0)
    throw std::invalid_argument("model: transitions are of models without activations, got na = " +
                                std::to_string(m.na));
  const std::size_t n = sim.options.num_envs;
  std::vector<double> ctrl(n * m.nu), qvel(n * m.nv), qpos(n * m.nv);  // only asked for
  const StepInputs<double> inputs{ctrl.data(), qvel.data(), qpos.data(), {}};
  std::fill_n(result.A, n * 4 * m.nv * m.nv, 0.0);
  std::fill_n(result.B, n * 2 * m.nv * m.nu, 0.0);
  DerivativeJob job{&sim, state, {}, inputs, {}, {}, result, report, {}};
  run(job, &transition_environment);
}

}  // namespace stickslip::mujoco
