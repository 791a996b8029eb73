// Solves after the first one of a step: with other contacts, or with another right side. Few
// environments need them. They run on the threads that step the environments, also where the first
// solve ran on a GPU, with the same bits.
#pragma once
#include "src/mujoco/step/step_context.hpp"

namespace stickslip::mujoco {

/// Whether the latest solve found a solution.
bool solved(const StepContext& step);

/// Takes over the latest solve; if it failed from a warm start, solves again from rest, in case the
/// start caused that. The better result remains.
void take_solution(StepContext& step);

/// Writes `step.end_velocity`, that after the impulses of the latest solve.
void find_end_velocity(StepContext& step);

/// Solves the problem of the contacts that are marked now, from the last solution.
void solve_marked(StepContext& step, Effort effort = Effort::full);

/// Adds culled contacts that close nevertheless, and solves again, until the solution is that of
/// all contacts except ghosts.
void take_in_culled(StepContext& step);

/// Solves the problem in the step's slot again, after its right side has changed, starting from the
/// impulses r [rows].
void solve_from(StepContext& step, const double* r, Effort effort = Effort::full);

}  // namespace stickslip::mujoco
