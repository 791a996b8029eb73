// The effect of rounding on the residual (docs/mathematics.md §4): a solution must be one for all
// possible rounding errors.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kRoundoff = 0.5 * Limits<double>::epsilon;  ///< of one operation
inline constexpr double kOperations = 12.0;  ///< in a row of a natural map, at most

/// A value computed without a difference, and its rounding.
template <class Number>
SS_HD Number widened(Number value) {
  return fma(value, Number(kOperations * kRoundoff), value);
}

/// Bounds of the rounding of the natural map of a block, for exact u.
template <class Number>
struct Rounding {
  Number velocity;  ///< from u alone, e.g. where the map is u itself
  Number impulse;   ///< the same for r / rho: added where the map is a difference of r / rho and u
};

template <class Scalar>
SS_HD Rounding<Wide<Scalar>> block_rounding(const EnvProblem<Scalar>& p, const Scalar* r,
                                            const Wide<Scalar>* u, int k) {
  using Number = Wide<Scalar>;
  Number impulse = 0.0, speed = 0.0;
  for (int i = p.block[k]; i < p.block[k + 1]; ++i) {
    impulse = max(impulse, abs(Number(r[i]) * p.circular_inverse[i]));
    speed = max(speed, abs(u[i] * p.circular[i]));
  }
  const double roundings = kOperations * kRoundoff;
  const Number inverse_rho = p.inverse_rho[p.first_contact_row() + k];
  return {roundings * fma(p.slope[k], speed, speed), roundings * impulse * inverse_rho};
}

/// The largest change of the residual of a scalar row or block if each u_i changes by up to e_i:
/// projections do not increase distances, and Gamma = mu |u_t| changes by mu |e_t|.
template <class Scalar>
SS_HD Wide<Scalar> velocity_error(const EnvProblem<Scalar>& p, const Wide<Scalar>* e, int item) {
  using Number = Wide<Scalar>;
  const int scalars = p.first_contact_row();
  if (item < scalars) return e[item];
  const int k = item - scalars;
  Number square = 0.0;
  for (int i = p.block[k]; i < p.block[k + 1]; ++i) {
    const Number e_i = e[i] * p.circular[i];
    square = fma(e_i, e_i, square);
  }
  const Number length = sqrt(square);
  return fma(p.slope[k], length, length);
}

}  // namespace stickslip::kernels::inline SS_ISA
