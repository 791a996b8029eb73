// Passes of MuJoCo's pool over the environments, repeated for those that had too little room.
#include <algorithm>
#include <utility>

#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

StepContext& SimBatch::enter(int env, const mjModel* m, mjData* d) {
  StepContext& step = context_of(env, d);
  step.env = env;
  step.m = m;
  step.d = d;
  return step;
}

StepContext& SimBatch::context_of(int env, const mjData* d) {
  if (mjb_persistent(batch.get())) return contexts[env];
  for (StepContext& step : contexts) {  // one per thread; each takes the first that is free
    const mjData* owner = step.owner.load(std::memory_order_relaxed);
    if (owner == d) return step;
    if (!owner && step.owner.compare_exchange_strong(owner, d, std::memory_order_relaxed))
      return step;
  }
  mju_error("stickslip: more data than threads");  // the number of MuJoCo's batch
  __builtin_unreachable();
}

void SimBatch::pass(mjfBatchFunc function, void* arg, bool save, const std::vector<int>& ids) {
  for (StepContext& step : contexts) step.ticks.fill(0);
  const auto start = std::chrono::steady_clock::now();
  if (batch.apply(ids, function, arg, save) > 0) {
    const int* errors = mjb_status(batch.get());  // for others, the result of an earlier pass
    const int passed = ids.empty() ? options.num_envs : int(ids.size());
    for (int i = 0; i < passed; ++i) {
      const int e = ids.empty() ? i : ids[i];
      if (!errors[e]) continue;
      const bool shortage = StepMemory::is_shortage(mjb_error(batch.get(), e));
      raised[e] = shortage ? Raised::shortage : Raised::error;
    }
  }
  // Wall time, divided in proportion to the time of the threads.
  double* const totals[kNumPhases] = {&timings.mujoco, &timings.gather, &timings.delassus,
                                      &timings.solve,  &timings.apply,  &timings.scatter};
  std::array<std::int64_t, kNumPhases> ticks{};
  std::int64_t all = 0;
  for (const StepContext& step : contexts)
    for (int i = 0; i < kNumPhases; ++i) {
      ticks[i] += step.ticks[i];
      all += step.ticks[i];
    }
  const double share = seconds_since(start) / double(std::max<std::int64_t>(1, all));
  for (int i = 0; i < kNumPhases; ++i) *totals[i] += share * double(ticks[i]);
}

void SimBatch::pass_with_room(mjfBatchFunc function, void* arg, mjfBatchFunc again, bool save,
                              const std::vector<int>& ids) {
  std::fill(misfit.begin(), misfit.end(), 0);
  pass(function, arg, save, ids);
  retry_with_more_memory();
  for (auto waiting = indices_of(misfit); !waiting.empty(); waiting = indices_of(misfit)) {
    int rows = 0, contacts = 0;
    bool short_of_memory = false;
    for (StepContext& step : contexts) {
      rows = std::max(rows, step.rows_needed);
      contacts = std::max(contacts, step.contacts_needed);
      short_of_memory = std::exchange(step.short_of_memory, false) || short_of_memory;
    }
    if (short_of_memory) memory.grow();
    buffers->reserve(rows, contacts);
    std::fill(misfit.begin(), misfit.end(), 0);
    pass(again, arg, save, waiting);
    retry_with_more_memory();
  }
}

// Steps that MuJoCo could not make for lack of memory are repeated with more, if possible. On a GPU
// only the next step has it, because the present one is already half done.
void SimBatch::retry_with_more_memory() {
  for (std::size_t e = 0; e < raised.size(); ++e) {
    if (raised[e] != Raised::shortage || !memory.can_grow()) continue;
    if (gpu()) return memory.grow();
    raised[e] = Raised::nothing;
    misfit[e] = true;
    contexts[0].short_of_memory = true;
    put_back(int(e));
  }
}

void SimBatch::repeat_steps(mjfBatchFunc function, void* arg) {
  const Timings before = timings;  // of steps alone
  std::fill(raised.begin(), raised.end(), Raised::nothing);
  std::fill(misfit.begin(), misfit.end(), 0);
  std::vector<int> ids;
  do {
    pass(function, arg, false, ids);
    ids = indices_of(misfit);
    int rows = 0, contacts = 0;
    for (StepContext& step : contexts) {
      rows = std::max(rows, step.rows_needed);
      contacts = std::max(contacts, step.contacts_needed);
    }
    buffers->reserve(rows, contacts);
    std::fill(misfit.begin(), misfit.end(), 0);
  } while (!ids.empty());
  timings = before;
}

void SimBatch::put_back(int env) { mju_copy(stored_state(env), begin_state(env), nstate); }

}  // namespace stickslip::mujoco
