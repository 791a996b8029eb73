// Lemke's path: z0 covers the negative right-hand side, then complements enter one after the other
// until z0 leaves (solution) or nothing blocks the entering variable (ray).
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/ratio_test.hpp"
#include "kernels/solver/lemke/pivot.hpp"

namespace stickslip::kernels::inline SS_ISA {

enum class PathEnd : std::int32_t { solution, ray, budget };

/// room and slope of all rows and of the implicit twins: the distance of the variable from zero,
/// and the rate at which the entering one reduces it. key: the inverse step that it allows.
template <class Real, class G>
SS_PART void measure_rows(const G& g, const PyramidTableau<Real>& t, const RatioTest<Real>& test,
                          int c) {
  const Real *column = t.entering(), *right = t.right();
  const int enters = t.col_var[c], z0_row = t.place[t.z0()], twins = t.twins();
  for_rows(g, t, [&](int i) {
    t.slope[i] = -column[i];
    t.room[i] = max(right[i], Real(0));
    t.key[i] = test.inverse_step(t.slope[i], t.room[i]);
  });
  const Real z0_slope = column[z0_row], z0_value = right[z0_row];
  g.for_each(t.p, [&](int k) {
    const int lambda = t.place[t.m + t.n + k];
    const Real l_slope = lambda >= 0 ? column[lambda] : Real(lambda == ~c ? 1 : 0);
    const Real l_value = lambda >= 0 ? right[lambda] : Real(0);
    for (int j = 0; j < 2; ++j) {
      const int i = 3 * k + 1 + j, row = t.place[i];
      const Real d = Real(2) * t.cover[i];
      const Real own = row >= 0 ? column[row] : Real(1), at = row >= 0 ? right[row] : Real(0);
      const Real slope = fma(Real(-2), l_slope, fma(-d, z0_slope, own));
      const Real value = fma(Real(2), l_value, fma(d, z0_value, -at));
      t.slope[twins + 2 * k + j] = row >= 0 || i == enters ? slope : Real(0);
      t.room[twins + 2 * k + j] = max(value, Real(0));
    }
  });
  for_chunks(g, 2 * t.p, [&](int i) {
    t.key[twins + i] = test.inverse_step(t.slope[twins + i], t.room[twins + i]);
  });
}

/// The variable that leaves: a row, or twins + 2k + j for the twin of direction j of contact k; -1
/// if nothing blocks.
template <class Real, class G>
SS_PART int find_leaving(const G& g, const PyramidTableau<Real>& t, const RatioTest<Real>& test) {
  const int items = t.items(t.p);
  const Real nearest = g.max(items, [&](int i) { return t.key[i]; });
  if (!(nearest > Real(0))) return -1;
  const int z0_row = t.place[t.z0()];
  if (test.may_release_z0(t.slope[z0_row], t.room[z0_row], nearest)) return z0_row;
  return g.argmax(items, [&](int i) {
    return t.key[i] > Real(0) ? test.pivot(t.slope[i], t.room[i], nearest) : Real(0);
  });
}

/// Runs the path from the tableau at z = 0, with at most `budget` pivots, and counts them.
template <class Real, class G>
SS_HD PathEnd follow_path(const G& g, PyramidTableau<Real>& t, const RatioTest<Real>& test,
                          int budget, int& pivots) {
  const Real* right = t.right();
  const auto need = [&](int i) { return right[i] < Real(0) ? -right[i] / t.cover[i] : Real(0); };
  const int lowest = g.argmax(t.n, need);
  if (!(need(lowest) > Real(0))) return PathEnd::solution;
  if (budget == 0) return PathEnd::budget;
  read_column(g, t, t.m, t.entering());
  pivot(g, t, lowest, t.m);
  pivots = 1;
  for (int leaving = lowest;;) {
    if (pivots == budget || stopped(g)) return PathEnd::budget;
    const int c = ~t.place[t.complement(leaving)];
    read_column(g, t, c, t.entering());
    measure_rows(g, t, test, c);
    const int item = find_leaving(g, t, test);
    if (item < 0) return PathEnd::ray;
    ++pivots;
    if (item >= t.twins()) {
      const int twin = item - t.twins();
      leaving = twin / 2 * 3 + 1 + twin % 2;
      pivot_on_twin(g, t, leaving, c);
    } else {
      leaving = t.row_var[item];
      pivot(g, t, item, c);
      if (leaving == t.z0()) return PathEnd::solution;
    }
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
