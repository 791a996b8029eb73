// The problem in the form that the solvers use: circular coordinates, power-of-two block scaling,
// dense, column-major, in the arithmetic of the solver.
//
//   r_i = d_i z_i / q,   u_i = u_hat_i / (d_i q),   W_hat = D (W + diag R) D,   b_hat = q D b
//
// d of a contact row is s_k mu_j / mu_1: s_k a power of two that brings the block's diagonal near
// 1, mu_j / mu_1 the circular coordinates (docs/mathematics.md §1); d of a scalar row is a power of
// two. q is a power of two with max|b_hat| in [1, 2). Rows without friction (mu_j = 0, or the law
// `frictionless`) have d = 0: they become z = 0 rows decoupled from the rest.
// Functions that alter the problem take it as `Scaled&`, the others as `const Scaled&`.
#pragma once
#include "kernels/law/dispatch.hpp"
#include "kernels/linalg/matvec.hpp"
#include "kernels/problem/circular.hpp"
#include "kernels/problem/copy_delassus.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real>
struct Scaled {
  using Number = Real;
  int n = 0, scalars = 0, n_contacts = 0, ld = 0;
  Law law = Law::coulomb;
  bool symmetric = false;  ///< W equals its transpose, bit for bit
  const int* block = nullptr;

  Real* W;        ///< [n][ld] W_hat, compliance included, column-major, zero padding
  Real* W_diag;   ///< [n] diagonal of W_hat without the compliance
  Real *b, *R;    ///< [ld]
  Real* zero;     ///< [ld] zeros: where a product without b_hat starts
  Real *lo, *hi;  ///< [n] bounds of the scalar rows
  Real* mu;       ///< [n_contacts] slope of the circular cone
  Real* rho_inv;  ///< [n] 1/rho of each row: its diagonal; tangential rows share one per block
  Real* rho;      ///< [n]
  /// Of Newton's methods (selection.hpp): [n] compliance that selects one of many solutions, for
  /// epsilon = 1; [n_contacts] how many rows carry the load of a contact, and 1 / crowd.
  Real *selecting, *crowd, *share;
  Wide<Real>* d;  ///< [n]
  Wide<Real> q = 1.0;

  /// `matrix_rows`: 0 where only the vectors are used (scale_vectors).
  SS_HD Scaled(Arena& arena, int max_rows, int max_contacts, int matrix_rows)
      : W(arena.take<Real>(std::size_t(matrix_rows) * padded_rows<Real>(matrix_rows))),
        W_diag(arena.take<Real>(matrix_rows)),
        b(arena.take<Real>(padded_rows<Real>(max_rows))),
        R(arena.take<Real>(padded_rows<Real>(max_rows))),
        zero(arena.take<Real>(padded_rows<Real>(max_rows))),
        lo(arena.take<Real>(max_rows)),
        hi(arena.take<Real>(max_rows)),
        mu(arena.take<Real>(max_contacts)),
        rho_inv(arena.take<Real>(max_rows)),
        rho(arena.take<Real>(max_rows)),
        selecting(arena.take<Real>(padded_rows<Real>(max_rows))),
        crowd(arena.take<Real>(max_contacts)),
        share(arena.take<Real>(max_contacts)),
        d(arena.take<Wide<Real>>(max_rows)) {}
  SS_HD Scaled(Arena& arena, int max_rows, int max_contacts)
      : Scaled(arena, max_rows, max_contacts, max_rows) {}

  SS_HD Real at(int i, int j) const { return W[std::int64_t(j) * ld + i]; }
  SS_HD int dim(int k) const { return block[k + 1] - block[k]; }
  /// By how many rows the stages of a problem of `rows` are chosen.
  SS_HD static int size_of(int rows) { return rows; }
};

/// Rows of a scalar row or block: first_row ... end_row - 1.
template <class Real>
SS_HD int first_row(const Scaled<Real>& s, int item) {
  return item < s.scalars ? item : s.block[item - s.scalars];
}
template <class Real>
SS_HD int end_row(const Scaled<Real>& s, int item) {
  return item < s.scalars ? item + 1 : s.block[item - s.scalars + 1];
}

/// Scale of the scalar row i; rows with a vanishing diagonal take the scale of the largest.
template <class Scalar>
SS_HD Wide<Scalar> scalar_scale(const EnvProblem<Scalar>& p, int i, Wide<Scalar> largest) {
  const Wide<Scalar> diagonal = p.diagonal(i);
  const Wide<Scalar> typical = select(diagonal > 1e-12 * largest, diagonal, largest);
  return power_of_two_below(1.0 / sqrt(typical));
}

