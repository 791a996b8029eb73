// The convex law with compliance R > 0 as an unconstrained problem: R makes the cone's penalty s(u)
// smooth, with s'(u) = -r(u), r(u) = argmin over the cone of r^T R r / 2 + u^T r (Todorov 2014).
// In y = -u / sqrt(R) and x = sqrt(R) r this is the projection on the circular cone of slope m = mu
// sqrt(R_t / R_n). Decoupled rows (d = 0), whose impulse is zero, are left out.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The dual map at u and the factor L of its derivative: -dr/du = L L^T.
template <class Real>
struct Penalty {
  enum State : std::int32_t { constant = 0, linear = 1, curved = 2 };
  std::int32_t* state;  ///< [n]
  Real* r;              ///< [n] r(u)
  Real* stiffness;      ///< [n] 1 / sqrt(R_hat); 0 on decoupled rows
  Real* slope;          ///< [n_contacts] slope m of the cone in the scaled coordinates
  Real* slide;          ///< [n] curved block: row a holds kappa, rows a + j the direction e

  SS_HD Penalty(Arena& arena, int max_rows)
      : state(arena.take<std::int32_t>(max_rows)),
        r(arena.take<Real>(padded(max_rows))),
        stiffness(arena.take<Real>(max_rows)),
        slope(arena.take<Real>(max_rows / 3)),
        slide(arena.take<Real>(max_rows)) {}

  /// First coupled tangential row of block k, or the normal row if there is none.
  SS_HD int tangent(const Scaled<Real>& s, int k) const {
    const int a = s.block[k];
    for (int j = 1; j < s.dim(k); ++j) {
      if (stiffness[a + j] > Real(0)) return a + j;
    }
    return a;
  }
};

/// Fills stiffness and slope. False unless every coupled row has compliance, equal within each
/// tangential block (as in MuJoCo, in circular coordinates): otherwise the natural map is used
/// instead.
template <class Real, class G>
SS_HD bool prepare_penalty(const G& g, const Scaled<Real>& s, const Penalty<Real>& penalty) {
  g.for_each(s.n, [&](int i) {
    penalty.stiffness[i] = s.d[i] > 0.0 ? Real(1) / sqrt(s.R[i]) : Real(0);
    penalty.slide[i] = Real(0);
  });
  g.for_each(s.n_contacts, [&](int k) {
    const Real tangential = penalty.stiffness[penalty.tangent(s, k)];
    penalty.slope[k] = s.mu[k] * penalty.stiffness[s.block[k]] / tangential;
  });
  return !g.any(s.scalars + s.n_contacts, [&](int item) {
    if (item < s.scalars) return !(s.R[item] > Real(0));
    const int k = item - s.scalars, a = s.block[k];
    const Real reference = s.R[penalty.tangent(s, k)];
    bool unfit = !(s.R[a] > Real(0));
    for (int j = 1; j < s.dim(k); ++j) {
      if (!(s.d[a + j] > 0.0)) continue;
      unfit = unfit || !(s.R[a + j] > Real(0));
      unfit = unfit || abs(s.R[a + j] - reference) > Real(1e-4) * reference;
    }
    return unfit;
  });
}

template <class Real>
SS_HD void penalise_row(const Scaled<Real>& s, const Penalty<Real>& penalty, int i, const Real* u) {
  const Real y = -u[i] / s.R[i];
  const bool low = y <= s.lo[i], high = y >= s.hi[i];
  penalty.state[i] = low || high ? Penalty<Real>::constant : Penalty<Real>::linear;
  penalty.r[i] = low ? s.lo[i] : (high ? s.hi[i] : y);
}

