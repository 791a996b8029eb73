// The reference of a non-monotone line search (Grippo, Lampariello & Lucidi 1986).
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The largest of the last eight merits. With one (monotone) the search stalls at kinks; with four
/// Newton loses 15 % of the robots' hard problems. In memory, because a GPU has few registers and
/// cannot index them.
struct MeritHistory {
  static constexpr int kLength = 8;
  double last[kLength] = {};  ///< merits are >= 0: unused places have no effect
  int count = 0;

  SS_HD void push(double merit) { last[count++ % kLength] = merit; }
  SS_HD void skip() { ++count; }  ///< a step that failed
  SS_HD double newest() const { return last[(count - 1) % kLength]; }
  SS_HD double reference() const {
    double largest = 0.0;
    for (int i = 0; i < kLength; ++i) largest = max(largest, last[i]);
    return largest;
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
