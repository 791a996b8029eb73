// From the first solve of a step to its velocities, at velocity level (docs/mathematics.md §12):
//
//   1. What was culled and closes all the same is taken in, and the problem solved again.
//   2. Ghosts are left out (ghosts.hpp).
//   3. Impacts that would gain energy bounce less (impacts.hpp).
//
// Few environments need more than the first solve. On a GPU that one is solved there, the others
// here, by the threads that step the environments, to the same bits.
#pragma once
#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {

/// To be called with the solution of the problem in p's slot; leaves the solution of the step there
/// and in `p.contacts` what took part in it.
void finish_velocities(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

/// Solves the problem in p's slot again, after its right side has changed, starting from the
/// impulses r [rows].
void solve_from(BatchSim::Impl& sim, Passage& p, const double* r);

}  // namespace stickslip::mujoco
