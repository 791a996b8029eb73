// Which contacts of a step are ghosts (ghosts.hpp): found by solving without the suspects.
//
//   repeat while there are new suspects, contacts that act but may be none:
//     leave their pairs out, and solve; until the solution has no new suspects
//     repeat while pairs that were left out touch on the path of that solution:
//       take their real contacts in, and solve
//
// If all are taken in again, as is usual, the problem with all of them is restored.
#pragma once
#include "src/mujoco/step/step_context.hpp"

namespace stickslip::mujoco {

/// Marks the ghosts in `step.contacts`, and leaves the solution without them.
void leave_out_ghosts(StepContext& step);

}  // namespace stickslip::mujoco
