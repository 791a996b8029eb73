#include "src/mujoco/step_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "src/mujoco/passage.hpp"
#include "src/mujoco/step_differences.hpp"
#include "src/mujoco/tangent_space.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

// A call: step_vjp has a loss and writes the gradient, step_jvp has a change and writes the result.
struct Job {
  Impl* sim;
  const double* state;
  NextState<const double> loss;
  StepInputs<double> gradient;
  StepInputs<const double> change;
  NextState<double> result;
  StepReport report;
  std::vector<StepPoint> points;  // one for each slot
};

template <class T>
T* row_of(T* array, int env, std::int64_t size) {
  return array ? array + env * size : nullptr;
}

void write(const StepReport& to, int env, GradientStatus status, GradientStatus qpos_status,
           double margin, double lost) {
  to.status[env] = status;
  to.qpos_status[env] = qpos_status;
  to.margin[env] = margin;
  to.lost[env] = lost;
}

// The step up to its solution. False if it has no derivatives: it was not solved, or its positions
// recover penetration, with velocities of their own.
bool repeat_step(const Job& job, const mjModel* m, mjData* d, Passage& p, int env) {
  Impl& sim = *job.sim;
  const double* state = job.state + std::int64_t(env) * sim.nstate;
  mj_setState(m, d, state, mjSTATE_INTEGRATION);
  sim.memory.begin(m, d, state);
  begin_passage(sim, p, env);
  run_part(sim, m, d, p, 0);
  if (std::exchange(p.short_of_memory, false)) return p.misfit = false;
  sim.misfit[env] = p.misfit;
  if (p.misfit) return false;
  finish_solution(sim, m, d, p);
  const bool posed = sim.buffers->rows(p.slot) > 0;
  const bool solved = !posed || sim.buffers->results().status(p.slot) == EnvStatus::solved;
  return !p.failed && solved && p.verdict.status == EnvStatus::solved && !p.repositioned;
}

// A resting contact is at a kink of its gap: one that opens closes within the step, one that
// overlaps keeps its overlap. The derivative is that of the first.
bool rests_at_kink(const Impl& sim, const Passage& p, const mjData* d, const StepPoint& point) {
  constexpr double kNear = 1e-9;  // m
  if (!sim.rigid() || sim.formulation.contact.compliance > 0) return false;
  for (std::size_t row = 0; row < point.step.keys.size(); ++row) {
    const RowKey& key = point.step.keys[row];
    if (!key.rigid || !key.normal || point.step.impulse[row] <= 0) continue;
    if (std::abs(p.contacts.gap[d->efc_id[point.scratch.efc_of[row]]]) < kNear) return true;
  }
  return false;
}

// Status by all inputs but qpos, and by qpos.
struct Validity {
  GradientStatus status = GradientStatus::valid, qpos_status = GradientStatus::valid;
  double margin = std::numeric_limits<double>::infinity(), lost = 0;

  void note(Smoothness smoothness, Input input) {
    GradientStatus& noted = input == Input::qpos ? qpos_status : status;
    if (smoothness == Smoothness::kink) noted = std::max(noted, GradientStatus::kink);
    if (smoothness == Smoothness::unknown) status = qpos_status = GradientStatus::unsolved;
  }
  GradientReport report() { return {&status, &margin, &lost}; }
};

// Calls visit(input, i) for every number of the wanted inputs, after `point.change` was written.
template <class T, class F>
void for_inputs(Impl& sim, const mjModel* m, mjData* d, Passage& p, StepPoint& point,
                const StepInputs<T>& wanted, int env, Validity& validity, F&& visit) {
  const auto go_through = [&](Input input, T* values, int size) {
    for (int i = 0; values && i < size; ++i) {
      T& value = values[std::int64_t(env) * size + i];
      if (std::is_const_v<T> && value == 0) continue;  // a change of nothing
      validity.note(difference(sim, m, d, p, point, input, i), input);
      visit(value);
    }
  };
  go_through(Input::ctrl, wanted.ctrl, int(m->nu));
  go_through(Input::qvel, wanted.qvel, int(m->nv));
  go_through(Input::qpos, wanted.qpos, int(m->nv));
}

