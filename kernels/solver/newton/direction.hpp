// One Newton direction: the linearised equations on the rows that are not fixed, solved by LU.
#pragma once
#include "kernels/linalg/list_rows.hpp"
#include "kernels/linalg/lu.hpp"
#include "kernels/scaling/selection.hpp"
#include "kernels/solver/newton/alart_curnier.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What is added to the diagonal of W_hat in a Jacobian: epsilon (W_ii + 1e-3) + proximal D.
template <class Factor>
struct Regularisation {
  Factor epsilon = Factor(0), proximal = Factor(0);
  SS_HD bool operator==(const Regularisation& other) const {
    return epsilon == other.epsilon && proximal == other.proximal;
  }
};

/// Scratch of a direction in the arithmetic of the factorisation.
template <class Factor>
struct DirectionScratch {
  LinearSystem<Factor> system;
  Factor* x;    ///< [n] solution
  int* active;  ///< [n] rows of the system, in order
  int* place;   ///< [n] place of each active row in the system
  int* state;   ///< [n] of the rows when the system was factorised

  SS_HD DirectionScratch(Arena& arena, int max_rows)
      : system(arena, max_rows),
        x(arena.take<Factor>(max_rows)),
        active(arena.take<int>(max_rows)),
        place(arena.take<int>(max_rows)),
        state(arena.take<int>(max_rows)) {
    system.keep_factors(arena, max_rows);
  }
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
///   square:        t_j' = mu (rho_n / rho_t) e_j x_n if e_j is not 0, otherwise x_j
template <int dim, class Factor>
struct Tangent {
  Factor mu, push, kappa;
  Factor e[dim];  ///< entries from 1 on

  SS_HD Tangent() {}
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
  SS_HD void apply(Factor* x) const {
    if constexpr (kFriction == Friction::square) {
      for (int j = 1; j < dim; ++j) {
        if (e[j] != Factor(0)) x[j] = e[j] * push * x[0];
      }
      return;
    }
    Factor along = Factor(0);
    for (int j = 1; j < dim; ++j) along = fma(e[j], x[j], along);
    if constexpr (kFriction == Friction::cone) {
      x[0] = fma(mu, along, x[0]) / fma(mu, mu, Factor(1));
    }
    const Factor keep = fma(-kappa, along, push * x[0]);
    for (int j = 1; j < dim; ++j) x[j] = fma(kappa, x[j], e[j] * keep);
  }
};

/// Adds column j of dF/dz at fixed u of a sliding block to x[dim]. Its rows below the normal are
/// factor (e c + diagonal I); for the natural map it is (I - D) / rho, with D the derivative of the
/// projection.
template <int dim, class Real, class Factor>
SS_HD void add_direct(const Scaled<Real>& s, const Linearisation<Real>& l, int k, int j,
                      Factor* x) {
  const int a = s.block[k];
  const Real* e = l.slide + a;
  const Real mu = s.mu[k], kappa = e[0], e_j = j == 0 ? Real(0) : e[j];
  Real factor = l.inverse_rho(s, k, 1), c = j == 0 ? -mu : kappa * e_j;
  Real diagonal = Real(1) - kappa;
  if (l.friction == Friction::cone) {
    const Real share = Real(1) / fma(mu, mu, Real(1)), along = j == 0 ? Real(1) : mu * e_j;
    factor = l.inverse_rho(s, k, 0);
    c = fma(kappa, e_j, -share * mu * along);
    x[0] += Factor(factor * (Real(j == 0 ? 1 : 0) - share * along));
  } else if (l.friction == Friction::square) {
    c = j == 0 ? -mu : Real(0);
    diagonal = Real(e_j != Real(0) ? 1 : 0);
  }
  unroll<1, dim>([&](auto i) SS_INLINE {
    x[i] += Factor(factor * fma(e[i], c, i == j ? diagonal : Real(0)));
  });
}

/// f(dim, apply) for a scalar row or block; apply(x): its tangent, or nothing unless it slides. On
/// a GPU there is one f for each dimension: apply decides, so that there is less code.
template <class Real, class Factor, class F>
SS_HD void with_tangent(const Scaled<Real>& s, const Linearisation<Real>& l, int item, F&& f) {
  const auto keep = [](Factor*) SS_INLINE {};
  if (item < s.scalars) {
    f(Dim<1>{}, keep);
    return;
  }
  const int k = item - s.scalars;
  const bool slides = l.is(s.block[k], RowState::sliding);
  with_dim(s.dim(k), [&](auto dim) SS_INLINE {
    Tangent<dim(), Factor> tangent;
    if (slides) tangent = Tangent<dim(), Factor>(s, l, k);
    const auto apply_as = [&](auto friction, Factor* x)
                              SS_INLINE { tangent.template apply<decltype(friction)::value>(x); };
    if constexpr (kOnGpu) {
      f(dim, [&](Factor* x) SS_INLINE {
        if (!slides) return;
        with_friction(l.friction, [&](auto friction) SS_INLINE { apply_as(friction, x); });
      });
    } else if (slides) {
      with_friction(l.friction, [&](auto friction) SS_INLINE {
        f(dim, [&](Factor* x) SS_INLINE { apply_as(friction, x); });
      });
    } else {
      f(dim, keep);
    }
  });
}

/// One row or block of the system: T W_hat, with its tangent T; in its own columns also
/// T (regularisation) + dF/dz at fixed u; right side T pull + F. The regularisation is relative to
/// each row (rolling rows are 1e-6 of the others).
template <class Real, class Factor>
struct SystemRows {
  const Scaled<Real>& s;
  const Linearisation<Real>& l;
  const DirectionScratch<Factor>& d;
  Regularisation<Factor> more;
  const Real* pull;
  int item, a;  ///< a: its first row

