// The judge of one environment and its first candidate: the start.
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/residual/tolerance.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether some gap or joint shows that zero impulses are no solution.
template <class G, class Scalar>
SS_HD bool rest_is_refuted(const G& g, const EnvProblem<Scalar>& p, const Judge<Scalar>& judge) {
  const int gaps = p.n_free + p.n_nonneg;
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
/// solution. With `rest_first` others are judged before a warm start: what needs no impulse gets
/// none, whatever the last step was (on Painleve's side there may be two solutions). Returns
/// whether the start was judged.
template <class G, class Scalar, class Velocity>
SS_HD bool judge_start(const G& g, const EnvProblem<Scalar>& p, const Velocity& velocity,
                       Judge<Scalar>& judge, bool rest_first) {
  bool judged = true, rests = false;
  if constexpr (kIsPlain<Scalar>) {
    const bool warm = starts_warm(g, p);
    const bool refuted = (rest_first || !warm) && rest_is_refuted(g, p, judge);
    judged = warm || !refuted;
    rests = warm && rest_first && !refuted;
  }
  for (bool again = true; again;) {
    g.for_each(p.n, [&](int i) {
      judge.at->best[i] = Scalar(0);
      // Never -0, so that zeros are the same bits in every way of the solve.
      judge.at->candidate[i] =
          rests || p.warm_start == nullptr ? Scalar(0) : p.warm_start[i] + Scalar(0);
    });
    if (judged) judge_candidate(g, p, velocity, judge, Guess::solution);
    again = rests && !all(judge.solved());
    rests = false;
  }
  continue_from_candidate(g, p, judge);
  return judged;
}

/// Prepares `judge` for the problem; the best impulse will be in `impulse`, a proof that there is
/// no solution in `certificate`, unless that is null.
template <class G, class Scalar>
SS_HD void open_judge(const G& g, const EnvProblem<Scalar>& p, const SolveOptions& o,
                      const JudgeMemory<Scalar>& memory, Scalar* impulse, double* certificate,
                      Judge<Scalar>& judge) {
  using Number = Wide<Scalar>;
  judge = Judge<Scalar>(o.law, judge.at);
  const Number b_max = g.max(p.n, [&](int i) { return abs(Number(p.b[i])); });
  g.once([&] {
    const Number size = max(b_max, p.b_elsewhere);
    const Number tolerance = tolerance_of(o.atol, o.rtol, o.precision, size);
    const Number relative = tolerance / b_max;
    JudgeMemory<Scalar>& at = *judge.at;
    at.tolerance = tolerance;
    at.near = select(b_max > 0.0, relative * relative, Number(1.0));
    at.hidden = at.settled = at.softened = false;
    at.best = impulse;
    at.certificate = certificate;
    at.candidate = memory.candidate;
    at.start = memory.start;
    at.u = memory.u;
    at.e = memory.e;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
