// One step of the batch: passes of MuJoCo's pool over all environments, with our solve between.
//
// The functions that a pass runs must not hold C++ objects with destructors across MuJoCo's calls:
// MuJoCo's errors leave them by longjmp; `pass` marks such an environment as failed.
#include <algorithm>
#include <limits>
#include <numeric>

#include "src/mujoco/batch_impl.hpp"
#include "src/mujoco/integrator.hpp"
#include "src/mujoco/row_map.hpp"
#include "src/mujoco/stages.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

void raise_to(std::atomic<int>& maximum, int value) {
  int seen = maximum.load(std::memory_order_relaxed);
  while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// Runs on environments in which nothing has failed so far.
void gather_env(Impl& sim, const mjModel* m, mjData* d, int env) {
  const EnvShape shape = shape_of(d);
  raise_to(sim.rows_needed, d->nefc);
  raise_to(sim.contacts_needed, shape.n_contacts);
  if (!sim.buffers->fits(d->nefc, shape.n_contacts)) return;  // gathered again with more room
  if (!gather(m, d, sim.level, sim.options.contact, sim.buffers->slot(env))) {
    sim.buffers->clear(env);
    sim.fail(env);
    return;
  }
  sim.buffers->set_rows(env, d->nefc);
}

void gather_again(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  Lap lap(sim.work);
  if (!sim.failed[env]) gather_env(sim, m, d, env);
  lap.mark(kGather);
}

void forward(Impl& sim, const mjModel* m, mjData* d, int env, bool sensors) {
  Lap lap(sim.work);
  forward_to_solver(m, d, sensors);
  lap.mark(kMujoco);
  gather_env(sim, m, d, env);
  lap.mark(kGather);
}

void begin_step(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  sim.data[env] = d;
  if (sim.rk4) rk4_begin(m, d, sim.rk4->slot(env));
  if (bad_state(m, d)) return sim.fail(env);
  forward(sim, m, d, env, true);
}

void write_solution(Impl& sim, const mjModel* m, mjData* d, int env) {
  Lap lap(sim.work);
  scatter(m, d, sim.level, sim.buffers->slot(env).efc_of, sim.buffers->results().impulse(env));
  lap.mark(kScatter);
  apply_forces(m, d);
  lap.mark(kApply);
  sim.num_contacts[env] = d->ncon;
  sim.num_rows[env] = d->nefc;
  if (bad_acceleration(m, d)) sim.fail(env);
}

// The environment has failed: it does not advance.
void recover(Impl& sim, const mjModel* m, mjData* d, int env) {
  sim.num_contacts[env] = sim.num_rows[env] = 0;
  if (sim.rk4) rk4_restore(m, d, sim.rk4->slot(env));
  if (!(m->opt.disableflags & mjDSBL_AUTORESET)) mj_resetData(m, d);
}

void keep_sensors(Impl& sim, const mjModel* m, const mjData* d, int env) {
  mju_copy(sim.sensordata.data() + m->nsensordata * env, d->sensordata, int(m->nsensordata));
}

void finish_step(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  if (!sim.failed[env]) write_solution(sim, m, d, env);
  if (sim.failed[env]) return recover(sim, m, d, env);
  Lap lap(sim.work);
  after_solver(m, d);
  keep_sensors(sim, m, d, env);
  if (sim.level == Level::velocity)
    integrate(m, d);
  else if (m->opt.integrator == mjINT_EULER)
    mj_Euler(m, d);
  else
    mj_implicit(m, d);
  lap.mark(kMujoco);
}

// Stage kStage >= 1 of Runge-Kutta: ends the stage before and begins this one.
template <int kStage>
void rk4_next_stage(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  if (!sim.failed[env]) write_solution(sim, m, d, env);
  if (sim.failed[env]) return;
  const Rk4Slot slot = sim.rk4->slot(env);
  if (kStage == 1) {
    after_solver(m, d);
    keep_sensors(sim, m, d, env);
  }
  rk4_record(m, d, slot, kStage - 1);
  rk4_enter(m, d, slot, kStage);
  if (bad_state(m, d)) return sim.fail(env);
  forward(sim, m, d, env, false);
}

void rk4_finish(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  if (!sim.failed[env]) write_solution(sim, m, d, env);
  if (sim.failed[env]) return recover(sim, m, d, env);
  Lap lap(sim.work);
  rk4_record(m, d, sim.rk4->slot(env), kRk4Stages - 1);
  rk4_advance(m, d, sim.rk4->slot(env));
  lap.mark(kMujoco);
}

// Warnings that mj_step raises when it meets numbers it cannot use.
int bad_number_warnings(const mjData* d) {
  return d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number +
         d->warning[mjWARN_BADQACC].number;
}

void mujoco_step(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  Lap lap(sim.work);
  sim.data[env] = d;
  const int warnings = bad_number_warnings(d);
  mj_step(m, d);
  if (bad_number_warnings(d) != warnings) sim.fail(env);
  sim.num_contacts[env] = d->ncon;
  sim.num_rows[env] = d->nefc;
  const int islands = std::clamp(d->nisland, 1, int(mjNISLAND));
  sim.iterations[env] = std::accumulate(d->solver_niter, d->solver_niter + islands, 0);
  keep_sensors(sim, m, d, env);
  lap.mark(kMujoco);
}

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

void Impl::pass(mjfBatchFunc function, bool save) {
  for (auto& w : work) w = 0;
  Stopwatch watch;
  if (mjb_apply(batch.get(), nullptr, 0, function, this, save) > 0) {
    const int* raised = mjb_status(batch.get());
    for (int e = 0; e < options.num_envs; ++e)
      if (raised[e]) fail(e);
  }
  const double wall = watch.lap();
  const std::int64_t all = std::max<std::int64_t>(1, work[kMujoco] + work[kGather] + work[kApply] +
                                                         work[kScatter]);
  timings.mujoco += wall * work[kMujoco] / all;
  timings.gather += wall * work[kGather] / all;
  timings.apply += wall * work[kApply] / all;
  timings.scatter += wall * work[kScatter] / all;
}

void Impl::solve_after(mjfBatchFunc begin) {
  rows_needed = contacts_needed = 0;
  pass(begin, false);
  if (!buffers->fits(rows_needed, contacts_needed)) {
    buffers->reserve(rows_needed, contacts_needed);
    pass(&gather_again, false);
  }
  for (int e = 0; e < options.num_envs; ++e) {
    if (!failed[e]) continue;
    buffers->clear(e);
    buffers->set_rows(e, 0);
  }
  Stopwatch watch;
  buffers->form_delassus();
  timings.delassus += watch.lap();
  buffers->solve(options.solve);
  timings.solve += watch.lap();
  record_verdicts();
}

// The worst of the step's solves so far.
void Impl::record_verdicts() {
  const auto& results = buffers->results();
  for (int e = 0; e < options.num_envs; ++e) {
    const EnvStatus s = results.status(e);
    if (s == EnvStatus::bad_input) fail(e);
    status[e] = std::max(status[e], s);
    residual[e] = std::max(residual[e], results.residual(e));
    iterations[e] += results.iterations(e);
    solver[e] = results.solver(e);
  }
}

void Impl::step() {
  std::fill(failed.begin(), failed.end(), 0);
  std::fill(status.begin(), status.end(), EnvStatus::solved);
  std::fill(iterations.begin(), iterations.end(), 0);
  std::fill(residual.begin(), residual.end(),
            options.mujoco_law ? std::numeric_limits<double>::quiet_NaN() : 0.0);
  if (options.mujoco_law) {
    pass(&mujoco_step, true);
  } else {
    solve_after(&begin_step);
    if (rk4) {
      solve_after(&rk4_next_stage<1>);
      solve_after(&rk4_next_stage<2>);
      solve_after(&rk4_next_stage<3>);
    }
    pass(rk4 ? &rk4_finish : &finish_step, true);
  }
  for (int e = 0; e < options.num_envs; ++e) {
    if (!failed[e]) continue;
    status[e] = EnvStatus::bad_input;
    residual[e] = std::numeric_limits<double>::infinity();
    ++failures[e];
  }
  ++timings.steps;
}

}  // namespace stickslip::mujoco
