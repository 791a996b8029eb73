// Approximate zero of the derivative of a convex function of one variable.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Newton's method safeguarded by bisection, from 1, until the derivative is a small part of
/// `slope`, the derivative at 0; if that is not negative, 1. derivative(alpha) and then second()
/// are evaluated at the same place; the last call of `derivative` is at the number returned.
template <class Derivative, class Second>
SS_HD double exact_step(double slope, Derivative&& derivative, Second&& second) {
  constexpr int kMost = 25;
  double alpha = 1.0, low = 0.0, high = -1.0;
  for (int step = 0;; ++step) {
    const double here = derivative(alpha);
    const bool small = abs(here) <= (step == 0 ? 0.3 : 0.05) * -slope;
    if (small || step == kMost || !(slope < 0.0)) return alpha;
    (here > 0.0 ? high : low) = alpha;
    double next = alpha - here / second();
    if (high > 0.0) {
      if (!(next > low && next < high)) next = 0.5 * (low + high);
    } else if (!(next > low && next <= 10.0 * alpha)) {
      next = 2.0 * alpha;
    }
    alpha = next;
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
