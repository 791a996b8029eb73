// The proof that a problem has no solution (docs/mathematics.md §5): by the lemma of Farkas (1902),
// no velocities satisfy u = (W + diag R) r + b and the conditions of the gaps,
//
//   u_n >= 0 on contacts and nonneg rows,   u = 0 on free rows,
//
// if there is a y with y >= 0 on those rows, any sign on free rows, 0 on tangents, and
//
//   (W + diag R)^T y = 0,   y . b < 0:   then y . u = y . b < 0, though no term of y . u is
//   negative.
//
// Every law requires these conditions. A box row takes part if a bound is missing: with no upper
// bound, u >= 0. A row with R > 0 is compliant, so y is 0 there: y . (W + diag R) y >= R_i y_i^2
// for any Delassus matrix. Checked in double from the problem as given, independently of any
// solver, like the residual.
#pragma once
#include "kernels/residual/rounding.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Which signs an entry of y may have.
struct CertificateSign {
  bool positive, negative;
};

template <class In>
SS_HD CertificateSign certificate_sign(const EnvProblem<In>& p, int i, bool is_tangent) {
  if (is_tangent || p.compliance(i) > 0.0) return {false, false};
  if (i < p.n_free) return {true, true};
  if (i >= p.first_contact_row()) return {true, false};
  return {p.upper(i) == Limits<double>::infinity, p.lower(i) == -Limits<double>::infinity};
}

/// Whether row i >= first_contact_row() is not the normal of its block.
template <class In>
SS_HD bool is_tangent(const EnvProblem<In>& p, int i) {
  for (int k = 0; k < p.n_contacts; ++k) {
    if (p.block[k] == i) return false;
  }
  return i >= p.first_contact_row();
}

/// |((W + diag R)^T y)_i| <= rounding: n + 16 roundings of the caller's numbers, whose W_ij =
/// J_i M^-1 J_j^T is as uncertain as sqrt(W_ii W_jj). `length`: sum_j sqrt(W_jj + R_jj) |y_j|.
template <class In>
SS_HD bool is_column_of_null_space(const EnvProblem<In>& p, const double* y, double length, int i) {
  if (!(p.circular[i] > 0.0)) return true;  // this row never carries an impulse
  double sum = p.compliance(i) * y[i];
  for (int j = 0; j < p.n; ++j) {
    if (y[j] != 0.0) sum = fma(p.symmetric ? p.w(i, j) : p.w(j, i), y[j], sum);
  }
  const double unit = 0.5 * double(Limits<In>::epsilon) * double(p.n + 16);
  return abs(sum) <= unit * sqrt(p.diagonal(i)) * length;
}

/// The largest friction coefficient of the contacts.
template <class In>
SS_HD double steepest_friction(const EnvProblem<In>& p) {
  double steepest = 0.0;
  for (int k = 0; k < p.n_contacts; ++k) steepest = max(steepest, p.slope[k]);
  return steepest;
}

/// Velocities of a contact's normal below minus this prove a residual above `tolerance`, under
/// every law: an impulse of residual t has u_n >= -(1 + mu) t, and u >= -t on rows without
/// friction, if t is a length. The residual is the largest component; the factor 4 covers that.
SS_HD double allowed_gap(double tolerance, double mu) { return 4.0 * tolerance * (1.0 + mu); }

/// Whether y[n] proves that no impulses have a residual of `tolerance` or less.
template <class G, class In>
SS_HD bool certificate_holds(const G& g, const EnvProblem<In>& p, double tolerance,
                             const double* y) {
  const bool wrong_sign = g.any(p.n, [&](int i) {
    if (y[i] == 0.0) return false;
    const CertificateSign may = certificate_sign(p, i, is_tangent(p, i));
    return !is_finite(y[i]) || !(y[i] > 0.0 ? may.positive : may.negative);
  });
  if (wrong_sign) return false;
  const double length = g.sum(p.n, [&](int i) { return sqrt(p.diagonal(i)) * abs(y[i]); });
  if (g.any(p.n, [&](int i) { return !is_column_of_null_space(p, y, length, i); })) return false;
  const double power = g.sum(p.n, [&](int i) { return y[i] * double(p.b[i]); });
  const double size = g.sum(p.n, [&](int i) { return abs(y[i] * double(p.b[i])); });
  const double slack = allowed_gap(tolerance, steepest_friction(p));  // plus the rounding of y . b
  const double allowed = g.sum(p.n, [&](int i) { return slack * abs(y[i]); });
  return power < -fma(double(p.n + 4) * 2.0 * kRoundoff, size, allowed);
}

}  // namespace stickslip::kernels::inline SS_ISA
