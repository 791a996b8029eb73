// One step of the batch: passes of MuJoCo's pool over all environments, with our solve between.
//
// The functions that a pass runs must not hold C++ objects with destructors across MuJoCo's calls:
// MuJoCo's errors leave them by longjmp; `pass` marks such an environment as failed.
#include <algorithm>
#include <limits>
#include <numeric>

#include "src/mujoco/batch_impl.hpp"
#include "src/mujoco/integrator.hpp"
#include "src/mujoco/position.hpp"
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

// Solves an environment's problem, if it has rows; on the GPU that happens later, to all at once.
void solve_env(Impl& sim, int env, Lap& lap) {
  if (sim.buffers->rows(env) == 0) return;
  sim.buffers->form_delassus(env);
  lap.mark(kDelassus);
  if (sim.gpu()) return;
  sim.buffers->solve(env);
  const auto& r = sim.buffers->results();
  sim.merge_verdict(env, r.status(env), r.residual(env), r.iterations(env), r.solver(env));
  lap.mark(kSolve);
}

// From the state before the solver to the solution, if there is room for the problem.
void gather_and_solve(Impl& sim, const mjModel* m, mjData* d, int env) {
  Lap lap(sim.work);
  const int contacts = shape_of(d).n_contacts;
  sim.misfit[env] = !sim.buffers->fits(d->nefc, contacts);
  if (sim.misfit[env]) {
    raise_to(sim.rows_needed, d->nefc);
    raise_to(sim.contacts_needed, contacts);
    return;
  }
  sim.buffers->set_rows(env, d->nefc);
  if (sim.options.position_iterations > 0)  // whose rounds start warm; a step does not
    mju_zero(sim.buffers->problems().warm_start(env), d->nefc);
  if (!gather(m, d, sim.level, sim.options.contact, sim.buffers->slot(env))) return sim.fail(env);
  lap.mark(kGather);
  solve_env(sim, env, lap);
}

void forward_and_solve(Impl& sim, const mjModel* m, mjData* d, int env, bool sensors) {
  Lap lap(sim.work);
  forward_to_solver(m, d, sensors);
  lap.mark(kMujoco);
  gather_and_solve(sim, m, d, env);
}

void resume_solve(const mjModel* m, mjData* d, int env, void* arg) {
  gather_and_solve(*static_cast<Impl*>(arg), m, d, env);
}

void begin_step(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  sim.data[env] = d;
  if (sim.rk4) rk4_begin(m, d, sim.rk4->slot(env));
  if (bad_state(m, d)) return sim.fail(env);
  forward_and_solve(sim, m, d, env, true);
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
  if (sim.autoreset()) mj_resetData(m, d);
}

void keep_sensors(Impl& sim, const mjModel* m, const mjData* d, int env) {
  mju_copy(sim.sensordata.data() + m->nsensordata * env, d->sensordata, int(m->nsensordata));
}

void finish_step(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  if (!sim.failed[env] && sim.options.position_iterations > 0) keep_gaps(sim, m, d, env);
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

// The whole step in one go while the environment's data are in the cache; nothing waits for others.
void fused_step(const mjModel* m, mjData* d, int env, void* arg) {
  begin_step(m, d, env, arg);
  if (!static_cast<Impl*>(arg)->misfit[env]) finish_step(m, d, env, arg);
}

void resume_fused_step(const mjModel* m, mjData* d, int env, void* arg) {
  resume_solve(m, d, env, arg);
  finish_step(m, d, env, arg);
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
  forward_and_solve(sim, m, d, env, false);
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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<int> indices_of(const std::vector<std::uint8_t>& flags) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) indices.push_back(int(i));
  return indices;
}

}  // namespace

void Impl::pass(mjfBatchFunc function, bool save, const std::vector<int>& ids) {
  for (auto& w : work) w = 0;
  const auto start = std::chrono::steady_clock::now();
  const int* selected = ids.empty() ? nullptr : ids.data();
  if (mjb_apply(batch.get(), selected, int(ids.size()), function, this, save) > 0) {
    const int* errors = mjb_status(batch.get());
    for (int e = 0; e < options.num_envs; ++e)
      if (errors[e]) failed[e] = raised[e] = 1;
  }
  // Wall time, split as the threads spent theirs.
  double* const totals[kNumStages] = {&timings.mujoco, &timings.gather, &timings.delassus,
                                      &timings.solve,  &timings.apply,  &timings.scatter};
  std::int64_t all = 0;
  for (const auto& w : work) all += w;
  const double share = seconds_since(start) / double(std::max<std::int64_t>(1, all));
  for (int i = 0; i < kNumStages; ++i) *totals[i] += share * double(work[i]);
}

void Impl::pass_with_room(mjfBatchFunc begin, mjfBatchFunc resume, bool save) {
  std::fill(misfit.begin(), misfit.end(), 0);
  rows_needed = contacts_needed = 0;
  pass(begin, save);
  const std::vector<int> waiting = indices_of(misfit);
  if (waiting.empty()) return;
  buffers->reserve(rows_needed, contacts_needed);
  pass(resume, save, waiting);
}

void Impl::solve_after(mjfBatchFunc begin) {
  pass_with_room(begin, &resume_solve, false);
  if (!gpu()) return;
  const auto start = std::chrono::steady_clock::now();
  for (const int e : indices_of(failed)) buffers->clear(e);
  buffers->solve_on_gpu();
  const auto& r = buffers->results();
  for (int e = 0; e < options.num_envs; ++e)
    merge_verdict(e, r.status(e), r.residual(e), r.iterations(e), r.solver(e));
  timings.solve += seconds_since(start);
}

void Impl::merge_verdict(int env, EnvStatus s, double res, int its, Solver by) {
  if (s == EnvStatus::bad_input) fail(env);
  status[env] = std::max(status[env], s);
  residual[env] = std::max(residual[env], res);
  iterations[env] += its;
  solver[env] = by;
}

void Impl::step() {
  for (auto* flags : {&failed, &raised}) std::fill(flags->begin(), flags->end(), 0);
  std::fill(status.begin(), status.end(), EnvStatus::solved);
  std::fill(iterations.begin(), iterations.end(), 0);
  std::fill(solver.begin(), solver.end(), Solver::automatic);
  std::fill(residual.begin(), residual.end(),
            options.mujoco_law ? std::numeric_limits<double>::quiet_NaN() : 0.0);
  if (options.position_iterations > 0) {
    std::fill(position_rounds.begin(), position_rounds.end(), 0);
    std::fill(penetration.begin(), penetration.end(), 0.0);
  }
  if (options.mujoco_law) {
    pass(&mujoco_step, true);
  } else if (rk4) {
    solve_after(&begin_step);
    solve_after(&rk4_next_stage<1>);
    solve_after(&rk4_next_stage<2>);
    solve_after(&rk4_next_stage<3>);
    pass(&rk4_finish, true);
  } else if (gpu()) {
    solve_after(&begin_step);
    pass(&finish_step, true);
  } else {
    pass_with_room(&fused_step, &resume_fused_step, true);
  }
  close_step();
}

void Impl::close_step() {
  for (const int e : indices_of(failed)) {
    status[e] = EnvStatus::bad_input;
    residual[e] = std::numeric_limits<double>::infinity();
    ++failures[e];
  }
  // An error of MuJoCo jumped over the recovery.
  const std::vector<int> ids = indices_of(raised);
  if (!ids.empty() && autoreset())
    mjb_reset(batch.get(), ids.data(), int(ids.size()), nullptr, mjSTAGE_NONE);
  ++timings.steps;
}

}  // namespace stickslip::mujoco
