// One Newton direction: the linearised equations on the rows that are not fixed, solved by LU.
#pragma once
#include "kernels/linalg/list_rows.hpp"
#include "kernels/linalg/lu.hpp"
#include "kernels/solver/newton/alart_curnier.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Scratch of a direction in the arithmetic of the factorisation.
template <class Factor>
struct DirectionScratch {
  LinearSystem<Factor> system;
  Factor* x;    ///< [n] solution
  int* active;  ///< [n] rows of the system, in order
  int* place;   ///< [n] place of each contact row in the system

  SS_HD DirectionScratch(Arena& arena, int max_rows)
      : system(arena, max_rows),
        x(arena.take<Factor>(max_rows)),
        active(arena.take<int>(max_rows)),
        place(arena.take<int>(max_rows)) {}
};

/// Lists the rows that are not fixed; returns how many. dz of fixed rows is set.
template <class Real, class Factor, class G>
SS_HD int collect_active(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                         const Real* z, const DirectionScratch<Factor>& d, Real* dz) {
  g.for_each(s.ld, [&](int i) {
    const bool fixed = i < s.n && l.is(i, RowState::fixed);
    dz[i] = fixed ? l.target[i] - z[i] : Real(0);
  });
  const auto wanted = [&](int i) { return !l.is(i, RowState::fixed); };
  return list_rows(g, s.n, wanted, d.active, d.place);
}

/// Tangent of the sliding map of one block, applied to its rows (n, t...) of one column x.
/// With e the direction and kappa = radius / |y_t|:
///   Alart-Curnier: t' = mu (rho_n / rho_t) e x_n + kappa (x_t - e (e . x_t)),  n' = x_n
///   natural map:   n' = (x_n + mu e . x_t) / (1 + mu^2),
///                  t' = mu e n' + kappa (x_t - e (e . x_t))
/// |  square:        t_j' = mu (rho_n / rho_t) e_j x_n if e_j is not 0, otherwise x_j
template <int dim, class Factor>
struct Tangent {
  Factor mu, push, kappa;
  Factor e[dim];  ///< entries from 1 on

  template <class Real>
  SS_HD Tangent(const Scaled<Real>& s, const Linearisation<Real>& l, int k)
      : mu(Factor(s.mu[k])), kappa(Factor(l.slide[s.block[k]])) {
    const int a = s.block[k];
    push = l.friction == Friction::cone
               ? mu
               : mu * Factor(s.rho_inv[a + 1] * s.rho[a] * l.normal_share(s, k));
    for (int j = 1; j < dim; ++j) e[j] = Factor(l.slide[a + j]);
  }

  template <Friction kFriction>
  SS_HD void apply(Factor* x, int stride) const {
    if constexpr (kFriction == Friction::square) {
      for (int j = 1; j < dim; ++j) {
        if (e[j] != Factor(0)) x[j * stride] = e[j] * push * x[0];
      }
      return;
    }
    Factor along = Factor(0);
    for (int j = 1; j < dim; ++j) along = fma(e[j], x[j * stride], along);
    if constexpr (kFriction == Friction::cone) {
      x[0] = fma(mu, along, x[0]) / fma(mu, mu, Factor(1));
    }
    const Factor keep = fma(-kappa, along, push * x[0]);
    for (int j = 1; j < dim; ++j) x[j * stride] = fma(kappa, x[j * stride], e[j] * keep);
  }
};

/// dF/dz at fixed u of a sliding block, entry (row i, column j) of the block.
template <class Real>
SS_HD Real direct_tangent(const Scaled<Real>& s, const Linearisation<Real>& l, int k, int i,
                          int j) {
  const int a = s.block[k];
  const Real* e = l.slide + a;
  const Real mu = s.mu[k], kappa = e[0];
  const Real normal = l.inverse_rho(s, a), tangential = l.inverse_rho(s, a + 1);
  const Real identity = Real(i == j ? 1 : 0);
  if (l.friction == Friction::cone) {  // (I - D) / rho, D = derivative of the projection
    const Real share = Real(1) / fma(mu, mu, Real(1));
    if (i == 0 && j == 0) return normal * (Real(1) - share);
    if (i == 0 || j == 0) return -normal * share * mu * e[i + j];
    const Real disk = kappa * fma(-e[i], e[j], identity);
    return normal * (identity - fma(mu * mu * share * e[i], e[j], disk));
  }
  if (i == 0) return Real(0);
  if (j == 0) return -tangential * mu * e[i];
  if (l.friction == Friction::square) return i == j && e[i] != Real(0) ? tangential : Real(0);
  return tangential * (identity - kappa * fma(-e[i], e[j], identity));
}

/// Adds dF/dz at fixed u to column j of the diagonal block of contact k.
template <class Real, class Factor>
SS_HD void add_direct(const Scaled<Real>& s, const Linearisation<Real>& l, int k, int dim, int j,
                      const DirectionScratch<Factor>& d) {
  const int place = d.place[s.block[k]];
  SS_ROLLED
  for (int i = 0; i < dim; ++i) {
    d.system.a[std::int64_t(place + i) * d.system.ld + place + j] +=
        Factor(direct_tangent(s, l, k, i, j));
  }
}

