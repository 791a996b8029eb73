// What contacts may do to the energy of a step. Their work is their impulses' times the mean of the
// velocities before and after,
//
//     E = r · ½ (u⁻ + u⁺) = ½ r · (u⁻ + u_free) + ½ r · W r        over the contacts' rows,
//
// zero for what rests and for one ball that bounces at e = 1. It must not be positive. Newton's law
// of impact with friction can make it so, where several contacts or a mechanism's joints hang
// together (Stronge, Impact Mechanics, §3.5): then contacts bounce with s e instead of e. r is
// linear in s while no contact opens, closes, sticks or slips anew, so E is a parabola through
// E(0), E(1).
#pragma once
#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {

/// Replaces the solution in p's slot by one that gains no energy, if it does.
void limit_impacts(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

/// Shrinks the contacts' impulses of a solve that failed until they gain no energy.
void shrink_unsolved(BatchSim::Impl& sim, const mjData* d, Passage& p);

}  // namespace stickslip::mujoco
