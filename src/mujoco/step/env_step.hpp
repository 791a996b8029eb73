// A step of one environment, from its state to its verdict.
#pragma once
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

/// For the next step of its environment.
void begin_context(StepContext& step);

// A step is divided at its solves: part k, 0 <= k <= sim.solves(), completes solve k - 1 and poses
// solve k. On the CPU it includes the solve.
//
// Here and below, no object with a destructor is alive across MuJoCo's calls, because MuJoCo's
// errors leave them by longjmp. If the problem is larger than the buffers, `misfit` is set and
// nothing is done.
void run_part(StepContext& step, int k);

/// After the first solve of a step: the other solves of the rigid laws. Does not advance d.
void finish_solution(StepContext& step);

/// Poses the solve again that did not fit the buffers.
void resume_part(StepContext& step);

/// All parts; after a misfit, d has its initial state again.
void run_step(StepContext& step);

/// From a state to the stage before the solver, with the contacts that the law needs.
void forward_to_solver(StepContext& step, bool sensors);

/// Its second part: forward_velocities of stages.hpp, and friction at these velocities.
void forward_velocities(StepContext& step, bool sensors);

/// The problem of the contacts that are included, in the step's slot, without W.
void pose_problem(StepContext& step);

}  // namespace stickslip::mujoco