/// f(dim, apply) for block k if it slides; apply(x, stride): its tangent, applied to a column.
template <class Real, class Factor, class F>
SS_HD void with_tangent(const Scaled<Real>& s, const Linearisation<Real>& l, int k, F&& f) {
  if (!l.is(s.block[k], RowState::sliding)) return;
  with_dim(s.dim(k), [&](auto dim) SS_INLINE {
    const Tangent<dim(), Factor> tangent(s, l, k);
    with_friction(l.friction, [&](auto friction) SS_INLINE {
      f(dim, [&](Factor* x, int stride)
                 SS_INLINE { tangent.template apply<decltype(friction)::value>(x, stride); });
    });
  });
}

/// Applies the tangents of all sliding blocks to their rows and right sides, and adds dF/dz at
/// fixed u. Lanes of a GPU take all blocks' right sides and diagonal blocks at once.
template <class Real, class Factor, class G>
SS_HD void apply_tangents(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                          int count, const DirectionScratch<Factor>& d) {
  constexpr bool kAtOnce = G::kChunk == 1;
  const auto right = [&](int k) { return d.system.right() + d.place[s.block[k]]; };
  g.for_rows(s.n_contacts, count, [&](int k, auto&& columns) SS_INLINE {
    with_tangent<Real, Factor>(s, l, k, [&](auto dim, auto&& apply) SS_INLINE {
      const int ld = d.system.ld;
      Factor* const top = d.system.a + std::int64_t(d.place[s.block[k]]) * ld;
      columns([&](int j) SS_INLINE { apply(top + j, ld); });
      if constexpr (!kAtOnce) {
        apply(right(k), 1);
        for (int j = 0; j < dim(); ++j) add_direct(s, l, k, dim(), j, d);
      }
    });
  });
  if constexpr (kAtOnce) {
    constexpr int kMost = 6;  // columns of a block
    g.for_each(s.n_contacts, [&](int k) {
      with_tangent<Real, Factor>(s, l, k, [&](auto, auto&& apply) { apply(right(k), 1); });
    });
    g.for_each_2d(s.n_contacts, kMost, [&](int k, int j) {
      const int dim = s.dim(k);
      if (j < dim && l.is(s.block[k], RowState::sliding)) add_direct(s, l, k, dim, j, d);
    });
  }
}

/// Fills the rows of the system: W_hat + epsilon diag on the active rows, right side -F - W
/// dz_fixed. The regularisation is relative to each row (rolling rows are 1e-6 of the others).
template <class Real, class Factor, class G>
SS_HD void assemble(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l, int count,
                    Factor epsilon, const Real* pull, const DirectionScratch<Factor>& d) {
  // W is read along its columns; if it is symmetric, they are also its rows.
  const std::int64_t row_step = s.symmetric ? s.ld : 1, column_step = s.symmetric ? 1 : s.ld;
  if (count == s.n && s.symmetric) {
    g.for_each_2d(count, s.ld, [&](int i, int j) {
      d.system.a[std::int64_t(i) * d.system.ld + j] = Factor(s.W[std::int64_t(i) * s.ld + j]);
    });
  } else {
    g.for_rows(count, count, [&](int i, auto&& columns) SS_INLINE {
      const Real* const from = s.W + d.active[i] * row_step;
      Factor* const to = d.system.a + std::int64_t(i) * d.system.ld;
      columns([&](int j) SS_INLINE { to[j] = Factor(from[d.active[j] * column_step]); });
    });
  }
  Factor* right = d.system.right();
  g.for_each(count, [&](int i) {
    Factor* row = d.system.place_row(i);
    row[i] = fma(epsilon, row[i] + Factor(1e-3), row[i]);
    right[i] = Factor(-pull[d.active[i]]);
    for (int j = count; j < padded(count); ++j) row[j] = Factor(0);
  });
  apply_tangents(g, s, l, count, d);
  g.for_each(count, [&](int i) { right[i] -= Factor(l.F[d.active[i]]); });
}

/// Newton direction dz at the linearisation, whose velocities have the error `mismatch` [ld]; pull:
/// scratch [ld]. False if the system is singular.
template <class Real, class Factor, class G>
SS_HD bool newton_direction(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                            Factor epsilon, const Real* z, const Real* mismatch,
                            const DirectionScratch<Factor>& d, Real* pull, Real* dz) {
  const int count = collect_active(g, s, l, z, d, dz);
  if (count == 0) return true;
  matvec(g, s.n, s.W, s.ld, dz, mismatch, pull);
  assemble(g, s, l, count, epsilon, pull, d);
  if (!solve_lu(g, d.system, count, d.x)) return false;
  g.for_each(count, [&](int i) { dz[d.active[i]] = Real(d.x[i]); });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