/// Fills d of block k: one power of two for the block, times mu_j / mu_1.
template <class Scalar>
SS_HD void scale_block(const EnvProblem<Scalar>& p, int k, Wide<Scalar> largest, Wide<Scalar>* d) {
  using Number = Wide<Scalar>;
  const int a = p.block[k], dim = p.block[k + 1] - a;
  const Number normal = p.diagonal(a), least = 1e-12 * largest;
  Number tangential = 0.0;  // mean diagonal of the two sliding rows, in circular coordinates
  for (int j = 1; j < 3; ++j) {
    const Number m = p.slope[k] * p.circular[a + j];
    tangential += 0.5 * m * m * p.diagonal(a + j);
  }
  const Number own = max(normal, min(tangential, 100.0 * normal));
  // A normal that nothing moves is no measure: its impulses would cost next to nothing.
  const Number typical = select(normal > least, own, max(tangential, least));
  const Number s = power_of_two_below(1.0 / sqrt(typical));
  SS_ROLLED
  for (int j = 0; j < dim; ++j) d[a + j] = s * p.circular[a + j];
}

/// Largest eigenvalue of the tangential 2x2 block (dimension 3), its trace above that.
template <class S>
SS_HD auto tangential_inverse_rho(const S& s, int k) {
  using Real = typename S::Number;
  const int a = s.block[k];
  if (s.dim(k) == 3) {
    const Real p = s.at(a + 1, a + 1), q = s.at(a + 2, a + 2), o = s.at(a + 1, a + 2);
    return fma(Real(0.5), p + q, sqrt(fma(Real(0.25) * (p - q), p - q, o * o)));
  }
  Real trace = Real(0);
  SS_ROLLED
  for (int j = 1; j < s.dim(k); ++j) trace += s.at(a + j, a + j);
  return trace;
}

/// 1/rho of block k. Laws that project a block as a whole need one number for all its rows. Of a
/// block that cannot slide, as between the fingers of a gripper, it is no less than the compliance
/// that selects (scaling/selection.hpp): with a larger rho, y = z - rho epsilon D z would be more
/// than z, on the other side of the cone.
template <class S>
SS_HD void set_inverse_rho(S& s, int k) {
  using Real = typename S::Number;
  const int a = s.block[k];
  Real normal = max(s.at(a, a), Real(1e-12));
  Real tangential = max(tangential_inverse_rho(s, k), Real(1e-3) * normal);
  if (facts_of(s.law).has_one_rho) normal = tangential = normal + tangential;
  s.rho_inv[a] = normal;
  SS_ROLLED
  for (int j = 1; j < s.dim(k); ++j) s.rho_inv[a + j] = tangential;
}

/// Copies W_hat column by column; padding and decoupled rows are written too.
template <class G, class Scalar, class Real>
SS_HD void scale_matrix(const G& g, const EnvProblem<Scalar>& p, Scaled<Real>& s) {
  if constexpr (sizeof(Scalar) < sizeof(Wide<Scalar>)) {
    g.for_each(s.n, [&](int i) { s.rho[i] = Real(s.d[i]); });  // computed later: unused until then
    copy_scaled_delassus(g, p, s.W, s.ld, [&](int i) { return s.rho[i]; });
  } else {
    copy_scaled_delassus(g, p, s.W, s.ld, [&](int i) { return s.d[i]; });
  }
  g.for_each_2d(s.n, s.ld - s.n,
                [&](int j, int i) { s.W[std::int64_t(j) * s.ld + s.n + i] = Real(0); });
  g.for_each(s.n, [&](int i) {
    Real& diagonal = s.W[std::int64_t(i) * s.ld + i];
    diagonal = select(Mask<Real>(s.d[i] > 0.0), diagonal, Real(1));
    s.W_diag[i] = diagonal;
    diagonal += s.R[i];
  });
}

/// The diagonal of W_hat: with the problem's compliance R or without.
template <class G, class Real>
SS_HD void set_compliance(const G& g, Scaled<Real>& s, bool with_R) {
  g.for_each(s.n, [&](int i) {
    s.W[std::int64_t(i) * s.ld + i] = with_R ? s.W_diag[i] + s.R[i] : s.W_diag[i];
  });
}

