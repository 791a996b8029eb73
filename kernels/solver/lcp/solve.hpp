// One problem: attempts by Lemke and by Newton alternate until the judge says solved.
#pragma once
#include "kernels/solver/lcp/certificate.hpp"
#include "kernels/solver/lcp/fischer.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Scratch of one problem. Attempts run one after the other, so their scratch overlaps.
template <class Real, class Scalar>
struct LcpScratch {
  LcpJudge<Scalar> judge;
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

/// Results of the attempts.
struct LcpOutcome {
  int iterations = 0;
  LcpMethod method = LcpMethod::lemke;  ///< of the judge's best
  bool infeasible = false;              ///< an attempt by Lemke proved it
};

/// Slack of the ratio test. A float dictionary needs more than a float tableau.
template <class Real>
SS_HD Real dictionary_slack(int attempt) {
  return Real((sizeof(Real) == 8 ? 1.0 : 1e4) * lemke_slack(attempt));
}

template <class Real, class G, class Scalar>
SS_PART LemkeEnd attempt_lemke(const G& g, const LcpProblem<Scalar>& p, const LcpOptions& o,
                               int attempt, LcpScratch<Real, Scalar>& scratch, LcpOutcome& out) {
  const StandardLcp& s = scratch.standard;
  Arena arena = scratch.attempt;
  LemkeScratch<Real> lemke(arena, s.m, scratch.y);
  const Real min_pivot = Real(sizeof(Real) == 8 ? 1e-9 : 1e-5);
  const int budget = o.max_pivots > 0 ? o.max_pivots : 100 + 20 * s.m;
  const LemkeOptions<Real> options{attempt, budget, {min_pivot, dictionary_slack<Real>(attempt)}};
  const LemkeEnd end = follow_pivots(g, s, lemke.dictionary, options, out.iterations);
  const double tolerance = scratch.judge.tolerance;
  if (end == LemkeEnd::ray) {
    out.infeasible = ray_is_certificate(g, s, lemke.dictionary, tolerance, lemke.w);
  } else if (end == LemkeEnd::contradiction) {
    out.infeasible = contradiction_is_certificate(g, s, lemke.dictionary, tolerance, lemke.w);
  }
  if (end != LemkeEnd::solution) return end;
  const double before = scratch.judge.best_residual;
  if (!judge_basis(g, p, s, lemke, scratch.judge)) {
    Arena again = scratch.attempt;  // the dictionary is no longer needed
    FischerScratch<Real> f(again, s.m, scratch.y);
    polish(g, AffineMap<Scalar>{p, s, scratch.judge}, f, 4);
  }
  if (scratch.judge.best_residual < before) out.method = LcpMethod::lemke;
  return end;
}

/// From the caller's start, from y = 0, then from hashed numbers in [0, 1).
template <class Real, class G, class Scalar>
SS_PART void attempt_newton(const G& g, const LcpProblem<Scalar>& p, const LcpOptions& o,
                            int attempt, LcpScratch<Real, Scalar>& scratch, LcpOutcome& out) {
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
  out.iterations += run_fischer(g, AffineMap<Scalar>{p, s, scratch.judge}, f, o.max_newton);
  if (scratch.judge.best_residual < before) out.method = LcpMethod::newton;
}

/// Solves the problem; the judge holds the best z and starts with the caller's start or zero.
template <class Real, class G, class Scalar>
SS_HD LcpOutcome run_lcp(const G& g, const LcpProblem<Scalar>& p, const LcpOptions& o,
                         LcpScratch<Real, Scalar>& scratch) {
  LcpOutcome out;
  if (o.method == LcpMethod::newton) out.method = LcpMethod::newton;
  LcpJudge<Scalar>& judge = scratch.judge;
  g.for_each(p.n, [&](int i) {
    judge.best[i] = Scalar(0);
    judge.candidate[i] = p.start == nullptr ? Scalar(0) : p.start[i];
  });
  judge_lcp(g, p, judge);
  if (p.n == 0 || judge.solved()) return out;
  standardise(g, p, scratch.standard);
  for (int attempt = 0; attempt <= o.restarts && !judge.solved() && !stopped(g); ++attempt) {
    if (o.method != LcpMethod::newton) {
      attempt_lemke(g, p, o, attempt, scratch, out);
      if (out.infeasible) break;
    }
    if (o.method != LcpMethod::lemke && !judge.solved()) {
      attempt_newton(g, p, o, attempt, scratch, out);
    }
  }
  return out;
}

}  // namespace stickslip::kernels::inline SS_ISA
