// One step of the batch: passes of MuJoCo's pool over all environments. On the CPU one pass carries
// each environment through the whole step by the data of a thread, which stay in its cache; only
// the state is kept between steps (measured in docs/performance.md). On a GPU the solves lie
// between passes, and every environment keeps data of its own.
#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

#include "src/mujoco/passage.hpp"
#include "src/mujoco/stages.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void begin(Passage& p, const Impl& sim, int env) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  p.env = env;
  p.failed = p.misfit = false;
  p.verdict = {};
  if (sim.options.mujoco_law) p.verdict.residual = kUnknown;
  if (sim.options.position_iterations == 0) p.verdict.penetration = kUnknown;
}

void begin_step(Impl& sim, const mjModel* m, mjData* d, Passage& p, int env) {
  begin(p, sim, env);
  mj_getState(m, d, sim.begin_state(env), mjSTATE_INTEGRATION);
  sim.memory.begin(m, d, sim.begin_state(env));
}

void clear_verdicts(Impl& sim) {
  std::fill(sim.status.begin(), sim.status.end(), EnvStatus::solved);
  std::fill(sim.residual.begin(), sim.residual.end(),
            sim.options.mujoco_law ? std::numeric_limits<double>::quiet_NaN() : 0.0);
  std::fill(sim.iterations.begin(), sim.iterations.end(), 0);
}

// On a step that was not made.
Verdict failure(EnvStatus status) {
  Verdict verdict;
  verdict.status = status;
  verdict.residual = std::numeric_limits<double>::infinity();
  return verdict;
}

void count(Statistics& to, const Verdict& v) {
  ++to.by_status[std::size_t(v.status)];
  if (v.status == EnvStatus::solved && v.rung >= 0)
    ++to.by_rung[std::min<std::size_t>(v.rung, to.by_rung.size() - 1)];
  to.second_solves += v.second_solves;
  to.repositioned += v.position_rounds > 0;
  to.ghosts += v.ghosts;
  to.culled += v.culled;
  to.taken_in += v.taken_in;
}

void add(Statistics& to, const Statistics& from) {
  for (std::size_t i = 0; i < to.by_status.size(); ++i) to.by_status[i] += from.by_status[i];
  for (std::size_t i = 0; i < to.by_rung.size(); ++i) to.by_rung[i] += from.by_rung[i];
  to.second_solves += from.second_solves;
  to.repositioned += from.repositioned;
  to.ghosts += from.ghosts;
  to.culled += from.culled;
  to.taken_in += from.taken_in;
}

// Of a step; the verdict on several is the worst of theirs. Several threads count, each in its own.
void report(Impl& sim, int e, const Verdict& v, Statistics& statistics) {
  count(statistics, v);
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
  Impl& sim = *static_cast<Impl*>(arg);
  Passage& p = sim.passage(env, d);
  for (int& left = sim.substeps_left[env]; left > 0; --left) {
    begin_step(sim, m, d, p, env);
    run_step(sim, m, d, p);
    sim.misfit[env] = p.misfit;
    if (p.misfit) return;  // goes on here
    report(sim, env, p.verdict, p.statistics);
  }
  sim.fields->keep_after_step(m, d, env);
}

// One part of the step, of all environments; the GPU solves before the next.
struct Part {
  Impl* sim;
  int number;
};

void gpu_part(const mjModel* m, mjData* d, int env, void* arg) {
  const Part& part = *static_cast<Part*>(arg);
  Impl& sim = *part.sim;
  Passage& p = sim.passage(env, d);
  if (part.number == 0) begin_step(sim, m, d, p, env);
  run_part(sim, m, d, p, part.number);
  sim.misfit[env] = p.misfit;
  if (part.number < sim.solves()) return;
  report(sim, env, p.verdict, p.statistics);
  sim.fields->keep_after_step(m, d, env);
}

void gpu_part_again(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Part*>(arg)->sim;
  Passage& p = sim.passage(env, d);
  resume_part(sim, m, d, p);
  sim.misfit[env] = p.misfit;
}

