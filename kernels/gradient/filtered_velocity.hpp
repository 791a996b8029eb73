// The systems of filtered_solve.hpp in the space of velocities: H_e x = f is a step of
// velocity/item_steps.hpp with P = B and Q = A + B (R + e D), H_e^T x = f its transpose. A regular
// H is solved by the same passes: there H_e^-1 H is nearly 1, if e is small enough. Fixed rows have
// P = 0 and Q = 1.
#pragma once
#include "kernels/gradient/adjoint.hpp"
#include "kernels/velocity/item_steps.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr double kLeastShift = 1e-12;  ///< e for H that is nearly singular
inline constexpr double kRounding = 1e-15;    ///< of f left in a regular system: as LU leaves

template <class G>
SS_HD void multiply_rows(const G& g, const EnvProblem<double>& p, const SparseScaled& s,
                         const double* start, const double* x, double* y) {
  multiply_delassus(g, s.m, x, s.change,
                    [&](int i, double sum) { y[i] = sum + fma(p.compliance(i), x[i], start[i]); });
}
template <class G>
SS_HD void multiply_rows_transposed(const G& g, const EnvProblem<double>& p, const SparseScaled& s,
                                    const double* start, const double* x, double* y) {
  multiply_rows(g, p, s, start, x, y);
}

/// P and Q of an item.
template <int dim>
SS_HD void set_solution_item(const SparseScaled& s, const SolutionRows& rows, double shift,
                             int item) {
  const int a = first_row(s, item), at = a * SolutionRows::kStride;
  double* const P = s.steps.P + ItemSteps::kBlock * item;
  double* const Q = s.steps.Q + ItemSteps::kBlock * item;
  for (int i = 0; i < dim; ++i) {
    for (int j = 0; j < dim; ++j) {
      const bool slides = rows.state[a + i] >= 0, own = i == j;
      const double A = slides ? rows.A[at + dim * i + j] : 0.0;
      const double B = slides ? rows.B[at + dim * i + j] : own ? 1.0 : 0.0;
      const bool fixed = rows.state[a + i] == kFixed;
      const double soft = s.compliance[a + j] + shift * shifted_compliance(s, a + j);
      P[dim * i + j] = fixed ? 0.0 : B;
      const bool stands = fixed || rows.state[a + j] == kFixed;
      Q[dim * i + j] = stands ? (own ? 1.0 : 0.0) : fma(B, soft, A);
    }
  }
}

/// Whether some row of an item is not fixed.
SS_HD bool item_moves(const SparseScaled& s, const SolutionRows& rows, int item) {
  bool moves = false;
  for (int i = first_row(s, item); i < end_row(s, item); ++i) {
    moves = moves || rows.state[i] != kFixed;
  }
  return moves;
}

/// As FilteredEquations::solve.
template <bool kTransposed, class G>
SS_HD bool solve_rows(const G& g, const SparseScaled& s, const SolutionRows& rows,
                      const FilteredSolve& /*w*/, int /*count*/, double* values) {
  constexpr double kAccurate = 1e-14;
  const auto moves = [&](int item) { return item_moves(s, rows, item); };
  double* const y = s.steps.step;
  if (!is_finite(solve_items<false, kTransposed>(g, s, moves, values, kAccurate, y))) return false;
  g.for_each(s.n, [&](int i) { values[i] = rows.state[i] == kFixed ? 0.0 : y[i]; });
  return true;
}

/// Factors H + shift B D. Returns the largest entry of the solution for a right side that no
/// structure of the problem knows, some 1 / (least singular value); infinite if there is none.
template <bool kTransposed, class G>
SS_HD double factor_shifted(const FilteredEquations<kTransposed, G, SparseScaled>& e,
                            double shift) {
  const G& g = e.g;
  const SparseScaled& s = e.s;
  const SolutionRows& rows = e.rows;
  double* const x = e.w.image;
  g.for_each(s.items(), [&](int item) {
    with_item_dim(s.lu.pattern, item,
                  [&](auto dim) SS_INLINE { set_solution_item<dim>(s, rows, shift, item); });
  });
  const auto moves = [&](int item) { return item_moves(s, rows, item); };
  g.for_each(s.n, [&](int i) { x[i] = rows.state[i] == kFixed ? 0.0 : probe(i); });
  if (!factor_items<false>(g, s, moves) || !e.solve(x)) return Limits<double>::infinity;
  return max(g.max(s.n, [&](int i) { return abs(x[i]); }), 1.0);
}

/// The filtered solution, as solve_filtered of filtered_matrix.hpp.
template <bool kTransposed, class G>
SS_HD Solvability solve_filtered(const G& g, const SparseScaled& s, const SolutionRows& rows,
                                 const FilteredSolve& w, const double* f, double* x) {
  const auto e = filtered_equations<kTransposed>(g, s, rows, w, f, x);
  if (e.count == 0) {
    e.begin();
    return {0.0, 1.0};
  }
  double size = factor_shifted(e, kShift);
  bool singular = !(kMostShifted * size < 1.0);
  if (singular) {
    size = factor_shifted(e, kLeastShift);
    singular = !(kLeastEstimate * size < 1.0);
    if (singular && !is_finite(factor_shifted(e, kShift))) return {};
  }
  return {solve_shifted(e, singular ? kExact : kRounding), singular ? 0.0 : 1.0 / size};
}

}  // namespace stickslip::kernels::inline SS_ISA
