// The simulations of a batch, as the functions of a step see them: what BatchSim is made of.
#pragma once
#include <chrono>
#include <functional>

#include "src/api/exclusive_use.hpp"
#include "src/cpu/thread_pool.hpp"
#include "src/mujoco/contacts/contact_models.hpp"
#include "src/mujoco/contacts/contact_record.hpp"
#include "src/mujoco/contacts/contact_sensors.hpp"
#include "src/mujoco/contacts/look_ahead.hpp"
#include "src/mujoco/model/fields.hpp"
#include "src/mujoco/model/model.hpp"
#include "src/mujoco/model/pool.hpp"
#include "src/mujoco/problem/warm_start.hpp"
#include "src/mujoco/step/rk4.hpp"
#include "src/mujoco/step/sim_options.hpp"
#include "src/mujoco/step/step_context.hpp"
#include "src/mujoco/step/step_memory.hpp"

namespace stickslip::mujoco {

template <class T>
std::vector<int> indices_of(const std::vector<T>& values) {  // other than 0
  std::vector<int> indices;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) indices.push_back(int(i));
  return indices;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct SimBatch {
  SimBatch(LoadedModel model, const SimOptions& options);

  void step(int count);
  /// After an error of MuJoCo jumped over report and recovery. Returns the affected environments.
  std::vector<int> recover_raised();
  void forward(const std::vector<int>& ids);
  void refuse_effective_metric();
  /// Calls `function` for every environment, which repeats a step and sets `misfit` where its
  /// problem needs more room.
  void repeat_steps(mjfBatchFunc function, void* arg);
  /// Calls the visitor with the data of environments as their latest step left them, and with the
  /// slot of its problem. On the CPU these data are not kept: the step is repeated from the state
  /// in which it began. False if there was no step, or if MuJoCo failed in one.
  using Visitor = std::function<void(const StepContext&)>;
  bool revisit(const std::vector<int>& ids, const Visitor& visitor);
  /// Of every environment; empty except for those with `ids`.
  std::vector<std::vector<ContactRecord>> contacts(const std::vector<int>& ids);

  bool rigid() const { return formulation.level == Level::velocity && !formulation.model_softness; }
  bool gpu() const { return options.backend == Backend::cuda; }
  bool autoreset() const { return !(model->opt.disableflags & mjDSBL_AUTORESET); }
  int solves() const { return rk4 ? kRk4Stages : 1; }  ///< per step
  std::vector<int> selected(const std::uint8_t* mask) const;
  /// What MuJoCo's data show as sensordata; nothing has been sensed after a reset.
  void keep_sensors(const StepContext& step);
  void clear_sensors(int env);
  /// The context of the thread, or of the environment, that steps `env` in d.
  StepContext& enter(int env, const mjModel* m, mjData* d);
  mjtNum* begin_state(int env) { return begin_states.data() + std::int64_t(env) * nstate; }
  /// What the batch keeps between passes.
  mjtNum* stored_state(int env) { return mjb_state(batch.get()) + std::int64_t(env) * nstate; }

  SimOptions options;
  ExclusiveUse caller{"BatchSim"};
  std::function<bool()> go_on;  // see BatchSim::watch
  CancellationToken token;      // of the step in progress
  std::vector<std::string> warnings, ignored_fields;
  Formulation formulation;
  Pool batch;
  const mjModel* model;
  int nstate;
  std::vector<StepContext> contexts;
  ImpulseStore impulses;
  LookAhead look_ahead;
  ContactModels contact_models;          // of rigid laws
  std::vector<Separations> separations;  // of every environment
  StepMemory memory;
  std::unique_ptr<ProblemBuffers> buffers;
  std::unique_ptr<Rk4Memory> rk4;
  std::unique_ptr<Fields> fields;
  std::unique_ptr<ContactSensors> contact_sensors;
  std::vector<mjtNum> begin_states;  // state before the latest step; empty: there was none

  std::vector<double> sensordata, residual, penetration;
  std::vector<EnvStatus> status;
  std::vector<Solver> solver;
  std::vector<std::int32_t> iterations, num_contacts, num_rows, failures, position_rounds;
  int substeps = 1;  // of the call in progress
  std::vector<std::int32_t> substeps_left;
  std::vector<std::uint8_t> misfit;  // the problem needs more room in the buffers
  enum class Raised : std::uint8_t { nothing, error, shortage };
  std::vector<Raised> raised;  // an error of MuJoCo, or too little memory, ended the step
  std::array<std::vector<int>, ProblemBuffers::kHalves> halves;  // of the environments, on a GPU
  Timings timings;
  Statistics statistics;

 private:
  void pass(mjfBatchFunc function, void* arg, bool save, const std::vector<int>& ids = {});
  void pass_with_room(mjfBatchFunc function, void* arg, mjfBatchFunc again, bool save,
                      const std::vector<int>& ids = {});
  void step_on_gpu(int step);
  void retry_with_more_memory();
  StepContext& context_of(int env, const mjData* d);
  void put_back(int env);  // to where its step began
  void take_half(int half);
  void pose_half(int half, void* part);
};

}  // namespace stickslip::mujoco
