// Contacts that MuJoCo has found by the margins of this step.
#pragma once
#include "src/mujoco/look_ahead.hpp"

namespace stickslip::mujoco {

/// Gap of a contact that MuJoCo found with `margins`, m: its distance less the margin that the
/// model itself asks for.
double gap_of(const mjModel* m, const mjContact& contact, const Margins& margins);

/// Leaves out contacts that will not close within the step by what their bodies' velocities are
/// now, with half of the relative speed (the speeds of both, of different mechanisms), what near
/// bodies push, and 1 m/s to spare; writes the gaps of the others.
void leave_out_far_contacts(const mjModel* m, mjData* d, const Margins& margins,
                            std::vector<double>& gaps);

}  // namespace stickslip::mujoco
