// The conditions that the residual combines in one number: one measure for each, with its unit.
#pragma once
#include "kernels/residual/residual.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// |r_t||u_t| + r_t . u_t in circular coordinates: 0 when friction opposes sliding.
template <class Scalar>
SS_HD double misalignment(const BlockView<Scalar>& v) {
  double power = 0.0, impulse = 0.0;
  for (int j = 1; j < v.dim; ++j) {
    if (!(v.scale(j) > 0.0)) continue;  // not part of the cone; its impulse is a cone violation
    power = fma(v.r_hat(j), v.u_hat(j), power);
    impulse = fma(v.r_hat(j), v.r_hat(j), impulse);
  }
  return fma(sqrt(impulse), v.sliding_speed(), power);
}

/// All measures of impulses r; u, e: scratch of n doubles each.
template <class G, class Scalar>
SS_HD Measures measure_impulse(const G& g, const EnvProblem<Scalar>& p, Law law, const Scalar* r,
                               double* u, double* e) {
  Measures m;
  const MatrixVelocity<Scalar> velocity{p};
  m.residual = residual(g, p, law, velocity, r, u, e);
  if (!is_finite(m.residual)) return m;
  velocity(g, r, u);
  const int scalars = p.first_contact_row(), items = scalars + p.n_contacts;
  const auto view = [&](int item) { return block_view(p, r, u, item - scalars); };
  const auto is_unilateral = [&](int item) {
    return item >= scalars || (item >= p.n_free && item < p.n_free + p.n_nonneg);
  };
  const auto row = [&](int item) { return first_row(p, item); };
  m.penetration = g.max(items, [&](int i) { return is_unilateral(i) ? -u[row(i)] : 0.0; });
  m.complementarity = g.max(
      items, [&](int i) { return is_unilateral(i) ? abs(double(r[row(i)]) * u[row(i)]) : 0.0; });
  m.cone_violation = g.max(items, [&](int i) {
    if (i >= scalars) return with_law(law, [&](auto its) { return its.violation(view(i)); });
    return max(p.lower(i) - double(r[i]), double(r[i]) - p.upper(i));
  });
  m.misalignment = g.max(items, [&](int i) { return i < scalars ? 0.0 : misalignment(view(i)); });
  return m;
}

}  // namespace stickslip::kernels::inline SS_ISA
