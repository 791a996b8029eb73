// The matrix W + D of the equations of a path, D one block per row or cone, by a dense LU;
// sparse_path.hpp has the same functions without W.
#pragma once
#include "kernels/solver/interior/central_path.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Adds D_ii = low / (z - lo) + high / (hi - z) to a diagonal entry.
template <class Real>
SS_HD void add_bounds(const CentralPath<Real>& w, int i, Real& diagonal) {
  if (w.has_low(i)) diagonal += w.at.low[i] / w.above_low(i);
  if (w.has_high(i)) diagonal += w.at.high[i] / w.below_high(i);
}

/// The matrix without the parts of cones. Free rows add nothing; if those of W are linearly
/// dependent, `kRegular` of each diagonal entry regularises them.
template <class Real, class G>
SS_HD void load_path_matrix(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  constexpr Real kRegular = Real(1e-12);
  const LinearSystem<Real>& m = w.system;
  // W is read along its columns; if it is symmetric, they are also its rows.
  const std::int64_t row_step = s.symmetric ? s.ld : 1, column_step = s.symmetric ? 1 : s.ld;
  g.for_each_2d(s.n, padded(s.n), [&](int i, int j) {
    m.a[std::int64_t(i) * m.ld + j] = j < s.n ? s.W[i * row_step + j * column_step] : Real(0);
  });
  g.for_each(s.n, [&](int i) {
    Real* row = m.place_row(i);
    m.right()[i] = Real(0);
    row[i] = fma(kRegular, row[i] + Real(1e-3), row[i]);
    add_bounds(w, i, row[i]);
  });
}

/// Where the block of contact k begins in row i of the matrix, which is one of its rows.
template <class Real>
SS_HD Real* path_row(const Scaled<Real>& s, const CentralPath<Real>& w, int k, int i) {
  return w.system.a + std::int64_t(i) * w.system.ld + s.block[k];
}
/// False if the matrix is singular.
template <class Real, class G>
SS_HD bool factor_path_matrix(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  return factor_lu(g, w.system, s.n);
}

/// d.z from w.right with the last factorisation, and d.u = W d.z. What is solved without W is
/// refined until its error is `accurate`, relative. False if it is not finite.
template <class Real, class G>
SS_PART bool solve_path_matrix(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w,
                               double /*accurate*/, const PathPoint<Real>& d) {
  if (!solve_again(g, w.system, s.n, w.right, w.x)) return false;
  g.for_each(s.ld, [&](int i) { d.z[i] = i < s.n ? w.x[i] : Real(0); });
  matvec(g, s.n, s.W, s.ld, d.z, s.zero, d.u);
  return true;
}

/// The sign of the determinant of the last factorisation.
template <class Real, class G>
SS_HD int path_sign(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  return determinant_sign(g, w.system, s.n);
}

}  // namespace stickslip::kernels::inline SS_ISA
