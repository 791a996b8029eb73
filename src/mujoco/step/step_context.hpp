// An environment during a step: all that the functions of a step work on.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "src/mujoco/contacts/ghosts.hpp"
#include "src/mujoco/contacts/look_ahead.hpp"
#include "src/mujoco/problem/problem_buffers.hpp"
#include "src/mujoco/problem/saved_problem.hpp"
#include "src/mujoco/step/statistics.hpp"

namespace stickslip::mujoco {

struct SimBatch;

enum Phase { kMujoco, kGather, kDelassus, kSolve, kApply, kScatter, kNumPhases };

/// Each thread has one, with the memory of its steps; if all environments wait for one solve (GPU),
/// each environment has one.
struct alignas(64) StepContext {
  SimBatch* sim = nullptr;
  const mjModel* m = nullptr;  // of the environment
  mjData* d = nullptr;
  int env = 0;
  ProblemBuffers* buffers = nullptr;
  int slot = 0;                               // of the problem, in the buffers
  std::atomic<const mjData*> owner{nullptr};  // the data of the thread that has it
  int first_of = 0;                           // steps of a call, if the step is its first
  Verdict verdict;
  bool failed = false;           // the step
  bool misfit = false;           // the problem needs more room in the buffers
  bool short_of_memory = false;  // MuJoCo had no memory for all contacts and constraints
  bool warm = false;             // the solve starts from impulses of the last step
  bool another = false;          // which serve in place of the selected ones
  int unsolved = 0;              // solves of the step that found no solution
  bool limited = false;          // its solves get less work than usual
  // At velocity level:
  StepContacts contacts;
  double bounce = 1;          // factor on the restitution
  bool repositioned = false;  // positions move with `position_velocity`, not with the velocity
  std::vector<double> parting_b, parting_R, parting_u;  // [rows] of parting.cpp
  std::vector<double> end_velocity, position_velocity;
  // Memory for trial solutions.
  Margins margins;
  ShallowModel undamped;  // for the integrator
  std::vector<GeomPair> pairs;
  std::vector<int> suspects;  // contacts that may be ghosts
  BeginPoses poses;
  SavedProblem saved, with_suspects, first_try;
  std::vector<Use> use_with_suspects;
  std::vector<double> trial, difference;
  int rows_needed = 0, contacts_needed = 0;
  std::array<std::int64_t, kNumPhases> ticks{};  // processor cycles by phase
  Statistics statistics;                         // of the steps since the last summation

  // The problem in its slot, and the result of its latest solve.
  EnvSlot problem() const { return buffers->slot(slot); }
  int rows() const { return buffers->rows(slot); }
  const double* impulse() const { return buffers->results().impulse(slot); }
  EnvStatus status() const { return buffers->results().status(slot); }

  /// Whether the step makes no more solves than it must: each that finds no solution may take its
  /// whole budget, and the verdict on the step is known; or the step means nothing.
  bool gives_up() const {
    return failed || unsolved >= 2 || (limited && verdict.second_solves >= 4);
  }
};

/// The processor's counter: reading it takes a third of the time of reading a clock.
inline std::int64_t processor_ticks() {
#if defined(__aarch64__)
  std::int64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return std::int64_t(__builtin_ia32_rdtsc());
#endif
}

/// Adds the time since the last mark to a phase. Trivially destructible, because MuJoCo's errors
/// jump over it. In ticks, because only shares are needed.
class PhaseTimer {
 public:
  explicit PhaseTimer(StepContext& step) : step_(step), last_(processor_ticks()) {}
  void mark(Phase phase) {
    const std::int64_t now = processor_ticks();
    step_.ticks[phase] += now - last_;
    last_ = now;
  }

 private:
  StepContext& step_;
  std::int64_t last_;
};

}  // namespace stickslip::mujoco
