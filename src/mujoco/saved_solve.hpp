// A solve that is kept while others are tried in its place.
#pragma once
#include <vector>

#include "src/mujoco/problem_buffers.hpp"

namespace stickslip::mujoco {

/// Right side, start and result. Reused: it allocates when the problems grow.
struct SavedSolve {
  std::vector<double> b, warm_start, impulse;
  EnvStatus status{};
  double residual = 0;
  int iterations = 0, rung = 0;
  Solver solver{};

  /// Takes over what is in the slot.
  void keep(ProblemBuffers& buffers, int slot);
  /// Makes it the latest solve of the slot again; the problem's rows must be the same.
  void restore(ProblemBuffers& buffers, int slot) const;
};

}  // namespace stickslip::mujoco
