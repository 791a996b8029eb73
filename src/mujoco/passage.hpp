// A step of one environment, from its state to its verdict.
#pragma once
#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {

// A step is cut at its solves: part k, 0 <= k <= sim.solves(), ends solve k - 1 and poses solve k.
// On the CPU that includes the solve.
//
// Here and below, nothing has a destructor across MuJoCo's calls: MuJoCo's errors leave them by
// longjmp. Where the problem is larger than the buffers, `misfit` says so, and nothing was done.
void run_part(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p, int k);

/// Poses the solve again for which there was no room.
void resume_part(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

/// All parts; with a misfit, d is back where it was.
void run_step(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

/// From a state to the stage before the solver, with contacts as the law needs them.
void forward_to_solver(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p, bool sensors);

/// The problem of the contacts that are marked as solved, in p's slot, without W.
void pose_problem(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p);

/// Looks at the latest solve, which is solved again from rest if its start cost it the solution.
void take_solution(BatchSim::Impl& sim, Passage& p);

}  // namespace stickslip::mujoco
