// H x = f and H^T x = f for H = A + B W_hat, which is singular where contacts are redundant.
//
// With H_e = H + e (|H_ii| + 1e-3), e = 1e-8, twice:  x += H_e^-1 H H_e^-1 (f - H x). On what is
// consistent this is the pseudo-inverse, on the rest it is 0 (docs/gradients.md).
#pragma once
#include "kernels/gradient/solution_rows.hpp"
#include "kernels/linalg/list_rows.hpp"
#include "kernels/linalg/lu.hpp"

namespace stickslip::kernels::inline SS_ISA {

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

/// Entry (i, j) of H, both rows active.
SS_HD double system_entry(const Scaled<double>& s, const SolutionRows& rows, int i, int j) {
  const auto w = [&](int l) { return s.symmetric ? s.at(j, l) : s.at(l, j); };
  const int a = rows.state[i];
  if (a < 0) return w(i);
  const int dim = rows.dim[a], at = a * SolutionRows::kStride + (i - a) * dim;
  double sum = rows.state[j] == a ? rows.A[at + j - a] : 0.0;
  for (int l = 0; l < dim; ++l) sum = fma(rows.B[at + l], w(a + l), sum);
  return sum;
}

/// Factors H_e, or its transpose, of the active rows. False if it is singular.
template <bool kTransposed, class G>
SS_HD bool factor_system(const G& g, const Scaled<double>& s, const SolutionRows& rows, int count,
                         const LinearSystem<double>& m) {
  g.for_each_2d(count, padded(count), [&](int r, int c) {
    double entry = 0.0;
    if (c < count) {
      const int i = rows.active[kTransposed ? c : r], j = rows.active[kTransposed ? r : c];
      entry = system_entry(s, rows, i, j);
    }
    if (r == c) entry = fma(1e-8, abs(entry) + 1e-3, entry);
    m.a[std::int64_t(r) * m.ld + c] = entry;
  });
  g.for_each(count, [&](int r) {
    m.row[r] = m.a + std::int64_t(r) * m.ld;
    m.right()[r] = 0.0;
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

/// The filtered solution x of H x = f, or of H^T x = f: both [padded(n)], 0 on fixed rows. Returns
/// max|f - H x| / max|f|: the share of f that is not consistent; 1 if the system cannot be solved.
template <bool kTransposed, class G>
SS_HD double solve_filtered(const G& g, const Scaled<double>& s, const SolutionRows& rows,
                            const FilteredSolve& w, const double* f, double* x) {
  g.for_each(s.ld, [&](int i) {
    x[i] = w.image[i] = 0.0;
    w.left[i] = f[i];
  });
  const double size = g.max(s.n, [&](int i) { return abs(f[i]); });
  const auto wanted = [&](int i) { return rows.state[i] != kFixed; };
  const int count = list_rows(g, s.n, wanted, rows.active, rows.place);
  if (count == 0 || !(size > 0.0)) return 0.0;
  if (!factor_system<kTransposed>(g, s, rows, count, w.system)) return 1.0;
  const auto solve = [&](double* values) {  // values := H_e^-1 values
    g.for_each(count, [&](int r) { w.part[r] = values[rows.active[r]]; });
    if (!solve_again(g, w.system, count, w.part, w.part)) return false;
    g.for_each(count, [&](int r) { values[rows.active[r]] = w.part[r]; });
    return true;
  };
  for (int pass = 0; pass < 2; ++pass) {
    if (!solve(w.left)) return 1.0;
    multiply_system<kTransposed>(g, s, rows, w.product, w.left, w.image);
    if (!solve(w.image)) return 1.0;
    g.for_each(s.n, [&](int i) { x[i] += w.image[i]; });
    multiply_system<kTransposed>(g, s, rows, w.product, x, w.left);
    g.for_each(s.n, [&](int i) { w.left[i] = f[i] - w.left[i]; });
  }
  return g.max(s.n, [&](int i) { return abs(w.left[i]); }) / size;
}

}  // namespace stickslip::kernels::inline SS_ISA
