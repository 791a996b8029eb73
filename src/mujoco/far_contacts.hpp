// Contacts that MuJoCo has found by the margins of this step.
#pragma once
#include "src/mujoco/look_ahead.hpp"

namespace stickslip::mujoco {

/// Leaves out contacts that will not close within the step by what their bodies' velocities are
/// now, with half of the relative speed (the speeds of both, of different mechanisms), what near
/// bodies push, and 1 m/s to spare; writes the gaps of the others: the distance less the margin
/// that the model itself asks for, m.
void leave_out_far_contacts(const mjModel* m, mjData* d, const Margins& margins,
                            std::vector<double>& gaps);

}  // namespace stickslip::mujoco
