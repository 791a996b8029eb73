// Newton's step on the equations of the central path.
#pragma once
#include "kernels/solver/interior/path_matrix.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// W + D, factorised. Cones add mu Q_t0 in the column of their normal and Q_tt.
template <class S, class Real, class G>
SS_HD bool factor_path(const G& g, const S& s, const CentralPath<Real>& w) {
  load_path_matrix(g, s, w);
  for_cones(g, s, [&](int k) {
    const int a = s.block[k], end = s.block[k + 1];
    w.cone[k] = {cone_impulse(s, k, w.at), cone_velocity(s, k, w.at), w.q + a + 1};
    const Real inverse = Real(1) / w.cone[k].theta;
    for (int i = a + 1; i < end; ++i) {
      Real* row = path_row(s, w, k, i);
      const Real factor = Real(2) * inverse * w.q[i];
      row[0] = fma(s.mu[k] * factor, w.cone[k].head, row[0]);
      for (int j = a + 1; j < end; ++j) row[j - a] = fma(factor, w.q[j], row[j - a]);
      row[i - a] += inverse;
    }
  });
  return factor_path_matrix(g, s, w);
}

/// The right side: -u + target / (z - lo) - target / (hi - z), in cones -u_t + target (x^-1)_t,
/// minus the corrections.
template <class Real, class G>
SS_HD void set_right_side(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w,
                          Real target) {
  g.for_each(s.n, [&](int i) {
    Real value = -w.at.u[i];
    if (w.has_low(i)) value += target / w.above_low(i) - w.c_low[i];
    if (w.has_high(i)) value -= target / w.below_high(i) - w.c_high[i];
    w.right[i] = value;
  });
  for_cones(g, s, [&](int k) {
    const Real push = target / determinant(cone_impulse(s, k, w.at));
    for (int i = s.block[k] + 1; i < s.block[k + 1]; ++i) {
      w.right[i] -= fma(push, w.at.z[i], w.c_low[i]);
    }
  });
}

/// w.step: towards the point of the path whose products are `target`, with the last factorisation.
/// False if it is not finite.
template <class S, class Real, class G>
SS_PART bool solve_path(const G& g, const S& s, const CentralPath<Real>& w, Real target) {
  // Products at the end of the path are that small; towards 0 only the length is of interest.
  const double accurate = target > Real(0) ? 1e-12 : 1e-8;
  const PathPoint<Real>&p = w.at, &d = w.step;
  set_right_side(g, s, w, target);
  if (!solve_path_matrix(g, s, w, accurate, d)) return false;
  g.for_each(s.n, [&](int i) {
    d.low[i] = d.high[i] = Real(0);
    if (w.has_low(i)) {
      d.low[i] = fma(-p.low[i], d.z[i], target) / w.above_low(i) - p.low[i] - w.c_low[i];
    }
    if (w.has_high(i)) {
      d.high[i] = fma(p.high[i], d.z[i], target) / w.below_high(i) - p.high[i] - w.c_high[i];
    }
  });
  for_cones(g, s, [&](int k) {  // dy_0 = (target x^-1 - y - c - Q dx)_0
    const auto x = cone_impulse(s, k, p), dx = cone_impulse(s, k, d), q = w.scaling(s, k);
    const Real along = fma(q.head, dx.head, dot_tails(q, dx));
    const Real turned = fma(Real(2) * q.head, along, -dx.head) / w.cone[k].theta;
    const int i = s.block[k] + 1;
    d.high[i] = target * x.head / determinant(x) - p.high[i] - w.c_high[i] - turned;
  });
  return true;
}

template <class Real, class G>
SS_HD void clear_corrections(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  g.for_each(s.n, [&](int i) { w.c_low[i] = w.c_high[i] = Real(0); });
}

/// Corrections: the second order of the products along w.step.
template <class Real, class G>
SS_HD void set_corrections(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  const PathPoint<Real>&p = w.at, &d = w.step;
  g.for_each(s.n, [&](int i) {
    if (w.has_low(i)) w.c_low[i] = d.low[i] * d.z[i] / w.above_low(i);
    if (w.has_high(i)) w.c_high[i] = -d.high[i] * d.z[i] / w.below_high(i);
  });
  for_cones(g, s, [&](int k) {
    const int i = s.block[k] + 1;
    w.c_high[i] = second_order(w.scaling(s, k), w.cone[k].theta, cone_impulse(s, k, p),
                               cone_impulse(s, k, d), cone_velocity(s, k, d), w.c_low + i);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
