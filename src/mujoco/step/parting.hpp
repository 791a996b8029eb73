// Recovery from overlap where the problem of a round (position.hpp) has no solution: no motion
// parts two geoms, or friction holds them, as in a corner of walls with mu >= 1. Others must not
// wait for these.
#pragma once
#include "src/mujoco/contacts/end_gaps.hpp"
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

/// W_nn of the contact whose normal is the row, 1/kg; or a share of what the geoms have aside,
/// where the gap hardly depends on the joints: its linearisation requires any motion. `diagonal`:
/// of W.
double mobility(const StepContext& step, const double* diagonal, int row);

/// Contacts without friction, slightly soft, move everything on from the end of the last round by
/// as little as parts it; this always has a solution. Adds their impulses to those of that round,
/// which are the warm start of the slot. What has no more than the least mobility, nothing parts.
void part_without_friction(StepContext& step, const StepContact* contacts, int num_contacts,
                           double least_mobility);

}  // namespace stickslip::mujoco
