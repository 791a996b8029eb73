// The pyramid's linear complementarity problem in half its size: of every tangential pair, one
// direction is stored and its twin is implicit (README.md). Rows are basic variables, columns
// nonbasic.
//
// Variables, with p contacts and m = 4 p: w_i has number i, z_i number m + i, z0 number 2 m.
//   i = 3k       normal of contact k:  w = u_n,             z = r_n
//   i = 3k+1, 2  stored direction:     w = s u_t + lambda,  z = friction against it (s: its sign)
//   i = 3p + k   cone:                 w = mu r_n - sum,    z = lambda, the sliding speed
#pragma once
#include <type_traits>

#include "kernels/linalg/attempt.hpp"
#include "kernels/linalg/matvec.hpp"
#include "kernels/problem/copy_delassus.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Every other number of an array.
template <class Real>
struct EveryOther {
  Real* first;
  SS_HD Real& operator[](int j) const { return first[2 * j]; }
};

template <class Real>
struct PyramidTableau {
  static constexpr int kPending = 4;
  using Offset = std::conditional_t<kOnGpu, int, std::int64_t>;  ///< a GPU has 32-bit adders

  int p = 0, n = 0, m = 0, ld = 0;
  int pending = 0;          ///< deferred pivots: the tableau is T + sum_q column_q factor_q^T
  double q = 1.0;           ///< scale of the velocities
  Real* T;                  ///< [m + 2][ld] column-major: m z's, z0, right-hand side
  Real *columns, *factors;  ///< [kPending][ld], [kPending][padded(m + 2)] of the deferred pivots;
                            ///< on a GPU the factors are [kPending / 2][padded(m + 2)][2]
  Real *room, *slope;       ///< [items] of the ratio test: distance of each variable from 0, rate
  Real* key;      ///< [items] slope / (room + slack); from `twins` on those of the implicit twins
  Real* cover;    ///< [ld] covering vector d
  double* scale;  ///< [n] r_i = scale_i sign_i z_i / q, including the circular coordinates
  double* sign;   ///< [n] stored direction of the tangential pairs, 1 on normals
  double* cone;   ///< [p] mu of the scaled cone
  int *row_var, *col_var;  ///< [m], [m + 1] variable of each row, of each column
  int* place;              ///< [2m + 1] of each variable: its row, or ~column

  SS_HD PyramidTableau(Arena& arena, int max_contacts) {
    const int rows = leading(max_contacts), size = 4 * max_contacts;
    T = arena.take<Real>(std::size_t(size + 2) * rows);
    columns = arena.take<Real>(std::size_t(kPending) * rows);
    factors = arena.take<Real>(std::size_t(kPending) * padded(size + 2));
    room = arena.take<Real>(items(max_contacts));
    slope = arena.take<Real>(items(max_contacts));
    key = arena.take<Real>(items(max_contacts));
    cover = arena.take<Real>(rows);
    scale = arena.take<double>(3 * max_contacts);
    sign = arena.take<double>(3 * max_contacts);
    cone = arena.take<double>(max_contacts);
    row_var = arena.take<int>(size);
    col_var = arena.take<int>(size + 1);
    place = arena.take<int>(2 * size + 1);
  }

  /// Rows of a column. With more than 8 contacts a cache line is added: if columns lay a power of
  /// two apart, the entries of a row would share a few sets of the cache. On a GPU they would share
  /// banks, unless the number is odd.
  SS_HD static int leading(int contacts) {
    if (kOnGpu) return padded(4 * contacts) + 1;
    return padded(4 * contacts) + (contacts > 8 ? int(64 / sizeof(Real)) : 0);
  }
  SS_HD Real* waiting(int which) const { return columns + Offset(which) * ld; }
  SS_HD auto factor(int which) const {
    if constexpr (kOnGpu) {
      return EveryOther<Real>{factors + (which >> 1) * (2 * padded(m + 2)) + (which & 1)};
    } else {
      return factors + std::int64_t(which) * padded(m + 2);
    }
  }
  /// f_q <- factor(q)[j] for all q; on a GPU in two loads.
  SS_HD void read_factors(int j, Real* f) const {
    if constexpr (kOnGpu) {
      for (int q = 0; q < kPending; q += 2) {
        const auto pair = pair_at(factors + q * padded(m + 2) + 2 * j);
        f[q] = pair.first;
        f[q + 1] = pair.second;
      }
    } else {
#pragma GCC unroll 8
      for (int q = 0; q < kPending; ++q) f[q] = factor(q)[j];
    }
  }
  /// The entering column: the next one to be deferred.
  SS_HD Real* entering() const { return waiting(pending); }
  SS_HD int twins() const { return kOnGpu ? m : padded(m); }
  SS_HD static int items(int contacts) {
    return kOnGpu ? 6 * contacts : padded(4 * contacts) + padded(2 * contacts);
  }
  SS_HD Real* column(int j) const { return T + Offset(j) * ld; }
  SS_HD Real* right() const { return column(m + 1); }
  SS_HD int z0() const { return 2 * m; }
  SS_HD int complement(int variable) const { return variable < m ? variable + m : variable - m; }
  /// Number of runs of a group's kChunk rows that contain all m rows.
  template <class G>
  SS_HD int chunks(const G&) const {
    return (m + G::kChunk - 1) / G::kChunk;
  }
};

