// H x = f and H^T x = f for H = A + B W_hat, which is singular where contacts are redundant: with
// H_e = H + e B D, e = 1e-8 and the D that selects one solution among many (scaling/selection.hpp),
// from 0 and at least twice, x += H_e^-1 H H_e^-1 (f - H x). On what is consistent this is the
// derivative of the selected solution while nothing moves the choice (selected_tangent.hpp), on the
// rest it is 0 (docs/gradients.md). H_e is factored as a matrix (filtered_matrix.hpp) or in the
// space of velocities (filtered_velocity.hpp).
#pragma once
#include "kernels/gradient/solution_rows.hpp"
#include "kernels/linalg/list_rows.hpp"
#include "kernels/linalg/lu.hpp"
#include "kernels/scaling/selection.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kShift = 1e-8;        ///< e
inline constexpr double kMostShifted = 1e-6;  ///< pivot of H_e, if H is singular
inline constexpr double kFirmPivot = 1e-4;    ///< below, a system may be nearly singular
inline constexpr int kMostPasses = 6;         ///< with H_e
inline constexpr double kExact = 1e-12;       ///< of f left: enough

/// How far a system determines its solution.
struct Solvability {
  double inconsistency = 1.0;  ///< max|f - H x| / max|f|: the share of f that is not consistent
  double pivot = 0.0;          ///< the least pivot of H, relative to its row; 0: H is singular
  double strayed = 0.0;        ///< jvp: how far impulses are from those that are selected
};

struct FilteredSolve {
  LinearSystem<double> system;     ///< of a matrix
  double *left, *image, *product;  ///< [padded(n)]
  double* part;                    ///< [n] right side or solution of the rows that are active

  /// `matrix_rows`: 0 where no system is solved by a matrix.
  SS_HD FilteredSolve(Arena& arena, int max_rows, int matrix_rows)
      : system(arena, matrix_rows),
        left(arena.take<double>(padded(max_rows))),
        image(arena.take<double>(padded(max_rows))),
        product(arena.take<double>(padded(max_rows))),
        part(arena.take<double>(max_rows)) {
    system.keep_factors(arena, matrix_rows);
  }
};

/// The compliance D of row i. Rows with compliance of their own have none; what is added to them
/// must only be small.
template <class S>
SS_HD double shifted_compliance(const S& s, int i) {
  return s.selecting[i] > 0.0 ? s.selecting[i] : s.at(i, i) + 1e-3;
}

/// What no structure of a problem knows, for row i.
SS_HD double probe(int i) { return hashed_weight(i, 0) * (i % 2 == 0 ? 1.0 : -1.0); }

/// y = H x or H^T x on the active rows, 0 on the others.
template <bool kTransposed, class G, class S>
SS_HD void multiply_system(const G& g, const S& s, const SolutionRows& rows, double* product,
                           const double* x, double* y) {
  if constexpr (kTransposed) {
    multiply_blocks<BlockMatrix::B, true>(g, s, rows, x, product);
    multiply_scaled_transposed(g, s, product, y);
  } else {
    multiply_scaled(g, s, x, s.zero, y);
    g.for_each(s.n, [&](int i) { product[i] = y[i]; });
    multiply_blocks<BlockMatrix::B, false>(g, s, rows, product, y);
  }
  multiply_blocks<BlockMatrix::A, kTransposed>(g, s, rows, x, product);
  g.for_each(s.n, [&](int i) { y[i] = rows.state[i] == kFixed ? 0.0 : y[i] + product[i]; });
}

/// What the ways to solve a system share.
template <bool kTransposed, class G, class S>
struct FilteredEquations {
  const G& g;
  const S& s;
  const SolutionRows& rows;
  const FilteredSolve& w;
  const double* f;
  double* x;
  int count;    ///< active rows
  double size;  ///< max|f|

  SS_HD void begin() const {
    g.for_each(s.ld, [&](int i) {
      x[i] = w.image[i] = 0.0;
      w.left[i] = f[i];
    });
  }
  /// left = f - H x; returns max|left| / max|f|.
  SS_HD double leave() const {
    if (!(size > 0.0)) return 0.0;
    multiply_system<kTransposed>(g, s, rows, w.product, x, w.left);
    return g.max(s.n, [&](int i) { return abs(w.left[i] = f[i] - w.left[i]); }) / size;
  }
  /// values := H_e^-1 values, with the factors that the scratch has
  SS_HD bool solve(double* values) const {
    return solve_rows<kTransposed>(g, s, rows, w, count, values);
  }
};

/// Solves with the factors of H_e that the scratch has. Returns the inconsistency.
template <bool kTransposed, class G, class S>
SS_PART double solve_shifted(const FilteredEquations<kTransposed, G, S>& e, double exact = kExact) {
  const G& g = e.g;
  const FilteredSolve& w = e.w;
  e.begin();
  double inconsistency = 1.0;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    if (!e.solve(w.left)) return 1.0;
    multiply_system<kTransposed>(g, e.s, e.rows, w.product, w.left, w.image);
    if (!e.solve(w.image)) return 1.0;
    g.for_each(e.s.n, [&](int i) { e.x[i] += w.image[i]; });
    const double before = inconsistency;
    inconsistency = e.leave();
    if (inconsistency < exact || (pass > 0 && !(inconsistency < 0.5 * before)))
      break;  // the rest does not fit
  }
  return inconsistency;
}

/// H x = f, or H^T x = f, of the rows that are not fixed, which it lists.
template <bool kTransposed, class G, class S>
SS_HD FilteredEquations<kTransposed, G, S> filtered_equations(const G& g, const S& s,
                                                              const SolutionRows& rows,
                                                              const FilteredSolve& w,
                                                              const double* f, double* x) {
  const auto wanted = [&](int i) { return rows.state[i] != kFixed; };
  const int count = list_rows(g, s.n, wanted, rows.active, rows.place);
  const double size = g.max(s.n, [&](int i) { return abs(f[i]); });
  return {g, s, rows, w, f, x, count, size};
}

}  // namespace stickslip::kernels::inline SS_ISA
