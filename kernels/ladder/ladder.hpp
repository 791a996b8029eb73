// The ladder of a solve: the stages that its options stand for. Each starts where the one before
// ended, until one of them solves; the result is the best impulse of all stages. Built on the host
// (kernels/ladder/ladder.cpp) and handed to the kernels by value, with the options.
#pragma once
#include "kernels/ladder/kernel_variant.hpp"

namespace stickslip::kernels {

inline constexpr int kRetryRows =
    96;  ///< with more, a problem without a solution would take too long
inline constexpr int kFewRows = 64;  ///< with more, first the proof that there is no solution
inline constexpr int kPileRows =
    128;  ///< with more, selecting among solutions has less success and costs more: fewer steps
inline constexpr int kPileSteps = 30;
inline constexpr int kOtherBasins = 2;      ///< rungs from this one on search in other basins
inline constexpr int kMostSteps = 1 << 24;  ///< of `max_newton`, so that its multiples fit an int

struct Ladder {
  static constexpr int kCapacity = 64;
  static constexpr int kCycle = 2;

  SolveOptions options;
  KernelVariant variant = KernelVariant::rung0;  ///< with which a solve begins
  bool has_later_rungs = false;                  ///< stages after rung 0
  int count = 0;                                 ///< of stages
  int cycle = 0;             ///< index of the last kCycle stages, which are repeated
  int turns = 1;             ///< how often they run, each time with the next seeds
  bool selects = false;      ///< one solution among many
  Stage selection;           ///< runs once a solution is found that is not the selected one
  Stage softened_answer;     ///< where there is no solution, or the best impulse is far from one
  int softenings = 1;        ///< stages that search for it
  bool answers_far = false;  ///< the latter: not under laws that always have a solution
  Stage stages[kCapacity];

  /// The ladder of valid options (check_solve). Implicit, so that callers may pass options.
  Ladder(const SolveOptions& options);

  /// Stage `index`; Method::none after the last.
  SS_HD Stage stage(int index) const {
    if (index < count) return stages[index];
    const int beyond = index - count, turn = 1 + beyond / kCycle;
    if (turn >= turns) return {};
    Stage stage = stages[cycle + beyond % kCycle];
    stage.seed += kCycle * turn;
    return stage;
  }

  /// Stage `index` of the search for the softened answer; Method::none after the last. If the first
  /// fails, the others go from softer contacts, which are solved from rest, to these.
  SS_HD Stage softening(int index) const {
    constexpr double kSofter = 1.5;
    if (index >= softenings) return {};
    Stage stage = softened_answer;
    if (index == 0) return stage;
    if (index > 1) stage.start = Start::last;
    for (int i = index + 1; i < softenings; ++i) stage.soften *= kSofter;
    return stage;
  }
};

}  // namespace stickslip::kernels
