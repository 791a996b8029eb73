// The equations of the continuation (README.md), linearised.
#pragma once
#include "kernels/solver/interior/path_matrix.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The left sides of the equations, per row.
template <class Real>
struct PathValues {
  Real* gap;   ///< u - low + high; in tangential rows of a cone the tail x_0 y_t + y_0 x_t
  Real* low;   ///< (z - lo) low
  Real* high;  ///< (hi - z) high; in the first tangential row of a cone the head x . y

  SS_HD PathValues(Arena& arena, int max_rows)
      : gap(arena.take<Real>(max_rows)),
        low(arena.take<Real>(max_rows)),
        high(arena.take<Real>(max_rows)) {}
};

/// The left sides at w.at.
template <class Real, class G>
SS_HD void evaluate_path(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w,
                         const PathValues<Real>& out) {
  const PathPoint<Real>& p = w.at;
  g.for_each(s.n, [&](int i) {
    out.gap[i] = p.u[i] - p.low[i] + p.high[i];
    out.low[i] = w.has_low(i) ? w.above_low(i) * p.low[i] : Real(0);
    out.high[i] = w.has_high(i) ? w.below_high(i) * p.high[i] : Real(0);
  });
  for_cones(g, s, [&](int k) {
    const auto x = cone_impulse(s, k, p), y = cone_velocity(s, k, p);
    const int a = s.block[k] + 1;
    for (int j = 0; j < x.size; ++j) {
      out.gap[a + j] = fma(x.head, y.tail[j], y.head * x.tail[j]);
      out.high[a + j] = Real(0);
    }
    out.high[a] = fma(x.head, y.head, dot_tails(x, y));
  });
}

/// W + D at w.at, factorised. With x = (mu z_n, z_t), y = (y_0, u_t), det = x_0^2 - |x_t|^2:
///   D_ii = low / (z - lo) + high / (hi - z),
///   D_tt = y_0 (I + x_t x_t^T / det) / x_0 - x_t y_t^T / det,
///   D_tn = mu ((y_t + x_t (x_t . y_t) / det) / x_0 - y_0 x_t / det).
template <class S, class Real, class G>
SS_PART bool factor_equations(const G& g, const S& s, const CentralPath<Real>& w) {
  load_path_matrix(g, s, w);
  for_cones(g, s, [&](int k) {
    const auto x = cone_impulse(s, k, w.at), y = cone_velocity(s, k, w.at);
    const int t = s.block[k] + 1;
    const Real share = Real(1) / determinant(x), inverse = Real(1) / x.head;
    const Real along = dot_tails(x, y) * share;
    for (int i = 0; i < x.size; ++i) {
      Real* row = path_row(s, w, k, t + i);
      const Real part = x.tail[i] * share;
      const Real turned = fma(x.tail[i], along, y.tail[i]) * inverse;
      row[0] = fma(s.mu[k], fma(-y.head, part, turned), row[0]);
      for (int j = 0; j < x.size; ++j) {
        row[1 + j] = fma(part, fma(y.head * inverse, x.tail[j], -y.tail[j]), row[1 + j]);
      }
      row[1 + i] = fma(y.head, inverse, row[1 + i]);
    }
  });
  return factor_path_matrix(g, s, w);
}

/// Writes to `d` the solution of J d = value, J the Jacobian at w.at with the last factorisation.
/// value(i, part): entry i of the array `part` of the right sides. False if d is not finite.
template <class S, class Real, class G, class Value>
SS_HD bool solve_equations(const G& g, const S& s, const CentralPath<Real>& w,
                           const PathPoint<Real>& d, Value&& value) {
  constexpr double kAccurate = 1e-8;
  using Values = PathValues<Real>;
  const PathPoint<Real>& p = w.at;
  g.for_each(s.n, [&](int i) {
    Real right = value(i, &Values::gap);
    if (w.has_low(i)) right += value(i, &Values::low) / w.above_low(i);
    if (w.has_high(i)) right -= value(i, &Values::high) / w.below_high(i);
    w.right[i] = right;
  });
  for_cones(g, s, [&](int k) {  // the tail of x o y, less x_t times its head, times its inverse
    const auto x = cone_impulse(s, k, p);
    const int a = s.block[k] + 1;
    const Real share = Real(1) / determinant(x), inverse = Real(1) / x.head;
    Real along = Real(0);
    for (int j = 0; j < x.size; ++j) along = fma(x.tail[j], value(a + j, &Values::gap), along);
    const Real back = fma(along, inverse, -value(a, &Values::high)) * share;
    for (int j = 0; j < x.size; ++j) {
      w.right[a + j] = fma(x.tail[j], back, value(a + j, &Values::gap) * inverse);
    }
  });
  if (!solve_path_matrix(g, s, w, kAccurate, d)) return false;
  g.for_each(s.n, [&](int i) {
    d.low[i] = d.high[i] = Real(0);
    if (w.has_low(i)) d.low[i] = fma(-p.low[i], d.z[i], value(i, &Values::low)) / w.above_low(i);
    if (w.has_high(i)) {
      d.high[i] = fma(p.high[i], d.z[i], value(i, &Values::high)) / w.below_high(i);
    }
  });
  for_cones(g, s, [&](int k) {  // x_0 dy_0 + y_0 dx_0 + y_t . dx_t + x_t . dy_t = value
    const auto x = cone_impulse(s, k, p), y = cone_velocity(s, k, p);
    const auto dx = cone_impulse(s, k, d), dy = cone_velocity(s, k, d);
    const int a = s.block[k] + 1;
    const Real rest = fma(y.head, dx.head, dot_tails(y, dx)) + dot_tails(x, dy);
    d.high[a] = (value(a, &Values::high) - rest) / x.head;
  });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
