// One problem: attempts by Lemke and by Newton take turns until the judge says solved.
#pragma once
#include "kernels/solver/lcp/fischer.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Scratch of one problem. Attempts run one after the other, so their scratch overlaps.
template <class Real, class In>
struct LcpScratch {
  LcpJudge<In> judge;
  StandardLcp standard;
  double* y;  ///< [padded(m)] iterate of the standard problem
  Arena attempt;

  SS_HD LcpScratch(Arena arena, int max_rows, int max_m)
      : judge(arena, max_rows),
        standard(arena, max_rows, max_m),
        y(arena.take<double>(padded(max_m))),
        attempt(arena) {}

  SS_HD static std::size_t bytes(int max_rows, int max_m) {
    const LcpScratch fixed(Arena(nullptr), max_rows, max_m);
    Arena lemke = fixed.attempt, newton = fixed.attempt;
    LemkeScratch<Real>(lemke, max_m, nullptr);
    FischerScratch<Real>(newton, max_m, nullptr);
    return max(lemke.used(), newton.used());
  }
};

/// What the attempts did.
struct LcpOutcome {
  int iterations = 0;
  LcpMethod method = LcpMethod::lemke;  ///< that produced the judge's best
  bool unsolvable = false;              ///< every attempt by Lemke ended without a solution
};

/// Slack of the ratio test, by attempt: works over four decades. (No table: a GPU would keep it in
/// local memory.)
template <class Real>
SS_HD Real lemke_slack(int attempt) {
  const int i = attempt % 8;
  const double slack = i == 0 || i == 4   ? 1e-10
                       : i == 1 || i == 6 ? 1e-9
                       : i == 2 || i == 7 ? 1e-11
                       : i == 3           ? 1e-8
                                          : 1e-12;
  return Real(sizeof(Real) == 8 ? slack : 1e4 * slack);
}

template <class Real, class G, class In>
SS_PART LemkeEnd attempt_lemke(const G& g, const LcpProblem<In>& p, const LcpOptions& o,
                               int attempt, LcpScratch<Real, In>& scratch, LcpOutcome& out) {
  const StandardLcp& s = scratch.standard;
  Arena arena = scratch.attempt;
  LemkeScratch<Real> lemke(arena, s.m, scratch.y);
  const Real min_pivot = Real(sizeof(Real) == 8 ? 1e-9 : 1e-5);
  const int budget = o.max_pivots > 0 ? o.max_pivots : 100 + 20 * s.m;
  const LemkeOptions<Real> options{attempt, budget, lemke_slack<Real>(attempt), min_pivot};
  const LemkeEnd end = follow_pivots(g, s, lemke.dictionary, options, out.iterations);
  if (end != LemkeEnd::solution) return end;
  const double before = scratch.judge.best_residual;
  if (!judge_basis(g, p, s, lemke, scratch.judge)) {
    Arena again = scratch.attempt;  // the dictionary has done its work
    FischerScratch<Real> f(again, s.m, scratch.y);
    polish(g, AffineMap<In>{p, s, scratch.judge}, f, 4);
  }
  if (scratch.judge.best_residual < before) out.method = LcpMethod::lemke;
  return end;
}

/// From the caller's start, from y = 0, then from hashed numbers in [0, 1).
template <class Real, class G, class In>
SS_PART void attempt_newton(const G& g, const LcpProblem<In>& p, const LcpOptions& o, int attempt,
                            LcpScratch<Real, In>& scratch, LcpOutcome& out) {
  const StandardLcp& s = scratch.standard;
  Arena arena = scratch.attempt;
  FischerScratch<Real> f(arena, s.m, scratch.y);
  g.for_each(s.ld, [&](int i) {
    f.y[i] = attempt > 0 && i < s.m ? hashed_weight(i, attempt + 100) - 1.0 : 0.0;
  });
  if (attempt == 0 && p.start != nullptr) {
    lcp_residual(g, p, p.start, scratch.judge.w);
    start_from(g, p, s, p.start, scratch.judge.w, f.y);
  }
  const double before = scratch.judge.best_residual;
  out.iterations += run_fischer(g, AffineMap<In>{p, s, scratch.judge}, f, o.max_newton);
  if (scratch.judge.best_residual < before) out.method = LcpMethod::newton;
}

/// Solves the problem; the judge holds the best z, and starts with that of the caller or zero.
template <class Real, class G, class In>
SS_HD LcpOutcome run_lcp(const G& g, const LcpProblem<In>& p, const LcpOptions& o,
                         LcpScratch<Real, In>& scratch) {
  LcpOutcome out;
  if (o.method == LcpMethod::newton) out.method = LcpMethod::newton;
  LcpJudge<In>& judge = scratch.judge;
  g.for_each(p.n, [&](int i) {
    judge.best[i] = In(0);
    judge.candidate[i] = p.start == nullptr ? In(0) : p.start[i];
  });
  judge_lcp(g, p, judge);
  if (p.n == 0 || judge.solved()) return out;
  standardise(g, p, scratch.standard);
  out.unsolvable = o.method != LcpMethod::newton;
  for (int attempt = 0; attempt <= o.restarts && !judge.solved(); ++attempt) {
    if (o.method != LcpMethod::newton) {
      const LemkeEnd end = attempt_lemke(g, p, o, attempt, scratch, out);
      if (end != LemkeEnd::ray && end != LemkeEnd::contradiction) out.unsolvable = false;
    }
    if (o.method != LcpMethod::lemke && !judge.solved()) {
      attempt_newton(g, p, o, attempt, scratch, out);
    }
  }
  return out;
}

}  // namespace stickslip::kernels::inline SS_ISA
