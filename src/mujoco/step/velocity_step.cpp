#include "src/mujoco/step/velocity_step.hpp"

#include "src/mujoco/step/ghost_search.hpp"
#include "src/mujoco/step/impacts.hpp"
#include "src/mujoco/step/second_solve.hpp"
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {
void finish_velocities(StepContext& step) {
  if (step.rows() == 0 || step.contacts.use.empty()) return;
  take_in_culled(step);
  leave_out_ghosts(step);
  if (step.failed || step.rows() == 0) return;
  if (step.sim->options.contact.restitution > 0 && step.sim->options.contact.compliance == 0) {
    limit_impacts(step);
    if (step.bounce < 1) take_in_culled(step);
  }
  if (!step.failed) soften_bursts(step);
  if (!step.failed && !solved(step)) shrink_unsolved(step);
}

}  // namespace stickslip::mujoco
