// Inside of BatchSim: what the stage functions see.
#pragma once
#include <mujoco/mjbatch.h>

#include <atomic>
#include <chrono>

#include "src/mujoco/batch_sim.hpp"
#include "src/mujoco/rk4.hpp"

namespace stickslip::mujoco {

enum Stage { kMujoco, kGather, kApply, kScatter, kNumStages };

/// Work of all threads by stage within one pass, ns.
using StageWork = std::array<std::atomic<std::int64_t>, kNumStages>;

/// Adds the time since the last mark to a stage. Trivially destructible: MuJoCo's errors jump over
/// it.
class Lap {
 public:
  explicit Lap(StageWork& work) : work_(work), last_(std::chrono::steady_clock::now()) {}
  void mark(Stage stage) {
    const auto now = std::chrono::steady_clock::now();
    work_[stage].fetch_add((now - last_).count(), std::memory_order_relaxed);
    last_ = now;
  }

 private:
  StageWork& work_;
  std::chrono::steady_clock::time_point last_;
};

struct BatchDeleter {
  void operator()(mjBatch* b) const { mjb_deleteBatch(b); }
};

struct BatchSim::Impl {
  Impl(ModelPtr model, const SimOptions& options);

  void step();
  /// Runs one of the functions below on every environment; time goes to the stages it marks.
  void pass(mjfBatchFunc function, bool save);
  /// `begin` brings every environment up to the solver; afterwards all problems are solved.
  void solve_after(mjfBatchFunc begin);
  void record_verdicts();
  void fail(int env) { failed[env] = 1; }
  int worker_threads() const { return mjb_nthread(batch.get()); }

  SimOptions options;
  std::vector<std::string> warnings;
  ModelPtr own_model;  // until the batch has its copy
  Level level;
  std::unique_ptr<mjBatch, BatchDeleter> batch;
  const mjModel* model;
  std::unique_ptr<ProblemBuffers> buffers;
  std::unique_ptr<Rk4Memory> rk4;
  std::vector<const mjData*> data;  // each environment's, after its first step

  std::vector<double> sensordata, residual;
  std::vector<EnvStatus> status;
  std::vector<Solver> solver;
  std::vector<std::int32_t> iterations, num_contacts, num_rows, failures;
  std::vector<std::uint8_t> failed;  // in this step
  std::atomic<int> rows_needed{0}, contacts_needed{0};
  StageWork work{};
  Timings timings;
};

}  // namespace stickslip::mujoco
