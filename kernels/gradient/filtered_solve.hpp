// H x = f and H^T x = f for H = A + B W_hat, which is singular where contacts are redundant.
//
// A regular system is solved by LU. If a pivot vanishes: with H_e = H + e (|H_ii| + 1e-3), e =
// 1e-8, from 0 and twice, x += H_e^-1 H H_e^-1 (f - H x). On what is consistent this is the
// pseudo-inverse, on the rest it is 0 (docs/gradients.md).
#pragma once
#include "kernels/gradient/solution_rows.hpp"
#include "kernels/linalg/list_rows.hpp"
#include "kernels/linalg/lu.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kShift = 1e-8;        ///< e
inline constexpr double kLeastPivot = 1e-8;   ///< of a regular system, relative to its row
inline constexpr double kRegularLost = 1e-8;  ///< most that LU leaves of f in a regular system

/// How far a system determines its solution.
struct Solvability {
  double lost = 1.0;   ///< max|f - H x| / max|f|: the share of f that is not consistent
  double pivot = 0.0;  ///< the least pivot of H, relative to its row; 0: H is singular
};

struct FilteredSolve {
  LinearSystem<double> system;
  double *left, *image, *product;  ///< [padded(n)]
  double* part;                    ///< [n] right side or solution of the rows that are active

  SS_HD FilteredSolve(Arena& arena, int max_rows)
      : system(arena, max_rows),
        left(arena.take<double>(padded(max_rows))),
        image(arena.take<double>(padded(max_rows))),
        product(arena.take<double>(padded(max_rows))),
        part(arena.take<double>(max_rows)) {
    system.keep_factors(arena, max_rows);
  }
};

/// W_hat_ij, read along a column if the matrix is symmetric.
SS_HD double row_entry(const Scaled<double>& s, int i, int j) {
  return s.symmetric ? s.at(j, i) : s.at(i, j);
}

/// Entry (i, j) of H, row i of the sliding contact k.
SS_HD double system_entry(const Scaled<double>& s, const SolutionRows& rows, int k, int i, int j) {
  const int a = s.block[k], dim = s.dim(k), at = a * SolutionRows::kStride + (i - a) * dim;
  double sum = j >= a && j < a + dim ? rows.A[at + j - a] : 0.0;
  for (int l = 0; l < dim; ++l) sum = fma(rows.B[at + l], row_entry(s, a + l, j), sum);
  return sum;
}

/// Factors H + shift (|H_ii| + 1e-3), or its transpose, of the active rows, with the right side f.
/// False if it is singular.
template <bool kTransposed, class G>
SS_HD bool factor_system(const G& g, const Scaled<double>& s, const SolutionRows& rows, int count,
                         double shift, const double* f, const LinearSystem<double>& m) {
  const bool all = count == s.n && s.symmetric;
  g.for_each_2d(count, padded(count), [&](int r, int c) {
    double entry = 0.0;
    if (all) {
      entry = s.W[std::int64_t(r) * s.ld + c];
    } else if (c < count) {
      entry = kTransposed ? s.at(rows.active[c], rows.active[r])
                          : row_entry(s, rows.active[r], rows.active[c]);
    }
    m.a[std::int64_t(r) * m.ld + c] = entry;
  });
  for (int k = 0; k < s.n_contacts; ++k) {
    if (!slides(s, rows, k)) continue;
    const int a = s.block[k], dim = s.dim(k);
    g.for_each_2d(dim, count, [&](int l, int other) {
      const int i = a + l;
      if (rows.state[i] == kFixed) return;
      const int r = kTransposed ? other : rows.place[i], c = kTransposed ? rows.place[i] : other;
      m.a[std::int64_t(r) * m.ld + c] = system_entry(s, rows, k, i, rows.active[other]);
    });
  }
  g.for_each(count, [&](int r) {
    double& diagonal = m.place_row(r)[r];
    diagonal = fma(shift, abs(diagonal) + 1e-3, diagonal);
    m.right()[r] = f[rows.active[r]];
  });
  return factor_lu(g, m, count);
}

