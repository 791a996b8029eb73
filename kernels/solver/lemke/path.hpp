// Lemke's path: z0 covers the negative right-hand side, then complements enter one after the other
// until z0 leaves (solution) or nothing blocks the entering variable (ray).
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/ratio_test.hpp"
#include "kernels/solver/lemke/pivot.hpp"

namespace stickslip::kernels::inline SS_ISA {

enum class PathEnd : std::int32_t { solution, ray, budget };

/// How the sliding speed of a contact moves: the rate and the value of lambda.
template <class Real>
struct Sliding {
  Real slope, value;
};

template <class Real>
SS_HD Sliding<Real> sliding_of(const PyramidTableau<Real>& t, int k, int c) {
  const int lambda = t.place[t.m + t.n + k];
  if (lambda >= 0) return {t.entering()[lambda], t.right()[lambda]};
  return {Real(lambda == ~c ? 1 : 0), Real(0)};
}

/// The implicit twin of a stored direction.
template <class Real>
struct Twin {
  Real slope, value;
  /// Of direction i; `enters` is the entering variable, z0 the rate and the value of z0.
  SS_HD Twin(const PyramidTableau<Real>& t, int i, int enters, const Sliding<Real>& z0,
             const Sliding<Real>& sliding) {
    const int row = t.place[i];
    const Real d = Real(2) * t.cover[i];
    const Real own = row >= 0 ? t.entering()[row] : Real(1);
    const Real at = row >= 0 ? t.right()[row] : Real(0);
    const Real rate = fma(Real(-2), sliding.slope, fma(-d, z0.slope, own));
    value = fma(Real(2), sliding.value, fma(d, z0.value, -at));
    slope = row >= 0 || i == enters ? rate : Real(0);
  }
};

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
  const Sliding<Real> z0{column[z0_row], right[z0_row]};
  g.for_each(t.p, [&](int k) {
    const Sliding<Real> sliding = sliding_of(t, k, c);
    for (int j = 0; j < 2; ++j) {
      const Twin<Real> twin(t, 3 * k + 1 + j, enters, z0, sliding);
      t.slope[twins + 2 * k + j] = twin.slope;
      t.room[twins + 2 * k + j] = max(twin.value, Real(0));
    }
  });
  for_chunks(g, 2 * t.p, [&](int i) {
    t.key[twins + i] = test.inverse_step(t.slope[twins + i], t.room[twins + i]);
  });
}

/// Writes slope and room of an item and returns its key. Items that do not block get slope 0, so
/// that find_leaving need not read the keys.
template <class Real>
SS_HD Real measure_item(const PyramidTableau<Real>& t, const RatioTest<Real>& test, int item,
                        Real slope, Real value) {
  const Real room = max(value, Real(0)), key = test.inverse_step(slope, room);
  const bool blocks = key > Real(0);
  t.slope[item] = blocks ? slope : Real(0);
  t.room[item] = room;
  return blocks ? key : Real(0);
}

/// Reads the entering column and measures; returns the largest key. Lanes that have single rows
/// do it in two passes: the rows, then the twins, each with two rows' keys.
template <class Real, class G>
SS_HD Real measure_column(const G& g, const PyramidTableau<Real>& t, const RatioTest<Real>& test,
                          int c) {
  if constexpr (G::kChunk > 1) {
    read_column(g, t, c, t.entering());
    measure_rows(g, t, test, c);
    return g.max(t.items(t.p), [&](int i) { return t.key[i]; });
  } else {
    Real *entering = t.entering(), *right = t.right();
    const Shares<Real> shares(t, c);
    const Real* from = t.column(c);
    g.for_each(t.m, [&](int i) {
      const Real entry = shares.template sum<1>(from, i).v;
      entering[i] = entry;
      t.key[i] = measure_item(t, test, i, -entry, right[i]);
    });
    const int enters = t.col_var[c], z0_row = t.place[t.z0()];
    const Sliding<Real> z0{entering[z0_row], right[z0_row]};
    return g.max(2 * t.p, [&](int i) {
      const int k = i >> 1;
      const Twin<Real> twin(t, 3 * k + 1 + (i & 1), enters, z0, sliding_of(t, k, c));
      const Real key = measure_item(t, test, t.twins() + i, twin.slope, twin.value);
      return max(key, max(t.key[i], t.key[2 * t.p + i]));
    });
  }
}

/// The variable that leaves: a row, or twins + 2k + j for the twin of direction j of contact k; -1
/// if nothing blocks, or the numbers are too large for the test. largest: the largest key.
template <class Real, class G>
SS_PART int find_leaving(const G& g, const PyramidTableau<Real>& t, const RatioTest<Real>& test,
                         Real largest) {
  if (!(largest > Real(0))) return -1;
  const Real nearest = test.longest(largest);
  const int z0_row = t.place[t.z0()];
  if (test.may_release_z0(t.slope[z0_row], t.room[z0_row], nearest)) return z0_row;
  const auto pivot = [&](int i) {
    const bool blocks = G::kChunk == 1 || t.key[i] > Real(0);
    return blocks ? test.pivot(t.slope[i], t.room[i], nearest) : Real(0);
  };
  const Largest<Real> most = g.argmax(t.items(t.p), pivot);
  return most.value > Real(0) ? most.index : -1;
}

/// Runs the path from the tableau at z = 0, with at most `budget` pivots, and counts them.
template <class Real, class G>
SS_HD PathEnd follow_path(const G& g, PyramidTableau<Real>& t, const RatioTest<Real>& test,
                          int budget, int& pivots) {
  const Real* right = t.right();
  const auto need = [&](int i) { return right[i] < Real(0) ? -right[i] / t.cover[i] : Real(0); };
  const Largest<Real> lowest = g.argmax(t.n, need);
  if (!(lowest.value > Real(0))) return PathEnd::solution;
  if (budget == 0) return PathEnd::budget;
  read_column(g, t, t.m, t.entering());
  pivot(g, t, lowest.index, t.m);
  pivots = 1;
  for (int leaving = lowest.index;;) {
    if (pivots == budget || stopped(g)) return PathEnd::budget;
    const int c = ~t.place[t.complement(leaving)];
    const Real nearest = measure_column(g, t, test, c);
    const int item = find_leaving(g, t, test, nearest);
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
