// Inside of BatchSim: what the functions see that MuJoCo's pool runs.
#pragma once
#include <mujoco/mjbatch.h>

#include <atomic>
#include <functional>

#include "src/mujoco/batch_sim.hpp"
#include "src/mujoco/fields.hpp"
#include "src/mujoco/rk4.hpp"
#include "src/mujoco/warm_start.hpp"

namespace stickslip::mujoco {

enum Stage { kMujoco, kGather, kDelassus, kSolve, kApply, kScatter, kNumStages };

/// What a step has found out about its environment.
struct Verdict {
  EnvStatus status = EnvStatus::solved;
  double residual = 0;
  int iterations = 0;
  Solver solver = Solver::automatic;
  int num_contacts = 0, num_rows = 0;
  int position_rounds = 0;
  double penetration = 0;  // m
};

/// An environment on its way through a step. Each thread has one; where all environments wait for
/// one solve (GPU), each environment has one.
struct alignas(64) Passage {
  std::atomic<const mjData*> data{nullptr};  // of the thread
  int slot = 0, env = 0;                     // slot: of the problem, in the buffers
  Verdict verdict;
  bool failed = false;  // the step
  bool misfit = false;  // the problem waits for more room
  bool warm = false;    // the solve starts from impulses of the last step
  int rows_needed = 0, contacts_needed = 0;
  std::array<std::int64_t, kNumStages> ticks{};  // of the processor, by stage
};

/// Adds the time since the last mark to a stage. Trivially destructible: MuJoCo's errors jump over
/// it. The processor's counter takes a third of the time of a clock's, and only shares are needed.
class Lap {
 public:
  explicit Lap(Passage& p) : p_(p), last_(__builtin_ia32_rdtsc()) {}
  void mark(Stage stage) {
    const std::int64_t now = __builtin_ia32_rdtsc();
    p_.ticks[stage] += now - last_;
    last_ = now;
  }

 private:
  Passage& p_;
  std::int64_t last_;
};

struct BatchDeleter {
  void operator()(mjBatch* b) const { mjb_deleteBatch(b); }
};

struct BatchSim::Impl {
  Impl(ModelPtr model, const SimOptions& options);

  void step(int substeps);
  /// Where an error of MuJoCo jumped over report and recovery. Returns whom it befell.
  std::vector<int> recover_raised();
  void forward(const std::vector<int>& ids);
  /// Shows the data of an environment as its latest step left them, and the slot of its problem. On
  /// the CPU they are long gone: the step is repeated, from the state in which it began. False
  /// where there was no step, or MuJoCo failed in it.
  using Visitor = std::function<void(const mjModel*, const mjData*, int slot)>;
  bool revisit(int env, const Visitor& visitor);

  bool gpu() const { return options.backend == Backend::cuda; }
  bool autoreset() const { return !(model->opt.disableflags & mjDSBL_AUTORESET); }
  int solves() const { return rk4 ? kRk4Stages : 1; }  ///< per step
  std::vector<int> selected(const std::uint8_t* mask) const;
  Passage& passage(int env, const mjData* d);
  mjtNum* begin_state(int env) { return begin_states.data() + std::int64_t(env) * nstate; }

  SimOptions options;
  std::vector<std::string> warnings;
  ModelPtr own_model;  // until the batch has its copy
  Level level;
  std::unique_ptr<mjBatch, BatchDeleter> batch;
  const mjModel* model;
  int nstate;
  std::vector<Passage> passages;
  ImpulseStore impulses;
  std::unique_ptr<ProblemBuffers> buffers;
  std::unique_ptr<Rk4Memory> rk4;
  std::unique_ptr<Fields> fields;
  std::vector<mjtNum> begin_states;  // where the latest step began; empty: there was none

  std::vector<double> sensordata, residual, penetration;
  std::vector<EnvStatus> status;
  std::vector<Solver> solver;
  std::vector<std::int32_t> iterations, num_contacts, num_rows, failures, position_rounds;
  std::vector<std::int32_t> substeps_left;
  std::vector<std::uint8_t> misfit;  // the problem waits for more room
  std::vector<std::uint8_t> raised;  // an error of MuJoCo ended the step
  std::array<std::vector<int>, ProblemBuffers::kHalves> halves;  // of the environments, on a GPU
  Timings timings;

 private:
  void pass(mjfBatchFunc function, void* arg, bool save, const std::vector<int>& ids = {});
  void pass_with_room(mjfBatchFunc function, void* arg, mjfBatchFunc again, bool save,
                      const std::vector<int>& ids = {});
  void step_on_gpu();
  void take_half(int half);
  void pose_half(int half, void* part);
};

}  // namespace stickslip::mujoco
