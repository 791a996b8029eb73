// The dictionary of complementary pivoting: basic = T nonbasic + constant, dense, column-major, so
// that a pivot is one fma per entry in whole registers.
#pragma once
#include "kernels/group/lanes.hpp"
#include "kernels/solver/lcp/standard.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Variables are numbered: w_i is i, y_i is m + i, the artificial z0 is 2 m.
template <class Real>
struct Dictionary {
  int m, ld;
  int end = -1;           ///< column of the ray, or row of the contradiction, that ended a path
  Real* t;                ///< [m + 2][ld]: nonbasic variables, then the constant
  Real* factor;           ///< [m + 2] of the current pivot
  Real* entering;         ///< [ld] copy of the entering column
  int *basic, *nonbasic;  ///< variable of each row [m], of each column [m + 1]
  int* place;             ///< [2 m + 1] row of a basic variable, -1 - column of a nonbasic one
  int *free, *list;       ///< [m] the standard problem's free rows, as flags and as a list
  Real* reach;            ///< [m] scratch of the elimination

  SS_HD Dictionary(Arena& arena, int max_m)
      : m(max_m),
        ld(padded(max_m)),
        t(arena.take<Real>(std::size_t(max_m + 2) * padded(max_m))),
        factor(arena.take<Real>(max_m + 2)),
        entering(arena.take<Real>(padded(max_m))),
        basic(arena.take<int>(max_m)),
        nonbasic(arena.take<int>(max_m + 1)),
        place(arena.take<int>(2 * max_m + 1)),
        free(nullptr),
        list(arena.take<int>(max_m + 1)),
        reach(arena.take<Real>(max_m)) {}

  SS_HD Real* col(int j) const { return t + std::int64_t(j) * ld; }
  SS_HD Real at(int i, int j) const { return t[std::int64_t(j) * ld + i]; }
  SS_HD Real* constant() const { return col(m + 1); }
  SS_HD int artificial() const { return 2 * m; }
  SS_HD int partner(int variable) const { return variable < m ? variable + m : variable - m; }
  SS_HD bool is_bounded(int variable) const {
    if (variable == artificial()) return true;
    return free[variable < m ? variable : variable - m] == 0;
  }
};

/// w = A y + q', every w basic, the artificial column empty.
template <class Real, class G>
SS_HD void open_dictionary(const G& g, const StandardLcp& s, Dictionary<Real>& d) {
  d.m = s.m;
  d.ld = s.ld;
  d.free = s.free;
  g.for_each_2d(d.m + 2, d.ld, [&](int j, int i) {
    const double value = j < d.m ? s.col(j)[i] : j > d.m ? s.q[i] : 0.0;
    d.col(j)[i] = Real(value);
  });
  g.for_each(d.m, [&](int i) {
    d.basic[i] = d.place[i] = i;
    d.nonbasic[i] = d.m + i;
    d.place[d.m + i] = -1 - i;
  });
  g.once([&] {
    d.nonbasic[d.m] = d.artificial();
    d.place[d.artificial()] = -1 - d.m;
  });
}

/// Exchanges the basic variable of row r with the nonbasic one of column c.
template <class Real, class G>
SS_HD void exchange(const G& g, const Dictionary<Real>& d, int r, int c) {
  constexpr int C = G::kChunk;
  const Real inverse = Real(1) / d.at(r, c);
  g.for_each(d.m + 2, [&](int j) { d.factor[j] = j == c ? Real(0) : -d.at(r, j) * inverse; });
  g.for_each(d.ld, [&](int i) { d.entering[i] = d.col(c)[i]; });
  g.for_each_2d(d.m + 2, (d.m + C - 1) / C, [&](int j, int chunk) {
    const Real f = d.factor[j];
    if (f == Real(0)) return;
    Real* const to = d.col(j) + chunk * C;
    auto sum = Lanes<Real, C>::load(to);
    sum.add(Lanes<Real, C>::load(d.entering + chunk * C), f);
    sum.store(to);
  });
  g.for_each(d.m + 2, [&](int j) { d.col(j)[r] = d.factor[j]; });
  g.for_each(d.ld, [&](int i) { d.col(c)[i] = i == r ? inverse : d.entering[i] * inverse; });
  g.once([&] {
    const int leaving = d.basic[r], coming = d.nonbasic[c];
    d.basic[r] = coming;
    d.nonbasic[c] = leaving;
    d.place[coming] = r;
    d.place[leaving] = -1 - c;
  });
}

/// The solution of the basis: basic y from the constants, the others zero.
template <class Real, class G>
SS_HD void read_solution(const G& g, const Dictionary<Real>& d, double* y) {
  g.for_each(d.m, [&](int i) {
    const int row = d.place[d.m + i];
    y[i] = row >= 0 ? double(d.constant()[row]) : 0.0;
  });
}

/// y -= B^-1 w(y): the dictionary holds the inverse of its basis in the columns of the nonbasic w,
/// which are zero at the solution.
template <class Real, class G>
SS_HD void refine_solution(const G& g, const Dictionary<Real>& d, const double* w, double* y) {
  g.for_each(d.m, [&](int i) {
    const int row = d.place[d.m + i];
    if (row < 0) return;
    double sum = y[i];
    for (int j = 0; j <= d.m; ++j) {
      const int variable = d.nonbasic[j];
      if (variable < d.m) sum = fma(-double(d.at(row, j)), w[variable], sum);
    }
    y[i] = sum;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
