// Non-penetration at the end of the step, by the fixpoint iteration of Hotz et al., Calculation of
// Contact Forces, §2.2 (docs/mathematics.md §12). Contacts, rows J and the matrix W stay those of
// the beginning, q; the bias of each normal row is corrected until the gaps at q' = q ⊕ h v',
// measured there, are kept:
//     δ(q') ≥ min(0, δ(q) + h v_max)  ⟂  r_n ≥ 0
#pragma once
#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {

/// Improves the solution in the buffers by at most `position_iterations` more solves, and keeps the
/// one whose gaps fall short the least. To be called between the solve and its use; leaves d as it
/// is.
void keep_gaps(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

}  // namespace stickslip::mujoco