/// y = H x or H^T x on the active rows, 0 on the others.
template <bool kTransposed, class G>
SS_HD void multiply_system(const G& g, const Scaled<double>& s, const SolutionRows& rows,
                           double* product, const double* x, double* y) {
  if constexpr (kTransposed) {
    multiply_blocks<BlockMatrix::B, true>(g, s, rows, x, product);
    multiply_scaled_transposed(g, s, product, y);
  } else {
    matvec(g, s.n, s.W, s.ld, x, s.zero, y);
    g.for_each(s.n, [&](int i) { product[i] = y[i]; });
    multiply_blocks<BlockMatrix::B, false>(g, s, rows, product, y);
  }
  multiply_blocks<BlockMatrix::A, kTransposed>(g, s, rows, x, product);
  g.for_each(s.n, [&](int i) { y[i] = rows.state[i] == kFixed ? 0.0 : y[i] + product[i]; });
}

/// x by LU alone: [padded(n)], 0 at entry and on fixed rows. Returns the least pivot, 0 if one
/// vanishes.
template <bool kTransposed, class G>
SS_HD double solve_regular(const G& g, const Scaled<double>& s, const SolutionRows& rows,
                           const FilteredSolve& w, int count, const double* f, double* x) {
  LinearSystem<double> system = w.system;
  system.lower = nullptr;  // the factors are needed only once
  system.least_pivot = kLeastPivot;
  if (!factor_system<kTransposed>(g, s, rows, count, 0.0, f, system)) return 0.0;
  if (!substitute_back(g, system, count, w.part)) return 0.0;
  g.for_each(count, [&](int r) { x[rows.active[r]] = w.part[r]; });
  return least_pivot(g, system, count);
}

/// The filtered solution x of H x = f, or of H^T x = f: both [padded(n)], 0 on fixed rows.
template <bool kTransposed, class G>
SS_HD Solvability solve_filtered(const G& g, const Scaled<double>& s, const SolutionRows& rows,
                                 const FilteredSolve& w, const double* f, double* x) {
  const auto begin = [&] {
    g.for_each(s.ld, [&](int i) {
      x[i] = w.image[i] = 0.0;
      w.left[i] = f[i];
    });
  };
  // left = f - H x; returns max|left| / max|f|.
  const double size = g.max(s.n, [&](int i) { return abs(f[i]); });
  const auto leave = [&] {
    multiply_system<kTransposed>(g, s, rows, w.product, x, w.left);
    return g.max(s.n, [&](int i) { return abs(w.left[i] = f[i] - w.left[i]); }) / size;
  };
  begin();
  const auto wanted = [&](int i) { return rows.state[i] != kFixed; };
  const int count = list_rows(g, s.n, wanted, rows.active, rows.place);
  if (count == 0) return {0.0, 1.0};
  const double pivot = solve_regular<kTransposed>(g, s, rows, w, count, f, x);
  if (pivot > 0.0) {
    const double lost = size > 0.0 ? leave() : 0.0;
    if (lost < kRegularLost) return {lost, pivot};
  }
  begin();
  if (!(size > 0.0)) return {0.0, pivot};
  if (!factor_system<kTransposed>(g, s, rows, count, kShift, f, w.system)) return {};
  const auto solve = [&](double* values) {  // values := H_e^-1 values
    g.for_each(count, [&](int r) { w.part[r] = values[rows.active[r]]; });
    if (!solve_again(g, w.system, count, w.part, w.part)) return false;
    g.for_each(count, [&](int r) { values[rows.active[r]] = w.part[r]; });
    return true;
  };
  double lost = 1.0;
  for (int pass = 0; pass < 2; ++pass) {
    if (!solve(w.left)) return {};
    multiply_system<kTransposed>(g, s, rows, w.product, w.left, w.image);
    if (!solve(w.image)) return {};
    g.for_each(s.n, [&](int i) { x[i] += w.image[i]; });
    lost = leave();
  }
  return {lost, pivot};
}

}  // namespace stickslip::kernels::inline SS_ISA
