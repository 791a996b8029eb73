// M, J -> W = J M^-1 J^T, and r -> v = v_free + M^-1 J^T r (docs/mathematics.md §1).
//
// M = L L^T with the degrees of freedom in reverse order: MuJoCo numbers a kinematic tree from the
// root, and elimination from the leaves creates no fill-in (Featherstone 2005), so zeros of M stay
// zeros of L and are skipped. With Y = L^-1 J^T: W = Y^T Y.
#pragma once
#include "kernels/delassus/mechanism_view.hpp"
#include "kernels/group/arena.hpp"
#include "kernels/group/is_group.hpp"
#include "kernels/linalg/cholesky.hpp"
#include "kernels/linalg/matvec.hpp"
#include "kernels/problem/env_problem.hpp"
#include "stickslip/delassus.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
struct DelassusScratch {
  Scalar* L;  ///< [nv][nv] factor of the reversed mass matrix
  Scalar* Y;  ///< [nv][padded(rows)]
  Scalar* x;  ///< [nv]

  SS_HD DelassusScratch(Arena arena, int nv, int max_rows)
      : L(arena.take<Scalar>(std::size_t(nv) * nv)),
        Y(arena.take<Scalar>(std::size_t(nv) * padded(max_rows))),
        x(arena.take<Scalar>(nv)),
        end_(arena.used()) {}
  SS_HD static std::size_t bytes(int nv, int max_rows) {
    return DelassusScratch(Arena(nullptr), nv, max_rows).end();
  }
  SS_HD std::size_t end() const { return end_; }  ///< bytes of the arena up to here

 private:
  std::size_t end_;
};

/// Factor of the reversed mass matrix. False unless M is finite and positive definite.
template <class Scalar, class G>
SS_HD bool factor_mass(const G& g, const MechanismView<Scalar>& m, Scalar* L) {
  const int nv = m.nv;
  load_mass(g, m, L);
  if (g.any(nv * nv, [&](int i) { return !is_finite(L[i]); })) return false;
  return cholesky(g, nv, L, nv);
}

/// y <- L^-1 y for a column of Y: as forward_columns, with each entry in a register.
template <class Scalar>
SS_HD void forward_column(int nv, const Scalar* L, Scalar* y, int ld) {
  SS_ROLLED
  for (int j = 0; j < nv; ++j) {
    Scalar value = y[std::int64_t(j) * ld];
    SS_BY_FOUR
    for (int k = 0; k < j; ++k) {
      const Scalar f = L[std::int64_t(k) * nv + j];
      value = select(f != Scalar(0), fma(-f, y[std::int64_t(k) * ld], value), value);
    }
    y[std::int64_t(j) * ld] = value * L[std::int64_t(j) * nv + j];
  }
}

/// Y <- L^-1 Y; for_columns(entry): entry(i) for the columns i.
template <class Scalar, class F>
SS_HD void forward_columns(int nv, const Scalar* L, Scalar* Y, int ld, F&& for_columns) {
  for (int k = 0; k < nv; ++k) {
    const Scalar* column = L + std::int64_t(k) * nv;
    Scalar* row = Y + std::int64_t(k) * ld;
    const Scalar inverse = column[k];
    for_columns([&](int i) { row[i] *= inverse; });
    for (int j = k + 1; j < nv; ++j) {
      const Scalar f = column[j];
      if (f == Scalar(0)) continue;
      Scalar* target = Y + std::int64_t(j) * ld;
      for_columns([&](int i) { target[i] = fma(-f, row[i], target[i]); });
    }
  }
}

/// Y = L^-1 J^T. Each lane of a GPU takes columns of its own, without barriers.
template <class Scalar, class G>
SS_HD void half_solve(const G& g, const MechanismView<Scalar>& m, int n, const Scalar* L,
                      Scalar* Y) {
  const int ld = padded(n);
  load_rows(g, m, n, ld, Y);
  if constexpr (G::kChunk == 1) {
    g.for_each(n, [&](int i) SS_INLINE { forward_column(m.nv, L, Y + i, ld); });
  } else {
    forward_columns(m.nv, L, Y, ld, [&](auto&& entry) SS_INLINE { g.for_each(n, entry); });
  }
}