template <class Real>
SS_HD void penalise_block(const Scaled<Real>& s, const Penalty<Real>& penalty, int k,
                          const Real* u) {
  const int a = s.block[k], dim = s.dim(k);
  const auto y = [&](int j) { return -u[a + j] * penalty.stiffness[a + j]; };
  Real length = Real(0);
  for (int j = 1; j < dim; ++j) length = fma(y(j), y(j), length);
  length = sqrt(length);
  const auto cone = project_cone(penalty.slope[k], y(0), length);
  const bool open = !cone.inside && !(cone.normal > Real(0));
  const std::int32_t state = open          ? Penalty<Real>::constant
                             : cone.inside ? Penalty<Real>::linear
                                           : Penalty<Real>::curved;
  for (int j = 0; j < dim; ++j) {
    const Real stiffness = penalty.stiffness[a + j];
    penalty.state[a + j] = stiffness > Real(0) ? state : Penalty<Real>::constant;
    penalty.r[a + j] = (j == 0 ? cone.normal : cone.factor * y(j)) * stiffness;
  }
  if (state != Penalty<Real>::curved) return;
  const Real shrink = Real(1) / length;
  penalty.slide[a] = sqrt(cone.factor);
  for (int j = 1; j < dim; ++j) penalty.slide[a + j] = y(j) * shrink;
}

/// Evaluates r(u), state and factor of one scalar row or block.
template <class Real>
SS_HD void penalise_item(const Scaled<Real>& s, const Penalty<Real>& penalty, int item,
                         const Real* u) {
  if (item < s.scalars) {
    penalise_row(s, penalty, item, u);
  } else {
    penalise_block(s, penalty, item - s.scalars, u);
  }
}

/// The same for all.
template <class Real, class G>
SS_HD void penalise(const G& g, const Scaled<Real>& s, const Penalty<Real>& penalty,
                    const Real* u) {
  g.for_each(s.scalars + s.n_contacts, [&](int item) { penalise_item(s, penalty, item, u); });
}

/// x <- S x for the rows of a curved block, S = v v^T + kappa (I - e e^T), v = (1, m e) / sqrt(1 +
/// m^2): the symmetric root of the projection's derivative. `place(j)` is row j's element of x.
template <class Real, class F>
SS_HD void apply_root(const Scaled<Real>& s, const Penalty<Real>& penalty, int k, F&& place) {
  const int a = s.block[k], dim = s.dim(k);
  const Real* e = penalty.slide + a;
  const Real m = penalty.slope[k], kappa = e[0];
  Real along = Real(0);
  for (int j = 1; j < dim; ++j) {
    if (penalty.stiffness[a + j] > Real(0)) along = fma(e[j], place(j), along);
  }
  const Real share = fma(m, along, place(0)) / fma(m, m, Real(1));  // (v . x) / sqrt(1 + m^2)
  place(0) = share;
  const Real push = fma(-kappa, along, m * share);
  for (int j = 1; j < dim; ++j) {
    if (penalty.stiffness[a + j] > Real(0)) place(j) = fma(kappa, place(j), e[j] * push);
  }
}

/// w^T L L^T w of one item: the curvature of the penalty along w.
template <class Real>
SS_HD double curvature(const Scaled<Real>& s, const Penalty<Real>& penalty, int item,
                       const Real* w) {
  const auto y = [&](int i) { return double(w[i]) * double(penalty.stiffness[i]); };
  if (item < s.scalars) {
    return penalty.state[item] == Penalty<Real>::linear ? y(item) * y(item) : 0.0;
  }
  const int k = item - s.scalars, a = s.block[k], dim = s.dim(k);
  if (penalty.state[a] == Penalty<Real>::constant) return 0.0;
  const Real* e = penalty.slide + a;
  double along = 0.0, tangential = 0.0;
  for (int j = 1; j < dim; ++j) {
    tangential = fma(y(a + j), y(a + j), tangential);
    along = fma(double(e[j]), y(a + j), along);
  }
  if (penalty.state[a] == Penalty<Real>::linear) return fma(y(a), y(a), tangential);
  const double m = double(penalty.slope[k]), kappa = double(e[0]);
  const double alpha = fma(m, along, y(a));
  return fma(kappa * kappa, fma(-along, along, tangential), alpha * alpha / fma(m, m, 1.0));
}

}  // namespace stickslip::kernels::inline SS_ISA
