// Inside of BatchSim: what the stage functions see.
#pragma once
#include <mujoco/mjbatch.h>

#include <atomic>
#include <chrono>

#include "src/mujoco/batch_sim.hpp"
#include "src/mujoco/rk4.hpp"

namespace stickslip::mujoco {

enum Stage { kMujoco, kGather, kDelassus, kSolve, kApply, kScatter, kNumStages };

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
  /// Runs a function on the environments `ids` (empty: all); time goes to the stages it marks.
  void pass(mjfBatchFunc function, bool save, const std::vector<int>& ids = {});
  /// Runs `begin`, then, with more room, `resume` on the environments whose problems did not fit.
  void pass_with_room(mjfBatchFunc begin, mjfBatchFunc resume, bool save);
  /// Brings all environments up to the solver by `begin` and solves their problems.
  void solve_after(mjfBatchFunc begin);
  void merge_verdict(int env, EnvStatus s, double res, int its, Solver by);
  void close_step();

  void fail(int env) { failed[env] = 1; }
  bool gpu() const { return options.backend == Backend::cuda; }
  bool autoreset() const { return !(model->opt.disableflags & mjDSBL_AUTORESET); }

  SimOptions options;
  std::vector<std::string> warnings;
  ModelPtr own_model;  // until the batch has its copy
  Level level;
  std::unique_ptr<mjBatch, BatchDeleter> batch;
  const mjModel* model;
  std::unique_ptr<ProblemBuffers> buffers;
  std::unique_ptr<Rk4Memory> rk4;
  std::vector<const mjData*> data;  // each environment's, after its first step

  std::vector<double> sensordata, residual, penetration;
  std::vector<EnvStatus> status;
  std::vector<Solver> solver;
  std::vector<std::int32_t> iterations, num_contacts, num_rows, failures, position_rounds;
  std::vector<std::uint8_t> failed, raised;  // in this step; raised: by an error of MuJoCo
  std::vector<std::uint8_t> misfit;          // the problem waits for more room
  std::atomic<int> rows_needed{0}, contacts_needed{0};
  StageWork work{};
  Timings timings;
};

}  // namespace stickslip::mujoco
