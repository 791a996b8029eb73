#include "src/mujoco/step_gradient.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/mujoco/step_derivative.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

// Zeros in what the call writes, of the environments that are unsolved.
void clear_unsolved(const DerivativeJob& job) {
  const Impl& sim = *job.sim;
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
    job.report.margin[e] = 0;
    job.report.lost[e] = 1;
  }
}

void run(DerivativeJob& job, mjfBatchFunc function) {
  Impl& sim = *job.sim;
  sim.refuse_steps_without_derivatives();
  if (!job.state && sim.begin_states.empty())
    throw std::invalid_argument(
        "state: expected the state before a step, because none was made since the simulation was "
        "made or varied, got none");
  if (!job.state) job.state = sim.begin_states.data();
  job.points.resize(sim.passages.size());
  std::fill_n(job.report.status, sim.options.num_envs, GradientStatus::unsolved);
  sim.repeat_steps(function, &job);
  clear_unsolved(job);
}

}  // namespace

void Impl::refuse_steps_without_derivatives() {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
  if (options.mujoco_law)
    refuse("law: steps have derivatives with the laws of this library, not with mujoco");
  if (model->opt.integrator != mjINT_EULER && model->opt.integrator != mjINT_IMPLICITFAST)
    refuse("integrator: steps have derivatives with euler and implicitfast, not with " +
           std::string(model->opt.integrator == mjINT_RK4 ? "rk4" : "implicit"));
  if (options.contact.restitution > 0)
    refuse("restitution: steps have derivatives with 0, got " +
           std::to_string(options.contact.restitution));
  if (options.position_iterations > 0)
    refuse("position_iterations: steps have derivatives with 0, got " +
           std::to_string(options.position_iterations));
  if (gpu()) refuse("backend: steps have derivatives with cpu, not with cuda");
  if (mjb_persistent(batch.get()))
    refuse("model: steps of models with plugins have no derivatives");
  buffers->require_derivatives();
}

void Impl::repeat_steps(mjfBatchFunc function, void* arg) {
  const Timings before = timings;  // of steps alone
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  std::fill(misfit.begin(), misfit.end(), 0);
  std::vector<int> ids;
  do {
    pass(function, arg, false, ids);
    ids = indices_of(misfit);
    int rows = 0, contacts = 0;
    for (Passage& p : passages) {
      rows = std::max(rows, p.rows_needed);
      contacts = std::max(contacts, p.contacts_needed);
    }
    buffers->reserve(rows, contacts);
    std::fill(misfit.begin(), misfit.end(), 0);
  } while (!ids.empty());
  timings = before;
}

std::vector<std::string> BatchSim::differentiable_fields() { return field_names(); }

std::int64_t BatchSim::size_of_differentiable(const std::string& field) const {
  return find_field(field).size(impl_->model);
}

void BatchSim::step_vjp(const double* state, const NextState<const double>& loss,
                        const StepInputs<double>& gradient, const StepReport& report) {
  const auto turn = impl_->caller.enter();
  DerivativeJob job{impl_.get(), state, loss, gradient, {}, {}, report, {}};
  run(job, &vjp_environment);
}

void BatchSim::step_jvp(const double* state, const StepInputs<const double>& change,
                        const NextState<double>& result, const StepReport& report) {
  const auto turn = impl_->caller.enter();
  DerivativeJob job{impl_.get(), state, {}, {}, change, result, report, {}};
  run(job, &jvp_environment);
}

}  // namespace stickslip::mujoco
