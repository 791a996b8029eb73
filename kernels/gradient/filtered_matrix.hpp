// The systems of filtered_solve.hpp as matrices. A regular one is solved by LU; H_e has its turn if
// a pivot vanishes. Without compliance, more rows than a body has freedoms are mostly singular:
// then H_e comes first, and its pivots tell whether they are.
#pragma once
#include "kernels/gradient/filtered_solve.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kLeastPivot = 1e-8;     ///< of a regular system, relative to its row
inline constexpr double kLeastEstimate = 1e-9;  ///< of its least singular value, by a probe
inline constexpr int kBodyFreedoms = 6;
inline constexpr double kRegularInconsistency =
    1e-8;  ///< most that LU leaves of f in a regular system

/// m.a = W_hat of the active rows, or its transpose.
template <bool kTransposed, class G>
SS_HD void gather_matrix(const G& g, const Scaled<double>& s, const SolutionRows& rows, int count,
                         const LinearSystem<double>& m) {
  if (count == s.n && s.symmetric) {
    g.for_each_2d(count, padded(count), [&](int r, int c) {
      m.a[std::int64_t(r) * m.ld + c] = s.W[std::int64_t(r) * s.ld + c];
    });
    return;
  }
  const bool by_column = kTransposed || s.symmetric;
  g.for_each_2d(count, padded(count), [&](int r, int c) {
    double entry = 0.0;
    if (c < count) {
      const int i = rows.active[by_column ? c : r], j = rows.active[by_column ? r : c];
      entry = s.at(i, j);
    }
    m.a[std::int64_t(r) * m.ld + c] = entry;
  });
}

/// Puts H or its transpose where contacts slide, column by column of H: A + B (W_hat + shift D).
template <bool kTransposed, class G>
SS_HD void put_sliding(const G& g, const Scaled<double>& s, const SolutionRows& rows, int count,
                       double shift, const LinearSystem<double>& m) {
  for (int k = 0; k < s.n_contacts; ++k) {
    if (!slides(s, rows, k)) continue;
    const int a = s.block[k], first = a * SolutionRows::kStride;
    with_dim(s.dim(k), [&](auto size) {
      constexpr int dim = size();
      g.for_each(count, [&](int other) {
        const int j = rows.active[other];
        const double* column = s.W + std::int64_t(j) * s.ld + a;
        for (int i = 0; i < dim; ++i) {
          if (rows.state[a + i] == kFixed) continue;
          const int at = first + i * dim, place = rows.place[a + i];
          double entry = j >= a && j < a + dim ? rows.A[at + j - a] : 0.0;
          for (int l = 0; l < dim; ++l) {
            const double own = a + l == j ? shift * shifted_compliance(s, j) : 0.0;
            entry = fma(rows.B[at + l], column[l] + own, entry);
          }
          const int r = kTransposed ? other : place, c = kTransposed ? place : other;
          m.a[std::int64_t(r) * m.ld + c] = entry;
        }
      });
    });
  }
}

/// Factors H + shift B D, or its transpose, of the active rows, with the right side f. False if it
/// is singular.
template <bool kTransposed, class G>
SS_PART bool factor_system(const G& g, const Scaled<double>& s, const SolutionRows& rows, int count,
                           double shift, const double* f, const LinearSystem<double>& m) {
  gather_matrix<kTransposed>(g, s, rows, count, m);
  g.for_each(count, [&](int r) {
    const int i = rows.active[r];
    m.place_row(r)[r] += shift * shifted_compliance(s, i);
    m.right()[r] = f[i];
  });
  put_sliding<kTransposed>(g, s, rows, count, shift, m);
  return factor_lu(g, m, count);
}

/// As FilteredEquations::solve.
template <bool kTransposed, class G>
SS_PART bool solve_rows(const G& g, const Scaled<double>& /*s*/, const SolutionRows& rows,
                        const FilteredSolve& w, int count, double* values) {
  g.for_each(count, [&](int r) { w.part[r] = values[rows.active[r]]; });
  if (!solve_again(g, w.system, count, w.part, w.part)) return false;
  g.for_each(count, [&](int r) { values[rows.active[r]] = w.part[r]; });
  return true;
}

/// Solves by LU alone. Pivot 0: H is singular, and x is not a solution. Pivots of a matrix that is
/// not symmetric may be much larger than its least singular value: if one is small, the size of the
/// solution for a right side that no structure of the problem knows decides.
template <bool kTransposed, class G>
SS_HD Solvability solve_regular(const FilteredEquations<kTransposed, G, Scaled<double>>& e) {
  const G& g = e.g;
  LinearSystem<double> system = e.w.system;
  system.forget_factors();  // the factors are needed only once
  system.least_pivot = kLeastPivot;
  e.begin();
  Solvability found;
  SS_ROLLED
  for (const double* f = e.f;;) {
    if (!factor_system<kTransposed>(g, e.s, e.rows, e.count, 0.0, f, system)) return {};
    if (!substitute_back(g, system, e.count, e.w.part)) return {};
    if (f != e.f) break;
    g.for_each(e.count, [&](int r) { e.x[e.rows.active[r]] = e.w.part[r]; });
    found = {e.leave(), least_pivot(g, system, e.count)};
    if (!(found.pivot < kFirmPivot)) return found;
    g.for_each(e.s.ld, [&](int i) { e.w.image[i] = i < e.s.n ? probe(i) : 0.0; });
    f = e.w.image;
  }
  const double size = g.max(e.count, [&](int r) { return abs(e.w.part[r]); });
  return size * kLeastEstimate < 1.0 ? found : Solvability{};
}

/// Solves with H_e. `if_singular`: only if H is singular, which pivot 0 says.
template <bool kTransposed, class G>
SS_HD Solvability solve_singular(const FilteredEquations<kTransposed, G, Scaled<double>>& e,
                                 bool if_singular) {
  const G& g = e.g;
  const FilteredSolve& w = e.w;
  if (!factor_system<kTransposed>(g, e.s, e.rows, e.count, kShift, e.f, w.system)) return {};
  if (if_singular) {
    const double pivot = least_pivot(g, w.system, e.count);
    if (pivot > kMostShifted) return {1.0, pivot};
  }
  return {solve_shifted(e), 0.0};
}

/// The filtered solution x of H x = f, or of H^T x = f: both [padded(n)], 0 on fixed rows.
template <bool kTransposed, class G>
SS_HD Solvability solve_filtered(const G& g, const Scaled<double>& s, const SolutionRows& rows,
                                 const FilteredSolve& w, const double* f, double* x) {
  const auto e = filtered_equations<kTransposed>(g, s, rows, w, f, x);
  const int count = e.count;
  if (count == 0) {
    e.begin();
    return {0.0, 1.0};
  }
  const bool mostly_singular =
      count > kBodyFreedoms && !g.any(count, [&](int r) { return s.R[rows.active[r]] > 0.0; });
  // One place for each way, so that a GPU's variant contains it once.
  Solvability regular;
  SS_ROLLED
  for (int attempt = mostly_singular ? 0 : 1; attempt < 3; ++attempt) {
    if (attempt == 1) {
      regular = solve_regular(e);
      if (regular.pivot > 0.0 && regular.inconsistency < kRegularInconsistency) break;
    } else {
      const Solvability found = solve_singular(e, attempt == 0);
      if (attempt == 2 || !(found.pivot > 0.0)) return {found.inconsistency, regular.pivot};
    }
  }
  return regular;
}

}  // namespace stickslip::kernels::inline SS_ISA