/// Adds to the diagonal entry of row i.
template <class Real>
SS_HD void add_compliance(const Scaled<Real>& s, int i, Real value) {
  s.W[std::int64_t(i) * s.ld + i] += value;
}

/// Builds `s` (placed in its arena) from the problem, except W and the values that depend on it.
template <class G, class Scalar, class Real>
SS_HD void scale_vectors(const G& g, const EnvProblem<Scalar>& p, Law law, Scaled<Real>& s) {
  s.n = p.n;
  s.scalars = p.first_contact_row();
  s.n_contacts = p.n_contacts;
  s.ld = padded_rows<Real>(p.n);
  s.law = law;
  s.block = p.block;
  s.symmetric = p.symmetric;
  using Number = Wide<Scalar>;
  Number largest = g.max(p.n, [&](int i) { return p.diagonal(i); });
  largest = select(largest > 0.0, largest, Number(1.0));
  g.for_each(s.scalars, [&](int i) { s.d[i] = scalar_scale(p, i, largest); });
  g.for_each(s.n_contacts, [&](int k) {
    s.mu[k] = Real(p.slope[k]);
    scale_block(p, k, largest, s.d);
  });
  const Number b_max = g.max(p.n, [&](int i) { return abs(Number(p.b[i])) * s.d[i]; });
  s.q = select(b_max > 0.0, 1.0 / power_of_two_below(b_max), Number(1.0));
  g.for_each(s.ld, [&](int i) {
    s.b[i] = i < p.n ? Real(Number(p.b[i]) * s.d[i] * s.q) : Real(0);
    s.R[i] = i < p.n ? Real(p.compliance(i) * s.d[i] * s.d[i]) : Real(0);
    s.zero[i] = Real(0);
  });
  g.for_each(s.scalars, [&](int i) {
    s.lo[i] = Real(p.lower(i) * (s.q / s.d[i]));
    s.hi[i] = Real(p.upper(i) * (s.q / s.d[i]));
  });
}

/// rho and its inverse, from the blocks of W_hat on its diagonal.
template <class G, class S>
SS_HD void set_rho(const G& g, S& s) {
  using Real = typename S::Number;
  g.for_each(s.scalars, [&](int i) { s.rho_inv[i] = max(s.at(i, i), Real(1e-12)); });
  g.for_each(s.n_contacts, [&](int k) { set_inverse_rho(s, k); });
  g.for_each(s.n, [&](int i) { s.rho[i] = Real(1) / s.rho_inv[i]; });
}

/// Builds `s` (placed in its arena) from the problem.
template <class G, class Scalar, class Real>
SS_HD void scale_problem(const G& g, const EnvProblem<Scalar>& p, Law law, Scaled<Real>& s) {
  scale_vectors(g, p, law, s);
  scale_matrix(g, p, s);
  set_rho(g, s);
}

/// z from impulses r.
template <class G, class Scalar, class Real>
SS_HD void scale_impulse(const G& g, const Scaled<Real>& s, const Scalar* r, Real* z) {
  g.for_each(s.ld, [&](int i) {
    using Number = Wide<Scalar>;
    z[i] = i < s.n ? Real(select(s.d[i] > 0.0, Number(r[i]) / s.d[i] * s.q, Number(0.0))) : Real(0);
  });
}

/// y = start + W_hat z, compliance included.
template <class G, class Real>
SS_HD void multiply_scaled(const G& g, const Scaled<Real>& s, const Real* z, const Real* start,
                           Real* y) {
  matvec(g, s.n, s.W, s.ld, z, start, y);
}

/// y = W_hat^T x.
template <class G, class Real>
SS_HD void multiply_scaled_transposed(const G& g, const Scaled<Real>& s, const Real* x, Real* y) {
  if (s.symmetric) return multiply_scaled(g, s, x, s.zero, y);
  g.for_each(s.n, [&](int i) {
    Real sum = Real(0);
    SS_BY_FOUR
    for (int j = 0; j < s.n; ++j) sum = fma(s.at(j, i), x[j], sum);
    y[i] = sum;
  });
}

/// u_hat = W_hat z + b_hat (compliance included).
template <class G, class Real>
SS_HD void scaled_velocity(const G& g, const Scaled<Real>& s, const Real* z, Real* u) {
  multiply_scaled(g, s, z, s.b, u);
}

}  // namespace stickslip::kernels::inline SS_ISA
