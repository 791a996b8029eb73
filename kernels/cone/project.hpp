// Projections in circular coordinates (docs/mathematics.md §1), for a tangential vector of any
// dimension: each of them scales y_t or shrinks its entries, so no local array is needed.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Result of projecting (y_n, y_t) on the circular cone ||x_t|| <= mu x_n: x_t = factor * y_t.
template <class Real>
struct ConeProjection {
  Real normal;
  Real factor;
  Mask<Real> inside;  ///< y was in the cone: the projection is the identity
};

/// Euclidean projection on {||x_t|| <= mu x_n}; `length` = ||y_t||. Any dimension (3, 4, 6).
template <class Real>
SS_INNER ConeProjection<Real> project_cone(Real mu, Real y_n, Real length) {
  // y_n >= 0 does not follow from the second condition if mu = 0.
  const Mask<Real> inside = (y_n >= Real(0)) & (length <= mu * y_n);
  if (all(inside)) return {y_n, Real(1), inside};
  const Mask<Real> polar = mu * length <= -y_n;  // the projection is the apex
  Real normal = Real(0), factor = Real(0);
  if (!all(inside | polar)) {
    normal = fma(mu, length, y_n) / fma(mu, mu, Real(1));  // >= 0 where it is used
    factor = select(length > Real(0), mu * normal / length, Real(0));
  }
  return {select(inside, y_n, select(polar, Real(0), normal)),
          select(inside, Real(1), select(polar, Real(0), factor)), inside};
}

/// Threshold tau >= 0 of the projection on the diamond sum |x_i| <= radius of dimension `n`:
/// x_i = sign(y_i) max(0, |y_i| - tau). Michelot's algorithm (1986), exact in at most n passes.
template <class Real, class F>
SS_INNER Real diamond_threshold(Real radius, int n, F&& y) {
  Real tau = Real(0);
  int kept = n + 1;
  for (int pass = 0; pass <= n; ++pass) {
    Real total = Real(0);
    int above = 0;
    for (int i = 0; i < n; ++i) {
      const Real a = abs(y(i));
      if (pass == 0 || a > tau) {
        total += a;
        ++above;
      }
    }
    if (pass == 0 && total <= radius) return Real(0);
    if (above == 0 || above == kept) return tau;
    kept = above;
    tau = max(Real(0), (total - radius) / Real(above));
  }
  return tau;
}

/// x_i of the projection on the diamond with threshold `tau`.
template <class Real>
SS_INNER Real shrink(Real y, Real tau) {
  if (y > tau) return y - tau;
  if (y < -tau) return y + tau;
  return Real(0);
}

/// x_i of the projection on the square |x_i| <= radius.
template <class Real>
SS_INNER Real project_square(Real y, Real radius) {
  return clamp(y, -radius, radius);
}

}  // namespace stickslip::kernels::inline SS_ISA
