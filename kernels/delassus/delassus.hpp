// M, J -> W = J M^-1 J^T, and r -> v = v_free + M^-1 J^T r (docs/mathematics.md §1).
//
// M = L L^T with the degrees of freedom in reverse order: MuJoCo numbers a kinematic tree from the
// root, and elimination from the leaves creates no fill-in (Featherstone 2005), so zeros of M stay
// zeros of L and are skipped. With Y = L^-1 J^T: W = Y^T Y.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/group/is_group.hpp"
#include "kernels/linalg/cholesky.hpp"
#include "kernels/linalg/matvec.hpp"
#include "kernels/problem/env_problem.hpp"
#include "stickslip/delassus.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr int kGivenMatrix = -1;  ///< degrees of freedom if the caller has formed W

template <class In>
SS_HD int dofs_of(const MechanismStep<In>& step) {
  return step.mechanism.num_envs > 0 ? step.mechanism.nv : kGivenMatrix;
}

template <class In>
struct DelassusScratch {
  In* L;  ///< [nv][nv] factor of the reversed mass matrix
  In* Y;  ///< [nv][padded(rows)]
  In* x;  ///< [nv]

  SS_HD DelassusScratch(Arena arena, int nv, int max_rows)
      : L(arena.take<In>(std::size_t(nv) * nv)),
        Y(arena.take<In>(std::size_t(nv) * padded(max_rows))),
        x(arena.take<In>(nv)),
        end_(arena.used()) {}
  SS_HD static std::size_t bytes(int nv, int max_rows) {
    return DelassusScratch(Arena(nullptr), nv, max_rows).end();
  }
  SS_HD std::size_t end() const { return end_; }  ///< bytes of the arena up to here

 private:
  std::size_t end_;
};

/// Factor of the reversed mass matrix. False unless M is finite and positive definite.
template <class In, class G>
SS_HD bool factor_mass(const G& g, int nv, const In* M, In* L) {
  g.for_each_2d(nv, nv, [&](int i, int j) {
    L[std::int64_t(i) * nv + j] = M[std::int64_t(nv - 1 - i) * nv + (nv - 1 - j)];
  });
  if (g.any(nv * nv, [&](int i) { return !is_finite(L[i]); })) return false;
  return cholesky(g, nv, L, nv);
}

/// Y = L^-1 J^T, all columns together.
template <class In, class G>
SS_HD void half_solve(const G& g, int nv, int n, const In* L, const In* J, In* Y) {
  const int ld = padded(n);
  g.for_each_2d(nv, ld, [&](int k, int i) {
    Y[std::int64_t(k) * ld + i] = i < n ? J[std::int64_t(i) * nv + (nv - 1 - k)] : In(0);
  });
  for (int k = 0; k < nv; ++k) {
    const In* column = L + std::int64_t(k) * nv;
    In* row = Y + std::int64_t(k) * ld;
    const In inverse = column[k];
    g.for_each(n, [&](int i) { row[i] *= inverse; });
    for (int j = k + 1; j < nv; ++j) {
      const In f = column[j];
      if (f == In(0)) continue;
      In* target = Y + std::int64_t(j) * ld;
      g.for_each(n, [&](int i) { target[i] = fma(-f, row[i], target[i]); });
    }
  }
}

/// W = Y^T Y: one fma chain per entry, in the order of the degrees of freedom; exactly symmetric.
template <class In, class G>
SS_HD void gram_matrix(const G& g, int nv, int n, const In* Y, In* W, int ld_W) {
  constexpr int C = G::kChunk;
  const int ld = padded(n);
  g.for_each_2d(n, (n + C - 1) / C, [&](int i, int chunk) {
    const int j0 = chunk * C;
    if (j0 + C <= i) return;
    auto sum = Lanes<In, C>::all(In(0));
    for (int k = 0; k < nv; ++k) {
      const In y = Y[std::int64_t(k) * ld + i];
      if (y == In(0)) continue;  // a row touches few degrees of freedom
      sum.add(Lanes<In, C>::load(Y + std::int64_t(k) * ld + j0), y);
    }
    In entry[C];
    sum.store(entry);
    for (int l = 0; l < C; ++l) {
      if (j0 + l >= i && j0 + l < n) W[std::int64_t(i) * ld_W + j0 + l] = entry[l];
    }
  });
  g.for_each_2d(n, n, [&](int i, int j) {
    if (j < i) W[std::int64_t(i) * ld_W + j] = W[std::int64_t(j) * ld_W + i];
  });
}

