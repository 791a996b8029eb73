// The judge of one environment and its first candidate: the start.
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/residual/tolerance.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether the start is zero impulses and some gap or joint shows that they are no solution.
template <class G, class In>
SS_HD bool start_is_refuted(const G& g, const EnvProblem<In>& p, const Judge<In>& judge) {
  const int gaps = p.n_free + p.n_nonneg;
  const In* start = p.warm_start;
  if (start != nullptr && g.any(p.n, [&](int i) { return start[i] != In(0); })) return false;
  if (g.any(p.n_box, [&](int i) { return p.lower(gaps + i) > 0.0 || p.upper(gaps + i) < 0.0; })) {
    return false;  // these rows need an impulse
  }
  return g.any(gaps + p.n_contacts, [&](int item) {
    const int k = item - gaps, row = k < 0 ? item : p.block[k];
    const double allowed = allowed_gap(judge.at->tolerance, k < 0 ? 0.0 : p.slope[k]);
    return p.b[row] < -allowed || (row < p.n_free && p.b[row] > allowed);
  });
}

/// Writes the start, the warm start or zero, and judges it. Zero impulses that are surely no
/// solution are not judged here: `climb` judges them after the first candidate, unless that is a
/// solution. Returns whether the start was judged.
template <class G, class In>
SS_HD bool judge_start(const G& g, const EnvProblem<In>& p, Judge<In>& judge) {
  g.for_each(p.n, [&](int i) {
    judge.at->best[i] = In(0);
    // Never -0, so that zeros are the same bits in every way of the solve.
    judge.at->candidate[i] = p.warm_start == nullptr ? In(0) : p.warm_start[i] + In(0);
  });
  bool judged = true;
  if constexpr (kIsPlain<In>) judged = !start_is_refuted(g, p, judge);
  if (judged) judge_candidate(g, p, judge, Guess::solution);
  continue_from_candidate(g, p, judge);
  return judged;
}

/// Prepares `judge` for the problem; the best impulse will be in `impulse`, a proof that there is
/// no solution in `certificate`, unless that is null.
template <class G, class In>
SS_HD void open_judge(const G& g, const EnvProblem<In>& p, const SolveOptions& o,
                      const JudgeMemory<In>& memory, In* impulse, double* certificate,
                      Judge<In>& judge) {
  using Number = Wide<In>;
  judge = Judge<In>(o.law, judge.at);
  const Number b_max = g.max(p.n, [&](int i) { return abs(Number(p.b[i])); });
  g.once([&] {
    const Number tolerance = tolerance_of(o.atol, o.rtol, o.precision, b_max);
    const Number relative = tolerance / b_max;
    *judge.at = memory;
    judge.at->tolerance = tolerance;
    judge.at->near = select(b_max > 0.0, relative * relative, Number(1.0));
    judge.at->best = impulse;
    judge.at->certificate = certificate;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
