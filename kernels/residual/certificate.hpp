// The proof that no impulse up to a stated size solves a problem (docs/mathematics.md §5). Every
// law requires of the velocities u = (W + diag R) r + b
//
//   u_n >= 0 on contacts and nonneg rows,   u = 0 on free rows.
//
// Let y have y >= 0 on those rows, any sign on free rows, and 0 on tangents and where R > 0. Then
// no term of y . u is negative. So r is no solution (Farkas 1902) if
//
//   y . u = y . b + g . r < 0,   g = W^T y,
//
// and y proves that no r of a set is one if y . b plus the largest g . r of the set is negative.
// The set: r within its cones and bounds, |r_i| <= kReach max|b| rho_i, with rho of the residual.
// g is not 0 where W was rounded or is nearly singular: then g . r decides which sizes are
// excluded.
//
// A box row takes part if a bound is missing: with no upper bound, u >= 0. A row with R > 0 is
// compliant and leaves a solution, however small R is. Checked in double from the problem as given,
// with all rounding errors, independently of any solver, like the residual.
#pragma once
#include "kernels/law/rounding.hpp"
#include "kernels/linalg/compensated.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The largest r_i / rho_i that a proof excludes, relative to max|b|. The rounding errors of such
/// an impulse's velocities are of the order of 10^-15 kReach max|b|, so the judge could not call it
/// a solution with the default tolerance, 2 * 10^-9 for max|b| = 1.
inline constexpr double kReach = 1e12;

/// Which signs an entry of y may have.
struct CertificateSign {
  bool positive, negative;
};

template <class Scalar>
SS_HD CertificateSign certificate_sign(const EnvProblem<Scalar>& p, int i, bool is_tangent) {
  if (is_tangent || p.compliance(i) > 0.0) return {false, false};
  if (i < p.n_free) return {true, true};
  if (i >= p.first_contact_row()) return {true, false};
  return {p.upper(i) == Limits<double>::infinity, p.lower(i) == -Limits<double>::infinity};
}

/// Whether row i >= first_contact_row() is not the normal of its block.
template <class Scalar>
SS_HD bool is_tangent(const EnvProblem<Scalar>& p, int i) {
  SS_ROLLED
  for (int k = 0; k < p.n_contacts; ++k) {
    if (p.block[k] == i) return false;
  }
  return i >= p.first_contact_row();
}

/// Bounds of a number.
struct Bounds {
  double least, most;
};

/// g_i = (W^T y)_i. No R: y is 0 where R > 0.
template <class Scalar>
SS_HD Bounds certificate_product(const EnvProblem<Scalar>& p, const double* y, int i) {
  CompensatedSum g;
  SS_ROLLED
  for (int j = 0; j < p.n; ++j) {
    if (y[j] != 0.0) g.add_product(p.symmetric ? p.w(i, j) : p.w(j, i), y[j]);
  }
  return {g.value() - g.error(), g.value() + g.error()};
}

/// A bound of g . r in a scalar row or contact with |r_i| <= size, at least 0. Under every law
/// |r_j| <= mu_j r_n.
template <class Scalar>
SS_HD double largest_product(const EnvProblem<Scalar>& p, const double* y, double size, int item) {
  const int scalars = p.first_contact_row();
  if (item < scalars) {
    const Bounds g = certificate_product(p, y, item);
    const double up = min(double(p.upper(item)), size), down = max(double(p.lower(item)), -size);
    return max(max(g.most * up, g.least * down), 0.0);
  }
  const int k = item - scalars, normal = p.block[k];
  const double first = certificate_product(p, y, normal).most;
  double others = 0.0;
  for (int i = normal + 1; i < p.block[k + 1]; ++i) {
    if (!(p.circular[i] > 0.0)) continue;  // this row never carries an impulse
    const Bounds g = certificate_product(p, y, i);
    others = fma(p.slope[k] * p.circular[i], max(g.most, -g.least), others);
  }
  const double rounding = kOperations * kRoundoff * (abs(first) + others);
  return max(first + others + rounding, 0.0) * size;
}

/// The largest friction coefficient of the contacts.
template <class Scalar>
SS_HD double steepest_friction(const EnvProblem<Scalar>& p) {
  double steepest = 0.0;
  SS_ROLLED
  for (int k = 0; k < p.n_contacts; ++k) steepest = max(steepest, p.slope[k]);
  return steepest;
}

/// Friction coefficient of the contact whose normal is row i; 0 for other rows.
template <class Scalar>
SS_HD double friction_of_normal(const EnvProblem<Scalar>& p, int i) {
  SS_ROLLED
  for (int k = 0; k < p.n_contacts; ++k) {
    if (p.block[k] == i) return p.slope[k];
  }
  return 0.0;
}

/// Velocities of a contact's normal below minus this prove a residual above `tolerance`, under
/// every law: an impulse of residual t has u_n >= -(1 + mu) t, and u >= -t on rows without
/// friction, if t is a length. The residual is the largest component; the factor 4 covers that.
SS_HD double allowed_gap(double tolerance, double mu) { return 4.0 * tolerance * (1.0 + mu); }

/// Whether y[n] proves that no impulses of the set above have a residual of `tolerance` or less.
template <class G, class Scalar>
SS_HD bool certificate_holds(const G& g, const EnvProblem<Scalar>& p, double tolerance,
                             const double* y) {
  const bool wrong_sign = g.any(p.n, [&](int i) {
    if (y[i] == 0.0) return false;
    const CertificateSign may = certificate_sign(p, i, is_tangent(p, i));
    return !is_finite(y[i]) || !(y[i] > 0.0 ? may.positive : may.negative);
  });
  if (wrong_sign) return false;
  const double power = g.sum(p.n, [&](int i) { return y[i] * double(p.b[i]); });
  const double size = g.sum(p.n, [&](int i) { return abs(y[i] * double(p.b[i])); });
  const double rounding =
      double(p.n + p.rows_elsewhere + 4) * 2.0 * kRoundoff;  // of this sum and the next ones
  const double allowed = g.sum(p.n, [&](int i) {
    return y[i] == 0.0 ? 0.0 : allowed_gap(tolerance, friction_of_normal(p, i)) * abs(y[i]);
  });
  if (!(power < -fma(rounding, size, allowed))) return false;  // most candidates end here
  const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
  const double reach = kReach * max(b_max, double(p.b_elsewhere));
  const double from_impulses = g.sum(p.first_contact_row() + p.n_contacts, [&](int item) {
    return largest_product(p, y, reach / p.inverse_rho[item], item);
  });
  const double most = allowed + from_impulses;
  return power < -(fma(rounding, size, most) + (rounding + 16.0 * kRoundoff) * most);
}

}  // namespace stickslip::kernels::inline SS_ISA
