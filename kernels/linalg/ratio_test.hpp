// The ratio test of pivoting methods with the slack of Harris (1973): which variable leaves when
// the entering one grows.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A variable at `room` >= 0 above zero falls with `slope` as the entering variable grows. The
/// longest step keeps every variable above -slack. Of those that reach zero within it, the one with
/// the largest pivot leaves.
template <class Real>
struct RatioTest {
  Real least;  ///< smaller slopes are not pivots
  Real slack;  ///< delta: by how much a variable may fall below zero

  SS_HD bool blocks(Real slope) const { return slope > least; }
  /// 1 / step that the variable allows, 0 if it does not block. The reciprocal is finite, so a
  /// group's maximum finds the shortest step.
  SS_HD Real inverse_step(Real slope, Real room) const {
    const Real quotient = slope / (room + slack);
    return blocks(slope) ? quotient : Real(0);
  }
  /// The inverse of the longest step, from the largest of `inverse_step`: less by the rounding of
  /// `pivot`, which would else often exclude all variables, the one that sets the step too, where
  /// room + slack rounds to room.
  SS_HD Real longest(Real largest) const {
    return largest * (Real(1) - Real(2) * Limits<Real>::epsilon);
  }
  /// The pivot of a variable that reaches zero within the longest step, otherwise 0.
  SS_HD Real pivot(Real slope, Real room, Real inverse_step) const {
    return room * inverse_step <= slope ? slope : Real(0);
  }
  /// Whether the covering variable z0 may leave: as soon as possible, because at exactly degenerate
  /// rows rounding could otherwise hide the end of the path.
  SS_HD bool may_release_z0(Real slope, Real room, Real inverse_step) const {
    return blocks(slope) && (room - slack) * inverse_step <= slope;
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