template <class In>
SS_HD int rows_in_use(const MechanismBatch<In>& batch, std::int64_t env) {
  const std::int32_t* rows = slot(batch.rows, env);
  return rows == nullptr ? batch.max_rows : clamp(*rows, 0, batch.max_rows);
}

/// W = J M^-1 J^T of the first n rows of J. False, and W NaN, unless M is finite and positive
/// definite.
template <class In, class G>
SS_HD bool form_matrix(const G& g, int nv, int n, const In* M, const In* J,
                       const DelassusScratch<In>& scratch, In* W, int ld_W) {
  if (factor_mass(g, nv, M, scratch.L)) {
    half_solve(g, nv, n, scratch.L, J, scratch.Y);
    gram_matrix(g, nv, n, scratch.Y, W, ld_W);
    return true;
  }
  const In nan = Limits<In>::infinity - Limits<In>::infinity;
  g.for_each_2d(n, n, [&](int i, int j) { W[std::int64_t(i) * ld_W + j] = nan; });
  return false;
}

/// v_next = v_free + M^-1 J^T r of the first n rows; false, and NaN, as above.
template <class In, class G>
SS_HD bool apply_rows(const G& g, int nv, int n, const In* M, const In* J, const In* r,
                      const In* v_free, const DelassusScratch<In>& scratch, In* v_next) {
  const bool good = factor_mass(g, nv, M, scratch.L);
  g.for_each(nv, [&](int k) { scratch.x[k] = In(0); });
  for (int i = 0; i < n; ++i) {
    if (r[i] == In(0)) continue;
    const In* row = J + std::int64_t(i) * nv;
    g.for_each(nv, [&](int k) { scratch.x[k] = fma(row[nv - 1 - k], r[i], scratch.x[k]); });
  }
  if (good) {
    forward_substitute(g, nv, scratch.L, nv, scratch.x);
    back_substitute(g, nv, scratch.L, nv, scratch.x);
  }
  const In nan = Limits<In>::infinity - Limits<In>::infinity;
  g.for_each(nv, [&](int k) { v_next[k] = good ? v_free[k] + scratch.x[nv - 1 - k] : nan; });
  return good;
}

template <class In, IsGroup G>
SS_HD void form_delassus(const G& g, const MechanismBatch<In>& batch, EnvArray<In> W, int ld_W,
                         std::int32_t* ok, std::int64_t env, const DelassusScratch<In>& scratch) {
  const bool good = form_matrix(g, batch.nv, rows_in_use(batch, env), slot(batch.M, env),
                                slot(batch.J, env), scratch, slot(W, env), ld_W);
  g.once([&] { ok[env] = good ? 1 : 0; });
}

template <class In, IsGroup G>
SS_HD void apply_env_impulse(const G& g, const MechanismBatch<In>& batch,
                             EnvArray<const In> impulse, EnvArray<const In> v_free,
                             EnvArray<In> v_next, std::int32_t* ok, std::int64_t env,
                             const DelassusScratch<In>& scratch) {
  const bool good =
      apply_rows(g, batch.nv, rows_in_use(batch, env), slot(batch.M, env), slot(batch.J, env),
                 slot(impulse, env), slot(v_free, env), scratch, slot(v_next, env));
  g.once([&] { ok[env] = good ? 1 : 0; });
}

}  // namespace stickslip::kernels::inline SS_ISA
