// Newton's law of impact with friction can gain energy, where several contacts or a mechanism's
// joints hang together (Kane's pendulum; Stronge, Impact Mechanics, §3.5). The kinetic energy, in
// the metric of the integrator, changes through the contacts by
//
//     E = ½ r · (u⁺ + u_free)        over the contacts' rows
//
// which must not be positive. Where it is, contacts bounce with s e instead of e: r is linear in s
// while no contact opens, closes, sticks or slips anew, so E is a parabola through E(0) and E(1).
#pragma once
#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {

/// Replaces the solution in p's slot by one that gains no energy, if it does.
void limit_impacts(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

/// Shrinks the contacts' impulses of a solve that failed until they gain no energy.
void shrink_unsolved(BatchSim::Impl& sim, const mjData* d, Passage& p);

}  // namespace stickslip::mujoco