/// W = Y^T Y: one fma chain per entry, in the order of the degrees of freedom; exactly symmetric.
template <class Scalar, class G>
SS_HD void gram_matrix(const G& g, int nv, int n, const Scalar* Y, Scalar* W, int ld_W) {
  constexpr int C = G::kChunk;
  const int ld = padded(n);
  g.for_each_2d(n, (n + C - 1) / C, [&](int i, int chunk) {
    const int j0 = chunk * C;
    if (j0 + C <= i) return;
    auto sum = Lanes<Scalar, C>::all(Scalar(0));
    SS_BY_FOUR
    for (int k = 0; k < nv; ++k) {
      const Scalar y = Y[std::int64_t(k) * ld + i];
      if (!kOnGpu && y == Scalar(0)) continue;  // a row touches few degrees of freedom
      sum.add(Lanes<Scalar, C>::load(Y + std::int64_t(k) * ld + j0), y);
    }
    Scalar entry[C];
    sum.store(entry);
    for (int l = 0; l < C; ++l) {
      if (j0 + l >= i && j0 + l < n) W[std::int64_t(i) * ld_W + j0 + l] = entry[l];
    }
  });
  g.for_each_2d(n, n, [&](int i, int j) {
    if (j < i) W[std::int64_t(i) * ld_W + j] = W[std::int64_t(j) * ld_W + i];
  });
}

template <class Scalar>
SS_HD int rows_in_use(const MechanismBatch<Scalar>& batch, std::int64_t env) {
  const std::int32_t* rows = slot(batch.rows, env);
  return rows == nullptr ? batch.max_rows : clamp(*rows, 0, batch.max_rows);
}

/// W = J M^-1 J^T of the first n rows of J. False, and W NaN, unless M is finite and positive
/// definite.
template <class Scalar, class G>
SS_HD bool form_matrix(const G& g, const MechanismView<Scalar>& m, int n,
                       const DelassusScratch<Scalar>& scratch, Scalar* W, int ld_W) {
  if (factor_mass(g, m, scratch.L)) {
    half_solve(g, m, n, scratch.L, scratch.Y);
    gram_matrix(g, m.nv, n, scratch.Y, W, ld_W);
    return true;
  }
  const Scalar nan = Limits<Scalar>::infinity - Limits<Scalar>::infinity;
  g.for_each_2d(n, n, [&](int i, int j) { W[std::int64_t(i) * ld_W + j] = nan; });
  return false;
}

/// x = M^-1 J^T r of the first n rows, in the scratch and in reverse order; false as above.
template <class Scalar, class G>
SS_HD bool change_velocity(const G& g, const MechanismView<Scalar>& m, int n, const Scalar* r,
                           const DelassusScratch<Scalar>& scratch) {
  const int nv = m.nv;
  const bool good = factor_mass(g, m, scratch.L);
  g.for_each(nv, [&](int k) { scratch.x[k] = Scalar(0); });
  for (int i = 0; i < n; ++i) {
    if (r[i] == Scalar(0)) continue;
    add_row(g, m, i, r[i], scratch.x);
  }
  if (good) {
    forward_substitute(g, nv, scratch.L, nv, scratch.x);
    back_substitute(g, nv, scratch.L, nv, scratch.x);
  }
  return good;
}

template <class Scalar>
SS_HD MechanismView<Scalar> view_of(const MechanismBatch<Scalar>& batch, std::int64_t env) {
  return {batch.nv, slot(batch.M, env), slot(batch.J, env), false, {}};
}

template <class Scalar, IsGroup G>
SS_HD void form_delassus(const G& g, const MechanismBatch<Scalar>& batch, EnvArray<Scalar> W,
                         int ld_W, std::int32_t* ok, std::int64_t env,
                         const DelassusScratch<Scalar>& scratch) {
  const bool good =
      form_matrix(g, view_of(batch, env), rows_in_use(batch, env), scratch, slot(W, env), ld_W);
  g.once([&] { ok[env] = good ? 1 : 0; });
}

template <class Scalar, IsGroup G>
SS_HD void apply_env_impulse(const G& g, const MechanismBatch<Scalar>& batch,
                             EnvArray<const Scalar> impulse, EnvArray<const Scalar> v_free,
                             EnvArray<Scalar> v_next, std::int32_t* ok, std::int64_t env,
                             const DelassusScratch<Scalar>& scratch) {
  const bool good = change_velocity(g, view_of(batch, env), rows_in_use(batch, env),
                                    static_cast<const Scalar*>(slot(impulse, env)), scratch);
  const Scalar nan = Limits<Scalar>::infinity - Limits<Scalar>::infinity,
               *start = slot(v_free, env);
  Scalar* v = slot(v_next, env);
  g.for_each(batch.nv, [&](int k) { v[k] = good ? start[k] + scratch.x[batch.nv - 1 - k] : nan; });
  g.once([&] { ok[env] = good ? 1 : 0; });
}

}  // namespace stickslip::kernels::inline SS_ISA
