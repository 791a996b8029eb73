// Lemke's method on the dictionary: a covering column d z0 makes every row feasible, and pairs are
// exchanged until z0 can leave (README.md).
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/attempt.hpp"
#include "kernels/linalg/ratio_test.hpp"
#include "kernels/solver/lcp/eliminate.hpp"

namespace stickslip::kernels::inline SS_ISA {

enum class LemkeEnd : std::int32_t { solution, ray, budget, contradiction };

/// One attempt.
template <class Real>
struct LemkeOptions {
  int attempt;  ///< seed of the covering vector
  int max_pivots;
  RatioTest<Real> test;  ///< its slack is also that of z0's entry and of the rank of free rows
};

template <class Real>
struct LemkeScratch {
  Dictionary<Real> dictionary;
  double* y;  ///< [padded(m)] the iterate, owned by the caller
  double* w;  ///< [padded(m)]

  SS_HD LemkeScratch(Arena& arena, int max_m, double* iterate)
      : dictionary(arena, max_m), y(iterate), w(arena.take<double>(padded(max_m))) {}
};

/// Enters z0 if the basis is infeasible by more than the slack (elimination leaves zeros with
/// rounding errors). Returns the row that z0 takes, or -1 if z0 is not needed.
template <class Real, class G>
SS_HD int enter_artificial(const G& g, const Dictionary<Real>& d, const LemkeOptions<Real>& o) {
  Real* cover = d.col(d.m);
  g.for_each(d.m, [&](int i) {
    cover[i] = d.is_bounded(d.basic[i]) ? Real(covering_weight(i, o.attempt)) : Real(0);
  });
  const auto need = [&](int i) {
    return cover[i] > Real(0) && d.constant()[i] < -o.test.slack ? -d.constant()[i] / cover[i]
                                                                 : Real(0);
  };
  const Largest<Real> most = g.argmax(d.m, need);
  if (!(most.value > Real(0))) return -1;
  exchange(g, d, most.index, d.m);
  return most.index;
}

/// Row that blocks the entering column; -1: a ray, or numbers too large for the test. The variable
/// of the row is bounded, so its partner is nonbasic and can enter next.
template <class Real, class G>
SS_HD int blocking_row(const G& g, const Dictionary<Real>& d, int c, const LemkeOptions<Real>& o) {
  const Real* column = d.col(c);
  const Real* b = d.constant();
  const auto room = [&](int i) { return max(b[i], Real(0)); };
  const auto blocks = [&](int i) { return o.test.blocks(-column[i]) && d.is_bounded(d.basic[i]); };
  const Real inverse_step = o.test.longest(g.max(
      d.m, [&](int i) { return blocks(i) ? o.test.inverse_step(-column[i], room(i)) : Real(0); }));
  if (!(inverse_step > Real(0))) return -1;
  const int r0 = d.place[d.artificial()];
  if (o.test.may_release_z0(-column[r0], room(r0), inverse_step)) return r0;
  const auto pivot = [&](int i) {
    return blocks(i) ? o.test.pivot(-column[i], room(i), inverse_step) : Real(0);
  };
  const Largest<Real> most = g.argmax(d.m, pivot);
  return most.value > Real(0) ? most.index : -1;
}

/// One attempt. `pivots` counts the pivots done.
template <class Real, class G>
SS_PART LemkeEnd follow_pivots(const G& g, const StandardLcp& s, Dictionary<Real>& d,
                               const LemkeOptions<Real>& o, int& pivots) {
  open_dictionary(g, s, d);
  const int eliminated = eliminate_free_rows(g, d, o.test.slack);
  if (eliminated < 0) return LemkeEnd::contradiction;
  pivots += eliminated;
  if (enter_artificial(g, d, o) < 0) return LemkeEnd::solution;
  int leaving = d.nonbasic[d.m];
  for (int count = 1; count <= o.max_pivots && !stopped(g); ++count) {
    ++pivots;
    const int c = -1 - d.place[d.partner(leaving)];
    const int r = blocking_row(g, d, c, o);
    if (r < 0) {
      d.end = c;
      return LemkeEnd::ray;
    }
    leaving = d.basic[r];
    exchange(g, d, r, c);
    if (leaving == d.artificial()) return LemkeEnd::solution;
  }
  return LemkeEnd::budget;
}

/// w = A y + q' in double.
template <class G>
SS_HD void standard_velocity(const G& g, const StandardLcp& s, const double* y, double* w) {
  matvec(g, s.m, s.A, s.ld, y, s.q, w);
}

/// Judges the solution of the basis and refines it while this improves it. Returns whether it is a
/// solution.
template <class Real, class G, class Scalar>
SS_HD bool judge_basis(const G& g, const LcpProblem<Scalar>& p, const StandardLcp& s,
                       const LemkeScratch<Real>& scratch, LcpJudge<Scalar>& judge) {
  const int steps = sizeof(Real) == 8 ? 4 : 8;
  read_solution(g, scratch.dictionary, scratch.y);
  double before = Limits<double>::infinity;
  for (int k = 0;; ++k) {
    const double residual = judge_standard(g, p, s, scratch.y, judge);
    if (judge.solved()) return true;
    if (k == steps || !(residual < before)) return false;
    before = residual;
    standard_velocity(g, s, scratch.y, scratch.w);
    refine_solution(g, scratch.dictionary, scratch.w, scratch.y);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
