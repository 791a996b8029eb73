// The residual of the laws whose friction is bounded by a polygon.
#pragma once
#include "kernels/cone/polygon.hpp"
#include "kernels/cone/project.hpp"
#include "kernels/law/block_view.hpp"
#include "kernels/law/rounding.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// ||F_k||_inf / rho_k of a contact block and its rounding, for a `polygon` (the diamond too) or a
/// square: the set scales with max(r_n, 0). F_n = min(r_n, rho u_n) contains no difference.
template <class Scalar>
SS_HD Wide<Scalar> faceted_block_residual(const BlockView<Scalar>& v, bool polygon) {
  using Number = Wide<Scalar>;
  const Rounding<Number> rounding = block_rounding(v.p, v.r, v.u, v.k);
  const Number inverse_rho = v.inverse_rho(), rho = 1.0 / inverse_rho;
  const Number r_n = Number(v.r[v.row()]), u_n = v.u[v.row()];
  Number worst = min(r_n, rho * u_n);
  worst = abs(worst) * inverse_rho;
  const Number radius = v.mu * max(r_n, Number(0.0));
  const auto y = [&](int i) {
    return select(v.scale(i + 1) > 0.0, fma(-rho, v.u_hat(i + 1), v.r_hat(i + 1)), Number(0.0));
  };
  // The error of each y_j is at most `known`; inside a set smaller by all of these, it has no
  // effect.
  const Number known = rho * (rounding.velocity + rounding.impulse);
  Number used = 0.0;  // part of the radius
  const auto take = [&](int j, Number x) {
    const auto interior = (x == y(j - 1)) & (v.scale(j) > 0.0);
    worst = max(worst, select(interior, abs(v.u_hat(j)), abs(v.r_hat(j) - x) * inverse_rho));
  };
  const auto close = [&](Number margin) {
    const auto deep = fma(used, Number(1.0 + kOperations * kRoundoff), margin) < radius;
    return widened(worst) + rounding.velocity + select(deep, Number(0.0), rounding.impulse);
  };
  if constexpr (kIsPlain<Scalar>) {
    if (polygon) {
      const bool polygon = v.p.has_polygon(v.k);
      double tau = 0.0;
      PlanePoint plane{y(0), y(1)};
      for (int j = polygon ? 3 : 1; j < v.dim; ++j) used += abs(y(j - 1));
      if (polygon) {
        used += polygon_gauge(v.p.directions, plane.x, plane.y);
        const auto rest = [&](int i) { return y(i + 2); };
        tau = polygon_threshold(v.p.directions, radius, plane.x, plane.y, v.dim - 3, rest);
        if (tau > 0.0) plane = polygon_shrink(v.p.directions, tau, plane.x, plane.y);
      } else {
        tau = diamond_threshold(radius, v.dim - 1, y);
      }
      for (int j = 1; j < v.dim; ++j) {
        take(j, polygon && j < 3 ? (j == 1 ? plane.x : plane.y) : shrink(y(j - 1), tau));
      }
      return close(2.0 * v.dim * known);
    }
  }
  for (int j = 1; j < v.dim; ++j) {
    take(j, project_square(y(j - 1), radius));
    used = max(used, abs(y(j - 1)));
  }
  return close(known);
}

}  // namespace stickslip::kernels::inline SS_ISA
