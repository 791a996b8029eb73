// How a law moves an impulse onto its set: r_n >= 0, no friction on rows without a coefficient, and
// tangential impulses within what r_n allows.
#pragma once
#include "kernels/law/block_view.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// r_n >= 0; then r_j = take(j, r_j, limit, share) on the tangents, where limit = mu_j r_n and
/// share = r_j / limit, both 0 (and r_j too) where no friction is allowed.
template <int dim, class Scalar, class F>
SS_HD void limit_friction(const EnvProblem<Scalar>& p, int k, Scalar* r, F&& take) {
  using Number = Wide<Scalar>;
  const int a = p.block[k];
  r[a] = select(r[a] > Scalar(0), r[a], Scalar(0));
  for (int j = 1; j < dim; ++j) {
    const Number limit = Number(p.friction(k, j) * Number(r[a]));
    const auto allowed = limit > 0.0;
    const Number r_j = select(allowed, Number(r[a + j]), Number(0.0));
    r[a + j] = Scalar(take(j, r_j, limit, select(allowed, r_j / limit, Number(0.0))));
  }
}

/// Multiplies the tangential impulses of block k by factor_of() where `outside`.
template <int dim, class Scalar, class F>
SS_HD void shorten_friction(const EnvProblem<Scalar>& p, int k, Scalar* r,
                            Mask<Wide<Scalar>> outside, F&& factor_of) {
  using Number = Wide<Scalar>;
  if (!any(outside)) return;
  const int a = p.block[k];
  const Number factor = factor_of();
  for (int j = 1; j < dim; ++j) {
    r[a + j] = Scalar(select(outside, Number(r[a + j]) * factor, Number(r[a + j])));
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
