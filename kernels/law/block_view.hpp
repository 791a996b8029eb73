// What the residual of one contact block is computed from.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The data that the residual of one block needs, in circular coordinates: r_hat_j = r_j mu_1 /
/// mu_j, u_hat_j = u_j mu_j / mu_1.
template <class Scalar>
struct BlockView {
  const EnvProblem<Scalar>& p;
  const Scalar* r;
  const Wide<Scalar>* u;  ///< u_R = (W + diag R) r + b, physical
  int k;                  ///< block
  int dim;
  Wide<Scalar> mu;  ///< slope mu_1

  SS_HD Wide<Scalar> scale(int j) const { return p.circular[row() + j]; }
  SS_HD int row() const { return p.block[k]; }
  /// Impulse in circular coordinates. A row without friction keeps its raw value: it should be 0.
  SS_HD Wide<Scalar> r_hat(int j) const {
    return Wide<Scalar>(r[row() + j]) * p.circular_inverse[row() + j];
  }
  SS_HD Wide<Scalar> u_hat(int j) const { return u[row() + j] * scale(j); }
  /// ||u_hat_t||
  SS_HD Wide<Scalar> sliding_speed() const {
    Wide<Scalar> s = 0.0;
    for (int j = 1; j < dim; ++j) s = fma(u_hat(j), u_hat(j), s);
    return sqrt(s);
  }
  SS_HD Wide<Scalar> inverse_rho() const { return p.inverse_rho[p.first_contact_row() + k]; }
};

template <class Scalar>
SS_HD BlockView<Scalar> block_view(const EnvProblem<Scalar>& p, const Scalar* r,
                                   const Wide<Scalar>* u, int k) {
  return {p, r, u, k, p.block[k + 1] - p.block[k], p.slope[k]};
}

}  // namespace stickslip::kernels::inline SS_ISA
