// The positions of a step. Its velocities keep gaps, but do not recover penetration, because a
// recovery velocity would remain with the bodies. So if a contact ends deeper than allowed, the
// same problem is solved again, with the same W and a bias that corrects the depth; the positions
// move with the velocities v_b of that solve, and the step's velocities do not change
// (docs/mathematics.md §12).
//
// The gaps at the end, q' = q ⊕ h v, are linear in v; or, with `position_iterations`, they are
// measured there and corrected until they are satisfied (the fixed-point iteration of Hotz et al.,
// Calculation of Contact Forces, §2.2), with contacts, J and W of the beginning:
//     δ(q') ≥ min(0, δ(q) + h v_max)  ⟂  r_n ≥ 0
#pragma once
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

/// Finds the velocity with which positions move, by at most `position_iterations` more solves (1 if
/// gaps are linear); the result is the velocity with the smallest gap violation. Call it between
/// the solve and its use; it does not change d or the solution.
void keep_gaps(StepContext& step);

/// Kinetic energy of the velocities v [nv] in d's pose, J.
double kinetic_energy(const mjModel* m, mjData* d, const double* v);

}  // namespace stickslip::mujoco
