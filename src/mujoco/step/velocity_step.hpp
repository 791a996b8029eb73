// From the first solve of a step to its velocities, at velocity level (docs/mathematics.md §12):
//
//   1. Culled contacts that close nevertheless are added, and the problem is solved again.
//   2. Ghosts are left out (ghost_search.hpp).
//   3. Impacts that would gain energy bounce less (impacts.hpp).
//
// Few environments need more than the first solve. On a GPU, the first solve runs there; the others
// run here, on the threads that step the environments, with the same bits.
#pragma once
#include "src/mujoco/step/step_context.hpp"

namespace stickslip::mujoco {

/// Call it with the solution of the problem in the step's slot. It leaves the solution of the step
/// there, and in `step.contacts` which contacts were part of it.
void finish_velocities(StepContext& step);

}  // namespace stickslip::mujoco
