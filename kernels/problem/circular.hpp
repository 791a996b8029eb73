// Circular coordinates (docs/mathematics.md §1): the slope of each contact, and mu_j / mu_1 of its
// rows; and the rho of the residual.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// 1 / rho of block k: the largest diagonal entry of W_hat + R_hat in it.
template <class Scalar>
SS_HD Wide<Scalar> block_inverse_rho(const EnvProblem<Scalar>& p, int k) {
  Wide<Scalar> d = 0.0;
  SS_ROLLED
  for (int i = p.block[k]; i < p.block[k + 1]; ++i) {
    d = max(d, p.circular[i] * p.circular[i] * p.diagonal(i));
  }
  return d;
}

/// Slope and circular coordinates of block k; without friction every coefficient is taken as zero.
template <class Scalar>
SS_HD void enter_circular_block(const EnvProblem<Scalar>& p, bool frictionless, int k,
                                const ViewScratch<Scalar>& scratch) {
  using Number = Wide<Scalar>;
  const int a = p.block[k], dim = p.block[k + 1] - a;
  Number mu = 0.0;
  SS_ROLLED
  for (int j = dim - 1; j > 0; --j) mu = select(p.friction(k, j) > 0.0, p.friction(k, j), mu);
  if (frictionless) mu = 0.0;
  scratch.slope[k] = mu;
  scratch.circular[a] = scratch.circular_inverse[a] = 1.0;
  SS_ROLLED
  for (int j = 1; j < dim; ++j) {
    const Number mu_j = p.friction(k, j);
    const auto coupled = (mu > 0.0) & (mu_j > 0.0);
    scratch.circular[a + j] = select(coupled, mu_j / mu, Number(0.0));
    scratch.circular_inverse[a + j] = select(coupled, mu / mu_j, Number(1.0));
  }
}

/// Fills slope, circular and inverse_rho.
template <class G, class Scalar>
SS_HD void enter_circular_coordinates(const G& g, const EnvProblem<Scalar>& p, bool frictionless,
                                      const ViewScratch<Scalar>& scratch) {
  using Number = Wide<Scalar>;
  g.for_each(p.first_contact_row(), [&](int i) {
    scratch.circular[i] = 1.0;
    scratch.circular_inverse[i] = 1.0;
  });
  g.for_each(p.n_contacts, [&](int k) { enter_circular_block(p, frictionless, k, scratch); });
  const int scalars = p.first_contact_row(), items = scalars + p.n_contacts;
  g.for_each(items, [&](int item) {
    scratch.inverse_rho[item] =
        item < scalars ? p.diagonal(item) : block_inverse_rho(p, item - scalars);
  });
  Number largest = g.max(items, [&](int item) { return p.inverse_rho[item]; });
  largest = select(largest > 0.0, largest, Number(1.0));
  g.for_each(items, [&](int item) {
    const Number own = p.inverse_rho[item];
    scratch.inverse_rho[item] = select(own > 0.0, own, largest);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