// g_r = (∂v⁺/∂r)ᵀ g = J R⁻ᵀ g into `rows`, with the rows of d.
void loss_of_rows(const Impl& sim, const mjModel* m, mjData* d, StepPoint& point) {
  point.velocity = point.loss;
  respond(sim, m, d, true, point.velocity.data());
  point.rows.assign(sim.buffers->problems().max_rows(), 0.0);
  for (std::size_t row = 0; row < point.step.keys.size(); ++row)
    point.rows[row] = row_velocity(d, point.scratch.efc_of[row], point.velocity.data());
}

void solve_adjoint(Impl& sim, const Passage& p, StepPoint& point, Validity& validity) {
  const std::size_t size = sim.buffers->problems().max_rows();
  for (auto* values : {&point.beta, &point.mu, &point.lo, &point.hi}) values->assign(size, 0.0);
  if (sim.buffers->rows(p.slot) == 0) return;
  sim.buffers->form_missing_delassus(p.slot);
  GradientBatch<double> to;
  to.b = {point.beta.data(), 0};
  to.mu = {point.mu.data(), 0};
  to.lo = {point.lo.data(), 0};
  to.hi = {point.hi.data(), 0};
  to.report = validity.report();
  sim.buffers->vjp(p.slot, {{point.rows.data(), 0}, {}}, to);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
bool finite(const T* values, int size) {
  return !values || std::all_of(values, values + size, [](double x) { return std::isfinite(x); });
}

void vjp_environment(const mjModel* m, mjData* d, int env, void* arg) {
  Job& job = *static_cast<Job*>(arg);
  Impl& sim = *job.sim;
  Passage& p = sim.passage(env, d);
  StepPoint& point = job.points[p.slot];
  const int nv = int(m->nv);
  const double *by_qpos = row_of(job.loss.qpos, env, nv), *by_qvel = row_of(job.loss.qvel, env, nv);
  if (!finite(by_qpos, nv) || !finite(by_qvel, nv)) return;
  if (!repeat_step(job, m, d, p, env) || !open_point(sim, m, d, p, point)) return;
  Validity validity;
  const bool kink = rests_at_kink(sim, p, d, point);
  point.loss.assign(nv, 0.0);
  if (by_qvel) mju_copy(point.loss.data(), by_qvel, nv);
  const std::vector<double>& v = point.base.velocity;
  if (by_qpos) add_velocity_part_transposed(m, v.data(), by_qpos, point.loss.data());
  loss_of_rows(sim, m, d, point);
  solve_adjoint(sim, p, point, validity);
  if (validity.status == GradientStatus::unsolved) return;
  validity.qpos_status = kink ? GradientStatus::kink : GradientStatus::valid;
  bool all_finite = true;
  for_inputs(sim, m, d, p, point, job.gradient, env, validity, [&](double& value) {
    value = dot(point.loss, point.change.velocity) + dot(point.beta, point.change.rows);
    all_finite = all_finite && std::isfinite(value);
  });
  double* qpos = row_of(job.gradient.qpos, env, nv);
  if (qpos && by_qpos) add_position_part_transposed(m, v.data(), by_qpos, qpos);
  if (validity.status == GradientStatus::unsolved || !all_finite) return;
  write(job.report, env, validity.status, std::max(validity.status, validity.qpos_status),
        validity.margin, validity.lost);
}

// dr of the changes of the rows in point.rows, into point.beta.
void solve_tangent(Impl& sim, const Passage& p, StepPoint& point, Validity& validity) {
  point.beta.assign(sim.buffers->problems().max_rows(), 0.0);
  if (sim.buffers->rows(p.slot) == 0) return;
  sim.buffers->form_missing_delassus(p.slot);
  ChangeBatch<double> change;
  change.b = {point.rows.data(), 0};
  sim.buffers->jvp(p.slot, change, {{point.beta.data(), 0}, {}, validity.report()});
}

// velocity += dv⁺/dr dr, with the rows of d.
void add_response(const Impl& sim, const mjModel* m, mjData* d, StepPoint& point) {
  std::vector<double>& x = point.loss;
  x.assign(m->nv, 0.0);
  for (std::size_t row = 0; row < point.step.keys.size(); ++row) {
    const int i = point.scratch.efc_of[row];
    for (int k = d->efc_J_rowadr[i]; k < d->efc_J_rowadr[i] + d->efc_J_rownnz[i]; ++k)
      x[d->efc_J_colind[k]] += d->efc_J[k] * point.beta[row];
  }
  respond(sim, m, d, false, x.data());
  mju_addTo(point.velocity.data(), x.data(), int(m->nv));
}

void jvp_environment(const mjModel* m, mjData* d, int env, void* arg) {
  Job& job = *static_cast<Job*>(arg);
  Impl& sim = *job.sim;
  Passage& p = sim.passage(env, d);
  StepPoint& point = job.points[p.slot];
  const int nv = int(m->nv);
  const double* qpos = row_of(job.change.qpos, env, nv);
  if (!finite(qpos, nv) || !finite(row_of(job.change.qvel, env, nv), nv) ||
      !finite(row_of(job.change.ctrl, env, m->nu), int(m->nu)))
    return;
  if (!repeat_step(job, m, d, p, env) || !open_point(sim, m, d, p, point)) return;
  Validity found, validity;
  if (rests_at_kink(sim, p, d, point)) found.qpos_status = GradientStatus::kink;
  point.velocity.assign(nv, 0.0);
  point.rows.assign(sim.buffers->problems().max_rows(), 0.0);
  for_inputs(sim, m, d, p, point, job.change, env, found, [&](double amount) {
    mju_addToScl(point.velocity.data(), point.change.velocity.data(), amount, nv);
    mju_addToScl(point.rows.data(), point.change.rows.data(), amount,
                 int(point.change.rows.size()));
  });
  return_to_point(sim, m, d, p, point);
  solve_tangent(sim, p, point, validity);
  const GradientStatus status = std::max(found.status, validity.status);
  add_response(sim, m, d, point);
  if (status == GradientStatus::unsolved || !finite(point.velocity.data(), nv)) return;
  double *to_qpos = row_of(job.result.qpos, env, nv), *to_qvel = row_of(job.result.qvel, env, nv);
  move_positions(m, point.base.velocity.data(), qpos, point.velocity.data(), to_qpos);
  mju_copy(to_qvel, point.velocity.data(), nv);
  write(job.report, env, status, std::max(status, found.qpos_status), validity.margin,
        validity.lost);
}

// Zeros in what the call writes, of the environments that are unsolved.
void clear_unsolved(const Job& job) {
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
    write(job.report, e, GradientStatus::unsolved, GradientStatus::unsolved, 0, 1);
  }
}

void run(Job& job, mjfBatchFunc function) {
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

std::int64_t BatchSim::size_of_differentiable(const std::string& field) const {
  throw std::invalid_argument("wrt: expected ctrl, qvel, qpos, got " + field);
}

void BatchSim::step_vjp(const double* state, const NextState<const double>& loss,
                        const StepInputs<double>& gradient, const StepReport& report) {
  const auto turn = impl_->caller.enter();
  Job job{impl_.get(), state, loss, gradient, {}, {}, report, {}};
  run(job, &vjp_environment);
}

void BatchSim::step_jvp(const double* state, const StepInputs<const double>& change,
                        const NextState<double>& result, const StepReport& report) {
  const auto turn = impl_->caller.enter();
  Job job{impl_.get(), state, {}, {}, change, result, report, {}};
  run(job, &jvp_environment);
}

}  // namespace stickslip::mujoco
