// One step of the batch: passes of MuJoCo's pool over all environments. On the CPU, one pass runs
// each environment through the whole step in the data of a thread, which stay in its cache; only
// the state is kept between steps (measured in docs/performance.md). On a GPU the solves lie
// between passes, and every environment has its own data.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "src/mujoco/model/bad_numbers.hpp"
#include "src/mujoco/step/env_step.hpp"
#include "src/mujoco/step/second_solve.hpp"
#include "src/mujoco/step/stages.hpp"

namespace stickslip::mujoco {
namespace {

// `index`: of the step in the call; `enters`: the batch has the state from which d comes.
void begin_step(StepContext& step, int index, bool enters) {
  begin_context(step);
  if (index == 0) step.first_of = step.sim->substeps;
  mjtNum* state = step.sim->begin_state(step.env);
  if (enters)
    std::copy_n(step.sim->stored_state(step.env), step.sim->nstate, state);
  else
    mj_getState(step.m, step.d, state, mjSTATE_INTEGRATION);
  step.sim->memory.begin(step.m, step.d, state);
}

// Keeps the contact forces that a step leaves in d.
void keep_forces(const StepContext& step) {
  ContactSensors& sensors = *step.sim->contact_sensors;
  const double* gap = step.sim->rigid() ? step.contacts.gap.data() : nullptr;
  step.failed ? sensors.clear(step.env) : sensors.keep(step.m, step.d, gap, step.env);
  sensors.add_to_means(step.env, step.sim->substeps);
}

void clear_verdicts(SimBatch& sim) {
  std::fill(sim.status.begin(), sim.status.end(), EnvStatus::solved);
  std::fill(sim.residual.begin(), sim.residual.end(), 0.0);
  std::fill(sim.iterations.begin(), sim.iterations.end(), 0);
}

// The verdict on a step that was not made.
Verdict failure(SimBatch::Raised raised) {
  Verdict verdict;
  verdict.status =
      raised == SimBatch::Raised::shortage ? EnvStatus::over_capacity : EnvStatus::bad_input;
  verdict.residual = std::numeric_limits<double>::infinity();
  return verdict;
}

// Of a step; the verdict on several steps is the worst of theirs. Each thread has its own counters.
void report(SimBatch& sim, int e, const Verdict& v, Statistics& statistics) {
  statistics.count(v);
  sim.status[e] = std::max(sim.status[e], v.status);
  sim.residual[e] = std::max(sim.residual[e], v.residual);
  sim.iterations[e] += v.iterations;
  sim.failures[e] += v.status == EnvStatus::bad_input;
  sim.solver[e] = v.solver;
  sim.num_contacts[e] = v.num_contacts;
  sim.num_rows[e] = v.num_rows;
  sim.position_rounds[e] = v.position_rounds;
  sim.penetration[e] = v.penetration;
}

void whole_steps(const mjModel* m, mjData* d, int env, void* arg) {
  SimBatch& sim = *static_cast<SimBatch*>(arg);
  StepContext& step = sim.enter(env, m, d);
  bool enters = !mjb_persistent(sim.batch.get());
  for (int& left = sim.substeps_left[env]; left > 0; --left) {
    // Only the caller asks, and it may be waiting in MuJoCo for this thread: so the pass ends.
    if (sim.token.ask() || sim.token.due()) return;
    begin_step(step, sim.substeps - left, std::exchange(enters, false));
    run_step(step);
    if (sim.token.stopped()) {  // possibly within the solve
      mj_setState(m, d, sim.begin_state(env), mjSTATE_INTEGRATION);
      return;
    }
    sim.misfit[env] = step.misfit;
    if (step.misfit) return;  // continues here
    report(sim, env, step.verdict, step.statistics);
    keep_forces(step);
  }
  sim.fields->keep_after_step(step.m, step.d, env);
}

// One part of the step of all environments; the GPU solves before the next part.
struct StepPart {
  SimBatch* sim;
  int index, number;
};

void gpu_part(const mjModel* m, mjData* d, int env, void* arg) {
  const StepPart& part = *static_cast<StepPart*>(arg);
  SimBatch& sim = *part.sim;
  StepContext& step = sim.enter(env, m, d);
  if (part.number == 0) begin_step(step, part.index, false);
  run_part(step, part.number);
  sim.misfit[env] = step.misfit;
  if (part.number < sim.solves()) return;
  report(sim, env, step.verdict, step.statistics);
  keep_forces(step);
  sim.fields->keep_after_step(step.m, step.d, env);
}

void gpu_part_again(const mjModel* m, mjData* d, int env, void* arg) {
  SimBatch& sim = *static_cast<StepPart*>(arg)->sim;
  StepContext& step = sim.enter(env, m, d);
  resume_part(step);
  sim.misfit[env] = step.misfit;
}

void pose(const mjModel* m, mjData* d, int env, void* arg) {
  SimBatch& sim = *static_cast<SimBatch*>(arg);
  StepContext& step = sim.enter(env, m, d);
  // The previous environment of the thread left its values; mj_forward rarely computes them, and
  // without a solve there are no accelerations and forces.
  for (mjtNum* forces : {d->cacc, d->cfrc_int, d->cfrc_ext}) mju_zero(forces, 6 * int(m->nbody));
  mju_zero(d->sensordata, int(m->nsensordata));
  if (bad_state(m, d)) return;
  sim.options.mujoco_law ? mj_forward(m, d) : forward_to_solver(step, true);
  sim.fields->keep(d, env);
  sim.keep_sensors(step);
}

struct Visit {
  SimBatch* sim;
  const SimBatch::Visitor* visitor;
};

void visit_environment(const mjModel* m, mjData* d, int env, void* arg) {
  const Visit& visit = *static_cast<Visit*>(arg);
  StepContext& step = visit.sim->enter(env, m, d);
  if (!mjb_persistent(visit.sim->batch.get())) {
    mj_setState(m, d, visit.sim->begin_state(env), mjSTATE_INTEGRATION);
    begin_context(step);
    run_step(step);
  }
  (*visit.visitor)(step);
}

void look_for_effective_metric(const mjModel* m, mjData* d, int, void* arg) {
  mj_forward(m, d);
  *static_cast<bool*>(arg) = d->efm_active;
}

}  // namespace

// Takes over the GPU's solution of a half.
void SimBatch::take_half(int half) {
  const auto start = std::chrono::steady_clock::now();
  buffers->finish_on_gpu(half);
  for (const int e : halves[half]) take_solution(contexts[e]);
  timings.solve += seconds_since(start);
}

// Poses the next solves of a half and starts the GPU; problems on the GPU may be moved.
void SimBatch::pose_half(int half, void* part) {
  pass_with_room(&gpu_part, part, &gpu_part_again, false, halves[half]);
  const auto start = std::chrono::steady_clock::now();
  for (const int e : halves[half]) {
    StepContext& step = contexts[e];
    step.failed = step.failed || raised[e] != Raised::nothing;
    if (step.failed) buffers->clear(step.slot);
  }
  buffers->start_on_gpu(half);
  timings.solve += seconds_since(start);
}

// While the GPU copies and solves one half of the batch, MuJoCo's stages of the other half run.
void SimBatch::step_on_gpu(int index) {
  const auto start = std::chrono::steady_clock::now();
  for (StepPart part{this, index, 0}; part.number <= solves(); ++part.number)
    for (int half = 0; half < ProblemBuffers::kHalves; ++half) {
      if (halves[half].empty()) continue;
      if (part.number > 0) take_half(half);
      if (part.number < solves())
        pose_half(half, &part);
      else
        pass(&gpu_part, &part, true, halves[half]);
    }
  timings.gpu_busy = buffers->gpu_busy_seconds();
  timings.gpu_steps += seconds_since(start);
}

void SimBatch::step(int count) {
  substeps = count;
  begin_states.resize(std::size_t(options.num_envs) * nstate);
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  std::fill(substeps_left.begin(), substeps_left.end(), substeps);
  clear_verdicts(*this);
  contact_sensors->clear_means();
  token.begin(go_on, buffers->has_large_problems());
  for (int i = 0; gpu() && i < substeps && !token.ask(); ++i) {
    step_on_gpu(i);
    recover_raised();
  }
  std::vector<int> ids;  // environments that continue; empty: all
  while (!gpu()) {
    pass_with_room(&whole_steps, this, &whole_steps, true, ids);
    for (const int e : recover_raised()) --substeps_left[e];
    ids = indices_of(substeps_left);
    if (ids.empty() || token.ask()) break;
  }
  for (StepContext& step : contexts) statistics += std::exchange(step.statistics, {});
  timings.steps += substeps;
  token.finish();
}

std::vector<int> SimBatch::recover_raised() {
  std::vector<int> ids, reset;
  for (int e = 0; e < options.num_envs; ++e) {
    if (raised[e] == Raised::nothing) continue;
    report(*this, e, failure(raised[e]), statistics);
    put_back(e);
    contact_sensors->clear(e);
    ids.push_back(e);
    if (raised[e] == Raised::error && autoreset()) reset.push_back(e);
  }
  if (!reset.empty()) batch.reset(reset, {});
  for (const int e : reset) clear_sensors(e);
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  return ids;
}

void SimBatch::forward(const std::vector<int>& ids) {
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  pass(&pose, this, true, ids);
  for (int e = 0; e < options.num_envs; ++e)
    if (raised[e] != Raised::nothing) report(*this, e, failure(raised[e]), statistics);
}

// Constraints of flexes that MuJoCo solves in its own metric cannot be represented in W.
void SimBatch::refuse_effective_metric() {
  bool active = false;
  const int env = 0;
  mjb_apply(batch.get(), &env, 1, &look_for_effective_metric, &active, false);
  if (active && !options.mujoco_law)
    throw std::invalid_argument(
        "the model's flexible bodies are solved in MuJoCo's effective metric, which is understood "
        "by law='mujoco' only");
}

bool SimBatch::revisit(const std::vector<int>& ids, const Visitor& visitor) {
  if (begin_states.empty()) return false;
  Visit visit{this, &visitor};
  return mjb_apply(batch.get(), ids.data(), int(ids.size()), &visit_environment, &visit, false) ==
         0;
}

}  // namespace stickslip::mujoco