/// f(i) for all rows.
template <class Real, class G, class F>
SS_HD void for_rows(const G& g, const PyramidTableau<Real>& t, F&& f) {
  for_chunks(g, t.m, f);
}

/// Powers of two that bring the diagonal of the normal and that of the two tangents near 1. Twins
/// need one scale for both tangents. Rows with a zero diagonal take the scale of the largest.
/// Tangents with a very small diagonal take that of the normal, because otherwise their velocities
/// would hide its velocity.
template <class Scalar, class Real>
SS_HD void scale_contact(const EnvProblem<Scalar>& p, int k, double largest,
                         const PyramidTableau<Real>& t) {
  const int a = 3 * k;
  const double least = 1e-12 * largest;
  double tangential = 0.0;
  for (int j = 1; j < 3; ++j) {
    const double c = p.circular[a + j];
    tangential += 0.5 * c * c * p.diagonal(a + j);
  }
  tangential = max(tangential, 1e-2 * p.diagonal(a));
  const double s_n = inverse_root_power(max(p.diagonal(a), least));
  const double s_t = inverse_root_power(max(tangential, least));
  t.scale[a] = s_n;
  for (int j = 1; j < 3; ++j) t.scale[a + j] = s_t * p.circular[a + j];
  t.cone[k] = p.slope[k] * s_n / s_t;
}

/// Scales of a problem with only contacts of dimension 3.
template <class G, class Scalar, class Real>
SS_PART void scale_contacts(const G& g, const EnvProblem<Scalar>& p, PyramidTableau<Real>& t) {
  t.p = p.n_contacts;
  t.n = 3 * t.p;
  t.m = 4 * t.p;
  t.ld = t.leading(t.p);
  double largest = g.max(t.n, [&](int i) { return p.diagonal(i); });
  if (!(largest > 0.0)) largest = 1.0;
  g.for_each(t.p, [&](int k) { scale_contact(p, k, largest, t); });
  const double b_max = g.max(t.n, [&](int i) { return abs(double(p.b[i])) * t.scale[i]; });
  t.q = b_max > 0.0 ? 1.0 / power_of_two_below(b_max) : 1.0;
}

/// The scaled Delassus matrix, compliance included, in the first n rows and columns.
template <class G, class Scalar, class Real>
SS_HD void fill_scaled(const G& g, const EnvProblem<Scalar>& p, double soften,
                       const PyramidTableau<Real>& t) {
  const auto signed_scale = [&](int i) { return t.scale[i] * t.sign[i]; };
  copy_scaled_delassus(g, p, t.T, t.ld, signed_scale);
  if (p.R == nullptr && soften == 0.0) return;
  g.for_each(t.n, [&](int i) {
    const double scale = signed_scale(i), circular = p.circular[i];
    // W_nn in circular coordinates: of rows that have no compliance of their own.
    const bool softer = !(p.compliance(i) > 0.0) && circular > 0.0;
    const double more = softer ? soften * normal_diagonal(p, i / 3) / (circular * circular) : 0.0;
    t.column(i)[i] = Real((p.diagonal(i) + more) * (scale * scale));
  });
}

/// Zeros, an even number of them; a GPU writes two at a time.
template <class Real, class G>
SS_HD void clear(const G& g, Real* numbers, int count) {
  if constexpr (kOnGpu) {
    auto* const pairs = reinterpret_cast<Couple<Real>*>(numbers);
    g.for_each(count / 2, [&](int i) { pairs[i] = {Real(0), Real(0)}; });
  } else {
    for_chunks(g, count, [&](int i) { numbers[i] = Real(0); });
  }
}

/// The tableau at z = 0: w = M z + d z0 + b, every pair in the direction with w = -|b_t|, with
/// compliance `soften` W_nn added to contacts.
template <class G, class Scalar, class Real>
SS_PART void build_tableau(const G& g, const EnvProblem<Scalar>& p, int attempt, double soften,
                           PyramidTableau<Real>& t) {
  t.pending = 0;
  clear(g, t.T, (t.m + 2) * t.ld);
  clear(g, t.factors, t.kPending * padded(t.m + 2));
  clear(g, t.columns, t.kPending * t.ld);
  if constexpr (!kOnGpu) {  // padding between rows and twins
    for_chunks(g, t.items(t.p), [&](int i) { t.slope[i] = t.room[i] = t.key[i] = Real(0); });
  }
  g.for_each(t.p, [&](int k) {
    t.sign[3 * k] = 1.0;
    for (int i = 3 * k + 1; i < 3 * k + 3; ++i) {
      t.sign[i] = double(p.b[i]) > 0.0 ? -1.0 : 1.0;
      t.column(i)[t.n + k] = Real(-1);
      t.column(t.n + k)[i] = Real(1);
    }
    t.column(3 * k)[t.n + k] = Real(t.cone[k]);
  });
  fill_scaled(g, p, soften, t);
  g.for_each(t.n,
             [&](int i) { t.right()[i] = Real(double(p.b[i]) * (t.scale[i] * t.sign[i]) * t.q); });
  g.for_each(t.m, [&](int i) {
    t.cover[i] = t.column(t.m)[i] = Real(covering_weight(i, attempt));
    t.row_var[i] = i;
    t.col_var[i] = t.m + i;
    t.place[i] = i;
    t.place[t.m + i] = ~i;
  });
  g.once([&] {
    t.col_var[t.m] = t.z0();
    t.place[t.z0()] = ~t.m;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