void pose(const mjModel* m, mjData* d, int env, void* arg) {
  Impl& sim = *static_cast<Impl*>(arg);
  // The thread's last environment left its own; mj_forward computes them for some sensors only.
  for (mjtNum* forces : {d->cacc, d->cfrc_int, d->cfrc_ext}) mju_zero(forces, 6 * int(m->nbody));
  if (bad_state(m, d)) return;
  sim.options.mujoco_law ? mj_forward(m, d) : forward_to_solver(sim, m, d, sim.passage(env, d), true);
  sim.fields->keep(d, env);
}

struct Visit {
  Impl* sim;
  const Impl::Visitor* visitor;
};

void visit_environment(const mjModel* m, mjData* d, int env, void* arg) {
  const Visit& visit = *static_cast<Visit*>(arg);
  Impl& sim = *visit.sim;
  Passage& p = sim.passage(env, d);
  if (!mjb_persistent(sim.batch.get())) {
    mj_setState(m, d, sim.begin_state(env), mjSTATE_INTEGRATION);
    begin(p, sim, env);
    run_step(sim, m, d, p);
  }
  (*visit.visitor)(m, d, p);
}

void look_for_effective_metric(const mjModel* m, mjData* d, int, void* arg) {
  mj_forward(m, d);
  *static_cast<bool*>(arg) = d->efm_active;
}

std::vector<int> indices_of(const std::vector<std::uint8_t>& flags) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) indices.push_back(int(i));
  return indices;
}

}  // namespace

Passage& Impl::passage(int env, const mjData* d) {
  if (mjb_persistent(batch.get())) return passages[env];
  for (Passage& p : passages) {  // as many as threads; each takes the first that is free
    const mjData* owner = p.data.load(std::memory_order_relaxed);
    if (owner == d) return p;
    if (!owner && p.data.compare_exchange_strong(owner, d, std::memory_order_relaxed)) return p;
  }
  mju_error("stickslip: more data than threads");  // as many as MuJoCo's batch has
  __builtin_unreachable();
}

void Impl::pass(mjfBatchFunc function, void* arg, bool save, const std::vector<int>& ids) {
  for (Passage& p : passages) p.ticks.fill(0);
  const auto start = std::chrono::steady_clock::now();
  const int* selected = ids.empty() ? nullptr : ids.data();
  if (mjb_apply(batch.get(), selected, int(ids.size()), function, arg, save) > 0) {
    const int* errors = mjb_status(batch.get());  // of others: what an earlier pass left
    const int passed = ids.empty() ? options.num_envs : int(ids.size());
    for (int i = 0; i < passed; ++i) {
      const int e = ids.empty() ? i : ids[i];
      if (!errors[e]) continue;
      const bool shortage = StepMemory::is_shortage(mjb_error(batch.get(), e));
      raised[e] = shortage ? Raised::shortage : Raised::error;
    }
  }
  // Wall time, split as the threads spent theirs.
  double* const totals[kNumStages] = {&timings.mujoco, &timings.gather, &timings.delassus,
                                      &timings.solve,  &timings.apply,  &timings.scatter};
  std::array<std::int64_t, kNumStages> ticks{};
  std::int64_t all = 0;
  for (const Passage& p : passages)
    for (int i = 0; i < kNumStages; ++i) {
      ticks[i] += p.ticks[i];
      all += p.ticks[i];
    }
  const double share = seconds_since(start) / double(std::max<std::int64_t>(1, all));
  for (int i = 0; i < kNumStages; ++i) *totals[i] += share * double(ticks[i]);
}

void Impl::pass_with_room(mjfBatchFunc function, void* arg, mjfBatchFunc again, bool save,
                          const std::vector<int>& ids) {
  std::fill(misfit.begin(), misfit.end(), 0);
  pass(function, arg, save, ids);
  retry_with_more_memory();
  for (auto waiting = indices_of(misfit); !waiting.empty(); waiting = indices_of(misfit)) {
    int rows = 0, contacts = 0;
    bool short_of_memory = false;
    for (Passage& p : passages) {
      rows = std::max(rows, p.rows_needed);
      contacts = std::max(contacts, p.contacts_needed);
      short_of_memory = std::exchange(p.short_of_memory, false) || short_of_memory;
    }
    if (short_of_memory) memory.grow();
    buffers->reserve(rows, contacts);
    std::fill(misfit.begin(), misfit.end(), 0);
    pass(again, arg, save, waiting);
    retry_with_more_memory();
  }
}

