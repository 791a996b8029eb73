#include "src/mujoco/step/velocity_step.hpp"

#include "src/mujoco/step/ghost_search.hpp"
#include "src/mujoco/step/impacts.hpp"
#include "src/mujoco/step/second_solve.hpp"
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {
namespace {

bool any_may_bounce(const StepContacts& contacts) {
  const auto may_bounce = [](const ContactModel& model) {
    return model.restitution > 0 && !is_soft(model);
  };
  if (contacts.own.empty()) return may_bounce(contacts.common);
  for (std::size_t i = 0; i < contacts.own.size(); ++i)
    if (contacts.use[i] == Use::included && may_bounce(contacts.own[i].model)) return true;
  return false;
}

}  // namespace

void finish_velocities(StepContext& step) {
  if (step.rows() == 0 || step.contacts.use.empty()) return;
  take_in_culled(step);
  leave_out_ghosts(step);
  if (step.failed || step.rows() == 0) return;
  if (any_may_bounce(step.contacts)) {
    limit_impacts(step);
    if (step.bounce < 1) take_in_culled(step);
  }
  if (!step.failed) soften_bursts(step);
  if (!step.failed && !solved(step)) shrink_unsolved(step);
}

}  // namespace stickslip::mujoco
