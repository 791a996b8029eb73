// The positions of a step. Its velocities keep gaps, but do not recover penetration: what recovery
// they had would stay with the bodies. So where a contact ends deeper than it may, the same problem
// is solved again, from the same W, with a bias that makes up for it; the positions move with the
// velocities v_b of that solve, and the step's velocities stay (docs/mathematics.md §12).
//
// The gaps at the end, q' = q ⊕ h v, are linear in v; or, with `position_iterations`, measured
// there, and corrected until they are kept (the fixpoint iteration of Hotz et al., Calculation of
// Contact Forces, §2.2): contacts, J and W stay those of the beginning,
//     δ(q') ≥ min(0, δ(q) + h v_max)  ⟂  r_n ≥ 0
#pragma once
#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {

/// Finds the velocity with which positions move, by at most `position_iterations` more solves (1,
/// if gaps are linear); that whose gaps fall short the least. To be called between the solve and
/// its use; leaves d and the solution as they are.
void keep_gaps(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

}  // namespace stickslip::mujoco