// Steps that MuJoCo could not make for want of memory are made again with more, if there is. On a
// GPU only the next step has it, for this one is half done.
void Impl::retry_with_more_memory() {
  for (std::size_t e = 0; e < raised.size(); ++e) {
    if (raised[e] != Raised::shortage || !memory.can_grow()) continue;
    if (gpu()) return memory.grow();
    raised[e] = Raised::nothing;
    misfit[e] = true;
    passages[0].short_of_memory = true;
    put_back(int(e));
  }
}

void Impl::put_back(int env) {
  mju_copy(mjb_state(batch.get()) + std::int64_t(env) * nstate, begin_state(env), nstate);
}

// Takes over what the GPU has solved of a half.
void Impl::take_half(int half) {
  const auto start = std::chrono::steady_clock::now();
  buffers->finish_on_gpu(half);
  for (const int e : halves[half]) take_solution(*this, passages[e]);
  timings.solve += seconds_since(start);
}

// Poses the next solves of a half and lets the GPU begin; problems that it holds may be moved.
void Impl::pose_half(int half, void* part) {
  pass_with_room(&gpu_part, part, &gpu_part_again, false, halves[half]);
  const auto start = std::chrono::steady_clock::now();
  for (const int e : halves[half]) {
    Passage& p = passages[e];
    p.failed = p.failed || raised[e] != Raised::nothing;
    if (p.failed) buffers->clear(p.slot);
  }
  buffers->start_on_gpu(half);
  timings.solve += seconds_since(start);
}

// While the GPU copies and solves one half of the batch, MuJoCo's stages of the other run.
void Impl::step_on_gpu() {
  const auto start = std::chrono::steady_clock::now();
  for (Part part{this, 0}; part.number <= solves(); ++part.number)
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

void Impl::step(int substeps) {
  begin_states.resize(std::size_t(options.num_envs) * nstate);
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  std::fill(substeps_left.begin(), substeps_left.end(), substeps);
  clear_verdicts(*this);
  std::vector<int> ids;  // who goes on; empty: all
  for (int i = 0; gpu() && i < substeps; ++i) {
    step_on_gpu();
    recover_raised();
  }
  while (!gpu()) {
    pass_with_room(&whole_steps, this, &whole_steps, true, ids);
    ids = recover_raised();
    std::erase_if(ids, [&](int e) { return --substeps_left[e] == 0; });
    if (ids.empty()) break;
  }
  for (Passage& p : passages) add(statistics, std::exchange(p.statistics, {}));
  timings.steps += substeps;
}

std::vector<int> Impl::recover_raised() {
  std::vector<int> ids, reset;
  for (int e = 0; e < options.num_envs; ++e) {
    if (raised[e] == Raised::nothing) continue;
    const bool shortage = raised[e] == Raised::shortage;
    report(*this, e, failure(shortage ? EnvStatus::over_capacity : EnvStatus::bad_input),
           statistics);
    put_back(e);
    ids.push_back(e);
    if (!shortage && autoreset()) reset.push_back(e);
  }
  if (!reset.empty())
    mjb_reset(batch.get(), reset.data(), int(reset.size()), nullptr, mjSTAGE_NONE);
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  return ids;
}

void Impl::forward(const std::vector<int>& ids) {
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  pass(&pose, this, true, ids);
  for (int e = 0; e < options.num_envs; ++e)
    if (raised[e] != Raised::nothing)
      report(*this, e,
             failure(raised[e] == Raised::shortage ? EnvStatus::over_capacity
                                                   : EnvStatus::bad_input),
             statistics);
}

// Constraints of flexes that MuJoCo solves in a metric of its own have no place in W.
void Impl::refuse_effective_metric() {
  bool active = false;
  const int env = 0;
  mjb_apply(batch.get(), &env, 1, &look_for_effective_metric, &active, false);
  if (active && !options.mujoco_law)
    throw std::invalid_argument(
        "the model's flexible bodies are solved in MuJoCo's effective metric, which is understood "
        "by law='mujoco' only");
}

bool Impl::revisit(int env, const Visitor& visitor) {
  if (begin_states.empty()) return false;
  Visit visit{this, &visitor};
  return mjb_apply(batch.get(), &env, 1, &visit_environment, &visit, false) == 0;
}

}  // namespace stickslip::mujoco
