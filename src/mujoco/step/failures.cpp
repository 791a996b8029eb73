#include "src/mujoco/step/failures.hpp"

#include <limits>

#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

int memory_warnings(const mjData* d) {
  return d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number;
}

void note_left_out(StepContext& step, int warnings_before) {
  const bool left_out = memory_warnings(step.d) != warnings_before;
  if (left_out || step.sim->memory.exceeded(step.d)) step.verdict.status = EnvStatus::over_capacity;
  step.short_of_memory = left_out && step.sim->memory.can_grow();
}

void go_back(const StepContext& step) {
  mj_setState(step.m, step.d, step.sim->begin_state(step.env), mjSTATE_INTEGRATION);
}

void recover(const StepContext& step) {
  if (!step.sim->autoreset()) return go_back(step);
  mj_resetData(step.m, step.d);
  step.sim->clear_sensors(step.env);
}

void refuse(Verdict& v) {
  v.status = EnvStatus::bad_input;
  v.residual = std::numeric_limits<double>::infinity();
}

void fail(StepContext& step) {
  refuse(step.verdict);
  step.verdict.num_contacts = step.verdict.num_rows = 0;
  recover(step);
}

}  // namespace stickslip::mujoco
