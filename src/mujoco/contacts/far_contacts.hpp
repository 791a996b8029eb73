// Contacts that MuJoCo found with the margins of this step.
#pragma once
#include "src/mujoco/contacts/look_ahead.hpp"
#include "src/mujoco/contacts/step_contacts.hpp"

namespace stickslip::mujoco {

/// Removes contacts that will not close within the step at the present velocities of their bodies,
/// with these reserves: half of the relative speed (for different mechanisms, the speeds of both),
/// what near bodies push, and 1 m/s. Writes the gaps of the others: the distance minus the margin
/// that the model itself specifies, m; and the model's `gap`. All count as solved.
void leave_out_far_contacts(const mjModel* m, mjData* d, const Margins& margins,
                            StepContacts& contacts);

}  // namespace stickslip::mujoco