  SS_HD int place() const { return d.place[a]; }

  /// A column of W_hat or the vector `pull`, from its entry in row a on.
  template <int dim, class Apply>
  SS_HD void load(const Real* from, std::int64_t step, Apply&& apply, Factor* x) const {
    unroll<0, dim>([&](auto q) SS_INLINE { x[q] = Factor(from[q * step]); });
    apply(x);
  }
  template <int dim>
  SS_HD void add_F(Factor* x) const {
    unroll<0, dim>([&](auto q) SS_INLINE { x[q] += Factor(l.F[a + q]); });
  }
  /// Adds what else is in its own column j; also tells the system where row j is.
  template <int dim, class Apply>
  SS_HD void add_own(int j, Apply&& apply, Factor* x) const {
    const Factor diagonal = fma(more.epsilon, Factor(s.at(a + j, a + j)) + Factor(1e-3),
                                more.proximal * Factor(s.selecting[a + j]));
    Factor own[dim];
    unroll<0, dim>([&](auto q) SS_INLINE { own[q] = q == j ? diagonal : Factor(0); });
    apply(own);
    if (dim > 1 && l.is(a, RowState::sliding)) add_direct<dim>(s, l, item - s.scalars, j, own);
    unroll<0, dim>([&](auto q) SS_INLINE { x[q] += own[q]; });
    d.system.place_row(place() + j);
  }
};

/// Fills `width` columns of the system of -dz on the active rows; on a CPU also the padding of each
/// row, with zeros. Lanes of a GPU take all columns of a block at once, the right side among them.
/// `column_of(j)`: the row of s that column j belongs to.
template <class Real, class Factor, class G, class F>
SS_HD void assemble_rows(const G& g, const SystemRows<Real, Factor>& of_all, int count, int width,
                         F&& column_of) {
  constexpr bool kAtOnce = G::kChunk == 1;
  const Scaled<Real>& s = of_all.s;
  const LinearSystem<Factor>& m = of_all.d.system;
  const int items = s.scalars + s.n_contacts;
  // f(rows, dim, apply) for an item, unless its rows are fixed.
  const auto with_rows = [&](int item, auto&& f) SS_INLINE {
    SystemRows<Real, Factor> rows = of_all;
    rows.item = item;
    rows.a = first_row(s, item);
    if (rows.l.is(rows.a, RowState::fixed)) return;
    with_tangent<Real, Factor>(s, rows.l, item,
                               [&](auto dim, auto&& apply) SS_INLINE { f(rows, dim, apply); });
  };
  // A column of W is also a row if W is symmetric: then columns side by side lie side by side.
  const std::int64_t row_step = s.symmetric ? s.ld : 1, column_step = s.symmetric ? 1 : s.ld;
  g.for_rows(items, kAtOnce ? width + 1 : width, [&](int item, auto&& columns) SS_INLINE {
    with_rows(item, [&](const auto& rows, auto dim, auto&& apply) SS_INLINE {
      constexpr int D = dim();
      const int place = rows.place();
      const Real* const W = s.W + rows.a * row_step;
      Factor* const top = m.a + std::int64_t(place) * m.ld;
      const auto store = [&](const Factor* x, Factor* to, std::int64_t step) SS_INLINE {
        unroll<0, D>([&](auto q) SS_INLINE { to[q * step] = x[q]; });
      };
      columns([&](int j) SS_INLINE {
        const bool is_right = kAtOnce && j == count;
        const Real* from = is_right ? rows.pull + rows.a : W + column_of(j) * column_step;
        Factor x[D];
        rows.template load<D>(from, is_right ? 1 : row_step, apply, x);
        if constexpr (kAtOnce) {
          if (is_right) rows.template add_F<D>(x);
          if (unsigned(j - place) < unsigned(D)) rows.template add_own<D>(j - place, apply, x);
        }
        store(x, is_right ? m.right() + place : top + j, is_right ? 1 : m.ld);
      });
      if constexpr (!kAtOnce) {
        Factor x[D];
        for (int j = 0; j < D; ++j) {
          for (int c = width; c < padded(count); ++c) top[std::int64_t(j) * m.ld + c] = Factor(0);
          Factor* const own = top + place + j;
          unroll<0, D>([&](auto q) SS_INLINE { x[q] = own[q * m.ld]; });
          rows.template add_own<D>(j, apply, x);
          store(x, own, m.ld);
        }
        rows.template load<D>(rows.pull + rows.a, 1, apply, x);
        rows.template add_F<D>(x);
        store(x, m.right() + place, 1);
      }
    });
  });
}

/// Whether the factors of the last system serve again (simplified Newton): no row has changed its
/// state since.
template <class Real, class Factor, class G>
SS_HD bool factors_serve(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                         const Real* z, const DirectionScratch<Factor>& d) {
  return !g.any(s.n, [&](int i) {
    return l.state[i] != d.state[i] || (l.is(i, RowState::fixed) && l.target[i] != z[i]);
  });
}

/// Lists the active rows, assembles their system and factorises it. False if it is singular.
/// `mismatch`, `pull`, `count` as below.
template <class Real, class Factor, class G>
SS_HD bool factor_system(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                         const Regularisation<Factor>& more, const Real* z, const Real* mismatch,
                         const DirectionScratch<Factor>& d, int& count, Real* pull, Real* dz) {
  count = collect_active(g, s, l, z, d, dz);
  g.for_each(s.n, [&](int i) { d.state[i] = l.state[i]; });
  if (count == 0) return true;
  matvec(g, s.n, s.W, s.ld, dz, mismatch, pull);
  const SystemRows<Real, Factor> rows{s, l, d, more, pull, 0, 0};
  const auto active_column = [&](int j) SS_INLINE { return d.active[j]; };
  if constexpr (G::kChunk == 1) {
    assemble_rows(g, rows, count, count, active_column);
  } else if (count == s.n && s.symmetric) {  // W's own padding is zero
    assemble_rows(g, rows, count, s.ld, [](int j) SS_INLINE { return j; });
  } else {
    assemble_rows(g, rows, count, count, active_column);
  }
  return factor_lu(g, d.system, count);
}

/// Newton direction dz at the linearisation, whose velocities have the error `mismatch` [ld]; pull:
/// scratch [ld]. `repeats`: with the factors of the last system, of `count` rows, if they serve;
/// whether they did. False if the system is singular.
template <class Real, class Factor, class G>
SS_HD bool newton_direction(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                            const Regularisation<Factor>& more, const Real* z, const Real* mismatch,
                            const DirectionScratch<Factor>& d, bool& repeats, int& count,
                            Real* pull, Real* dz) {
  repeats = repeats && factors_serve(g, s, l, z, d);
  for (;;) {
    if (repeats) {
      g.for_each(s.ld, [&](int i) { dz[i] = Real(0); });
      g.for_each(count, [&](int j) { d.x[j] = Factor(l.F[d.active[j]]); });
      substitute_forward(g, d.system, count, d.x);
    } else if (!factor_system(g, s, l, more, z, mismatch, d, count, pull, dz)) {
      return false;
    }
    if (substitute_back(g, d.system, count, d.x)) break;
    if (!repeats) return false;
    repeats = false;
  }
  g.for_each(count, [&](int j) { dz[d.active[j]] = -Real(d.x[j]); });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
