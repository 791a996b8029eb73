// The convex law with compliance R > 0 as an unconstrained problem: R makes the cone's penalty s(u)
// smooth, with s'(u) = -r(u), r(u) = argmin over the cone of r^T R r / 2 + u^T r (Todorov 2014).
// In y = -u / sqrt(R) and x = sqrt(R) r this is the projection on the circular cone of slope m = mu
// sqrt(R_t / R_n). Decoupled rows (d = 0), whose impulse is zero, are left out.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/problem/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The dual map at u and the factor L of its derivative: -dr/du = L L^T.
template <class Real>
struct Penalty {
  enum State : std::int32_t { constant = 0, linear = 1, curved = 2 };
  std::int32_t* state;  ///< [n]
  Real* r;              ///< [n] r(u)
  Real* root;           ///< [n] sqrt(R_hat); 0 on decoupled rows
  Real* slide;          ///< [n] curved block: row a holds kappa, rows a + j the direction e

  SS_HD Penalty(Arena& arena, int max_rows)
      : state(arena.take<std::int32_t>(max_rows)),
        r(arena.take<Real>(padded(max_rows))),
        root(arena.take<Real>(max_rows)),
        slide(arena.take<Real>(max_rows)) {}

  /// First coupled tangential row of block k, or the normal row if there is none.
  SS_HD int tangent(const Scaled<Real>& s, int k) const {
    const int a = s.block[k];
    for (int j = 1; j < s.dim(k); ++j) {
      if (root[a + j] > Real(0)) return a + j;
    }
    return a;
  }
  /// Slope m of the block's cone in the scaled coordinates.
  SS_HD Real slope(const Scaled<Real>& s, int k) const {
    return s.mu[k] * root[tangent(s, k)] / root[s.block[k]];
  }
};

/// Fills root. False unless every coupled row has compliance, equal within each tangential block
/// (as in MuJoCo, in circular coordinates): otherwise the natural map is used instead.
template <class Real, class G>
SS_HD bool prepare_penalty(const G& g, const Scaled<Real>& s, const Penalty<Real>& penalty) {
  g.for_each(s.n, [&](int i) {
    penalty.root[i] = s.d[i] > 0.0 ? sqrt(s.R[i]) : Real(0);
    penalty.slide[i] = Real(0);
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
  const auto y = [&](int j) {
    const Real root = penalty.root[a + j];
    return root > Real(0) ? -u[a + j] / root : Real(0);
  };
  Real length = Real(0);
  for (int j = 1; j < dim; ++j) length = fma(y(j), y(j), length);
  length = sqrt(length);
  const auto cone = project_cone(penalty.slope(s, k), y(0), length);
  const bool open = !cone.inside && !(cone.normal > Real(0));
  const std::int32_t state = open          ? Penalty<Real>::constant
                             : cone.inside ? Penalty<Real>::linear
                                           : Penalty<Real>::curved;
  for (int j = 0; j < dim; ++j) {
    const Real root = penalty.root[a + j];
    const Real x = j == 0 ? cone.normal : cone.factor * y(j);
    penalty.state[a + j] = root > Real(0) ? state : Penalty<Real>::constant;
    penalty.r[a + j] = root > Real(0) ? x / root : Real(0);
    if (state == Penalty<Real>::curved) {
      penalty.slide[a + j] = j == 0 ? sqrt(cone.factor) : y(j) / length;
    }
  }
}

/// Evaluates r(u), states and factors of all items.
template <class Real, class G>
SS_HD void penalise(const G& g, const Scaled<Real>& s, const Penalty<Real>& penalty,
                    const Real* u) {
  g.for_each(s.scalars + s.n_contacts, [&](int item) {
    if (item < s.scalars) {
      penalise_row(s, penalty, item, u);
    } else {
      penalise_block(s, penalty, item - s.scalars, u);
    }
  });
}

/// x <- S x for the rows of a curved block, S = v v^T + kappa (I - e e^T), v = (1, m e) / sqrt(1 +
/// m^2): the symmetric root of the projection's derivative. `place(j)` is row j's element of x.
template <class Real, class F>
SS_HD void apply_root(const Scaled<Real>& s, const Penalty<Real>& penalty, int k, F&& place) {
  const int a = s.block[k], dim = s.dim(k);
  const Real* e = penalty.slide + a;
  const Real m = penalty.slope(s, k), kappa = e[0];
  Real along = Real(0);
  for (int j = 1; j < dim; ++j) {
    if (penalty.root[a + j] > Real(0)) along = fma(e[j], place(j), along);
  }
  const Real share = fma(m, along, place(0)) / fma(m, m, Real(1));  // (v . x) / sqrt(1 + m^2)
  place(0) = share;
  const Real push = fma(-kappa, along, m * share);
  for (int j = 1; j < dim; ++j) {
    if (penalty.root[a + j] > Real(0)) place(j) = fma(kappa, place(j), e[j] * push);
  }
}

/// w^T L L^T w of one item: the curvature of the penalty along w.
template <class Real>
SS_HD double curvature(const Scaled<Real>& s, const Penalty<Real>& penalty, int item,
                       const Real* w) {
  if (item < s.scalars) {
    const bool linear = penalty.state[item] == Penalty<Real>::linear;
    return linear ? double(w[item]) * double(w[item]) / double(s.R[item]) : 0.0;
  }
  const int k = item - s.scalars, a = s.block[k], dim = s.dim(k);
  if (penalty.state[a] == Penalty<Real>::constant) return 0.0;
  const bool curved = penalty.state[a] == Penalty<Real>::curved;
  const Real* e = penalty.slide + a;
  double along = 0.0, tangential = 0.0;
  const double normal = double(w[a]) / double(penalty.root[a]);
  for (int j = 1; j < dim; ++j) {
    if (!(penalty.root[a + j] > Real(0))) continue;
    const double y = double(w[a + j]) / double(penalty.root[a + j]);
    tangential = fma(y, y, tangential);
    along = fma(double(e[j]), y, along);
  }
  if (!curved) return fma(normal, normal, tangential);
  const double m = double(penalty.slope(s, k)), kappa = double(e[0]);
  const double alpha = fma(m, along, normal);
  return fma(kappa * kappa, fma(-along, along, tangential), alpha * alpha / fma(m, m, 1.0));
}

}  // namespace stickslip::kernels::inline SS_ISA
