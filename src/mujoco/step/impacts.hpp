// A limit on the energy that contacts add in a step. Their work is their impulses times the mean of
// the velocities before and after,
//
//     E = r · ½ (u⁻ + u⁺) = ½ r · (u⁻ + u_free) + ½ r · W r        over the contacts' rows,
//
// It is zero for resting contacts and for one ball that bounces at e = 1, and it must not be
// positive. Newton's law of impact with friction can make it positive if several contacts, or the
// joints of a mechanism, are coupled (Stronge, Impact Mechanics, §3.5): then contacts bounce with s
// e instead of e. r is linear in s as long as no contact changes between open, sticking and
// slipping, so E is a parabola through E(0), E(1).
#pragma once
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

/// If the solution in the step's slot gains energy, replaces it by one that does not.
void limit_impacts(StepContext& step);

/// Where contacts squeeze what has no way out but an absurdly fast one (their normals are opposed
/// but for a small angle e: 1/e of the velocity that they meet), the impulses are those of softer
/// contacts instead, and the step counts as not solved.
void soften_bursts(StepContext& step);

/// Reduces the contacts' impulses of a failed solve until they gain no energy.
void shrink_unsolved(StepContext& step);

}  // namespace stickslip::mujoco
