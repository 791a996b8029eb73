// One solution among many (docs/mathematics.md §9). Where contacts are redundant, W is singular and
// the law has many solutions. The one selected is the limit of stiff contacts: for epsilon -> 0
// that of
//
//   u = (W + epsilon D) r + b,   D diagonal, positive where R = 0,
//
// which is unique where friction allows it.
#pragma once
#include "kernels/linalg/cholesky.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// epsilon of the first step of the path. Forces of redundant contacts change by noise of the gaps
/// over epsilon: with 1e-4, a gap wrong by 1e-12 m changes those of four feet by 1 %.
template <class Scalar>
inline constexpr double kSelecting = sizeof(Scalar) == 4 ? 1e-3 : 1e-4;

/// D: W_ii of a scalar row, W_nn in all rows of a contact, so that units cancel. Rolling then
/// yields like a patch of radius mu_j / mu_1, and carries no more of a load than that; with less
/// compliance (their own mobility is 1e-6 of that of the normal) rolling rows would bear it up to
/// their bounds, where the path ends at kinks.
template <class G, class Scalar, class Real>
SS_HD void set_selecting(const G& g, const EnvProblem<Scalar>& p, Scaled<Real>& s) {
  g.for_each(s.ld, [&](int i) {
    s.selecting[i] = i < s.scalars && !(s.R[i] > Real(0)) ? s.W_diag[i] : Real(0);
  });
  g.for_each(s.n_contacts, [&](int k) {
    const int a = s.block[k];
    const Real normal = Real(normal_diagonal(p, k) * s.d[a] * s.d[a]);
    SS_ROLLED
    for (int j = 0; j < s.dim(k); ++j) {
      const bool acts = s.d[a + j] > 0.0 && !(s.R[a + j] > Real(0));
      if (acts) s.selecting[a + j] = normal;
    }
  });
}

/// The scaled problem, with D.
template <class G, class Scalar, class Real>
SS_HD void scale_and_select(const G& g, const EnvProblem<Scalar>& p, Law law, Scaled<Real>& s) {
  scale_problem(g, p, law, s);
  set_selecting(g, p, s);
}

/// How many rows carry the load of row i: sum_j W_ij^2 rho_i rho_j. Alone: 1.
template <class Real>
SS_HD double crowd_of(const Scaled<Real>& s, int i) {
  const Real* column = s.W + std::int64_t(i) * s.ld;
  Real sum = Real(0);
  SS_BY_FOUR
  for (int j = 0; j < s.n; ++j) sum = fma(column[j] * s.rho[j], column[j], sum);
  return max(double(sum * s.rho[i]), 1.0);
}

/// Fills what Newton's map needs for each contact: its crowd and share. Returns the sum of crowd_of
/// over all normals.
template <class G, class Real>
SS_HD double measure_crowds(const G& g, Scaled<Real>& s) {
  return g.sum(s.n_contacts, [&](int k) {
    const double crowd = crowd_of(s, s.block[k]);
    s.crowd[k] = Real(power_of_two_below(crowd));  // exact when divided by
    s.share[k] = Real(1) / s.crowd[k];
    return crowd;
  });
}

/// Whether some rows may have one solution among many.
template <class G, class Scalar>
SS_HD bool may_select(const G& g, const EnvProblem<Scalar>& p) {
  return p.R == nullptr || g.any(p.n, [&](int i) { return !(p.R[i] > Scalar(0)); });
}

/// Whether each contact alone would stop, and nothing else acts: a start with wrong shares of the
/// load is then farther from the selected solution than zero impulses.
template <class Real, class G>
SS_HD bool all_stick_alone(const G& g, const Scaled<Real>& s) {
  return s.scalars == 0 && !g.any(s.n_contacts, [&](int k) {
    const int a = s.block[k];
    const Real most = -s.mu[k] * s.rho[a] * s.b[a];
    Real square = Real(0);
    for (int i = a + 1; i < s.block[k + 1]; ++i) {
      const Real y = s.rho[i] * s.b[i];
      square = fma(y, y, square);
    }
    return !(most > Real(0) && square <= most * most);
  });
}

/// Whether W_hat is regular, so that there is nothing to select: W_hat - 1e-5 diag W_hat is
/// positive definite, but for tangential rows that nothing moves, as across the plane of a planar
/// robot: the selected solution has no impulse there, and a start r without one, in the units of
/// the problem, gets none. Not tried where rows are so crowded that it hardly can be. `crowd`: of
/// measure_crowds; K: scratch [n][n].
template <class Real, class G, class Scalar>
SS_HD bool is_regular(const G& g, const Scaled<Real>& s, const Scalar* r, double crowd, Real* K) {
  constexpr double kCrowded = 2.0;
  constexpr Real kLess = Real(1 - 1e-5);
  if (!s.symmetric || crowd > kCrowded * s.n_contacts) return false;
  g.for_each_2d(s.n, s.n, [&](int i, int j) {
    const Real entry = s.W[std::int64_t(i) * s.ld + j];
    K[std::int64_t(i) * s.n + j] = i == j ? kLess * entry : entry;
  });
  g.for_each(s.n_contacts, [&](int k) {
    for (int i = s.block[k] + 1; i < s.block[k + 1]; ++i) {
      Real& pivot = K[std::int64_t(i) * (s.n + 1)];
      if (pivot == Real(0) && s.b[i] == Real(0) && r[i] == Scalar(0)) pivot = Real(1);
    }
  });
  return cholesky(g, s.n, K, s.n);
}

}  // namespace stickslip::kernels::inline SS_ISA
