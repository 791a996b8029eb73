// Counts of the results of steps, and their times.
#pragma once
#include <array>
#include <cstdint>

#include "stickslip/types.hpp"

namespace stickslip::mujoco {

/// Result of a step for its environment.
struct Verdict {
  EnvStatus status = EnvStatus::solved;
  double residual = 0;
  int iterations = 0;
  Solver solver = Solver::automatic;
  int num_contacts = 0, num_rows = 0;
  int position_rounds = 0;
  double penetration = 0;  ///< m
  int rung = -1;           ///< of the solve; -1: no solve
  int second_solves = 0, ghosts = 0, culled = 0, taken_in = 0;
};

/// Counts of solves since construction, over all environments.
struct Statistics {
  std::array<std::int64_t, 5> by_status{};  ///< steps, by EnvStatus
  std::array<std::int64_t, 8> by_rung{};    ///< solved steps with rows, by the ladder's rung
  std::int64_t second_solves = 0;           ///< after the first of a step
  std::int64_t repositioned = 0;            ///< steps whose positions recover penetration
  std::int64_t ghosts = 0;                  ///< contacts that were left out (ghosts.hpp)
  std::int64_t culled = 0;                  ///< contacts that did not take part
  std::int64_t taken_in = 0;                ///< contacts that were culled first and solved later

  void count(const Verdict& step);
  void operator+=(const Statistics& other);
  /// Whether more than 1 % of 1,000 steps or more were not solved.
  bool fails_often() const;
};

/// Seconds of wall time by stage since construction, over all environments.
struct Timings {
  double mujoco = 0;    ///< MuJoCo's stages before and after the solver
  double gather = 0;    ///< rows, Jacobians, mass matrices, right sides
  double delassus = 0;  ///< W = J M^-1 J^T
  double solve = 0;
  double apply = 0;    ///< qfrc_constraint = J^T f, qacc
  double scatter = 0;  ///< efc_force
  std::int64_t steps = 0;
  double gpu_busy = 0;   ///< busy time, from first to last copy, sum of both halves
  double gpu_steps = 0;  ///< wall time of the steps that used the GPU
};

}  // namespace stickslip::mujoco
