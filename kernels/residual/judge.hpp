// Keeps the best impulse seen, by the residual of the problem as given.
#pragma once
#include "kernels/residual/certificate.hpp"
#include "kernels/residual/residual.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The requirements of the judge and its vectors: in memory, because a GPU has few registers.
template <class In>
struct JudgeMemory {
  Wide<In> tolerance = 0.0;
  Wide<In> near = 0.0;            ///< relative error (squared) at which an iterate is worth judging
  bool hidden = false;            ///< some impulse solved but for the bound of rounding errors
  In* best = nullptr;             ///< [n] the caller's slot of the result
  double* certificate = nullptr;  ///< [n] the caller's slot, or null
  In* candidate;                  ///< [n] scratch: the impulse judged last
  In* start;                      ///< [n] where the next stage starts; not always the best
  Wide<In>* u;                    ///< [n] scratch
  Wide<In>* e;                    ///< [n] scratch: bound of the errors of u

  SS_HD JudgeMemory(Arena& arena, int max_rows)
      : candidate(arena.take<In>(max_rows)),
        start(arena.take<In>(max_rows)),
        u(arena.take<Wide<In>>(max_rows)),
        e(arena.take<Wide<In>>(max_rows)) {}
};

/// What is expected of a candidate: this decides about the work of judging it, not the result.
enum class Guess : std::int32_t { unknown, solution };

template <class In>
struct Judge {
  Law law = Law::coulomb;
  Wide<In> best_residual = Limits<double>::infinity;
  Wide<In> last_residual = Limits<double>::infinity;  ///< of the candidate
  bool infeasible = false;                            ///< a certificate was found
  /// Of many solutions one is selected (scaling/selection.hpp): whether the candidates that come
  /// are that one, if they are solutions, and whether the best is.
  bool selects = true, selected = true;
  JudgeMemory<In>* at;

  SS_HD explicit Judge(Arena& arena) : at(arena.take<JudgeMemory<In>>(1)) {}
  SS_HD Judge(Law of_problem, JudgeMemory<In>* memory) : law(of_problem), at(memory) {}

  SS_HD Mask<Wide<In>> solved() const { return best_residual <= at->tolerance; }
  /// Nothing is left to be found.
  SS_HD Mask<Wide<In>> done() const { return solved() & Mask<Wide<In>>(selected); }
  /// Whether a candidate of this residual is better than the best: among solutions, the selected
  /// one.
  SS_HD Mask<Wide<In>> prefers(Wide<In> value) const {
    const Mask<Wide<In>> less = value < best_residual;
    if (selects == selected) return less;
    return selects ? less | (value <= at->tolerance) : less & !solved();
  }
};

inline constexpr double kNearSolution = 1e-14;  ///< merit at which one more step is enough

/// The merit of Newton's methods, squared velocities, from which on iterates are judged.
template <class In>
SS_HD double worth_judging(const Judge<In>& judge) {
  return max(kNearSolution, 100.0 * judge.at->near);
}

/// Moves the candidate onto its feasible set, so that rounding never violates a cone or a bound.
template <class G, class In>
SS_SHARED_CODE void make_feasible(G g, const EnvProblem<In>& p, Law law, In* r) {
  const int scalars = p.first_contact_row();
  g.for_each(scalars + p.n_contacts, [&](int item) {
    if (item < scalars) {
      r[item] = In(clamp(Wide<In>(r[item]), p.lower(item), p.upper(item)));
    } else {
      const int k = item - scalars;
      with_law(law, [&](auto its) {
        with_dim(p.block[k + 1] - p.block[k],
                 [&](auto dim) { decltype(its)::template make_feasible<dim()>(p, k, r); });
      });
    }
  });
}

/// The residual of r. If r would be a solution, its bound for all errors of the velocities: a
/// solution must be one for all of them. `velocity(g, r, u)` computes the velocities of impulses,
/// `velocity.error(g, r, e)` then bounds their errors, `velocity(g, r, u, e)` does both at once.
template <class G, class In, class Velocity>
SS_SHARED_CODE Wide<In> judged_residual(G g, const EnvProblem<In>& p, Velocity velocity, Law law,
                                        JudgeMemory<In>& at, const In* r, Guess guess) {
  if (guess == Guess::solution) {
    velocity(g, r, at.u, at.e);
  } else {
    velocity(g, r, at.u);
  }
  const Wide<In> value = natural_map(g, p, law, r, at.u);
  const auto close = value <= at.tolerance;
  if (!any(close)) return value;
  if (guess != Guess::solution) velocity.error(g, r, at.e);
  const Wide<In> bound = bound_of_map(g, p, at.u, at.e);
  if constexpr (kIsPlain<In>) {
    if (bound > at.tolerance) g.once([&] { at.hidden = true; });
  }
  return select(close, bound, value);
}

/// Makes the candidate the best where it is `better`; `value`: its residual.
template <class G, class In>
SS_HD void keep_candidate(const G& g, const EnvProblem<In>& p, Mask<Wide<In>> better,
                          Wide<In> value, Judge<In>& judge) {
  if (!any(better)) return;
  judge.selected = judge.selects;
  judge.best_residual = select(better, value, judge.best_residual);
  In* best = judge.at->best;
  const In* candidate = judge.at->candidate;
  g.for_each(
      p.n, [&](int i) { best[i] = In(select(better, Wide<In>(candidate[i]), Wide<In>(best[i]))); });
}

/// Judges the candidate; keeps it if it is the best so far and the environment is still `running`.
/// Returns whether nothing is left to be found.
template <class G, class In, class Velocity>
SS_HD Mask<Wide<In>> judge_candidate(const G& g, const EnvProblem<In>& p, const Velocity& velocity,
                                     Judge<In>& judge, Guess guess = Guess::unknown,
                                     Mask<Wide<In>> running = true) {
  make_feasible(g, p, judge.law, judge.at->candidate);
  const Wide<In> value =
      judged_residual(g, p, velocity, judge.law, *judge.at, judge.at->candidate, guess);
  judge.last_residual = value;
  keep_candidate(g, p, judge.prefers(value) & running, value, judge);
  return judge.done();
}

/// Judges zero impulses after other candidates as if before them: they are kept if none is better.
/// Returns whether they are.
template <class G, class In>
SS_HD bool judge_zero(const G& g, const EnvProblem<In>& p, Judge<In>& judge) {
  In* candidate = judge.at->candidate;
  g.for_each(p.n, [&](int i) { candidate[i] = In(0); });
  make_feasible(g, p, judge.law, candidate);  // a bound of -0 makes it -0
  const Wide<In> value =
      judged_residual(g, p, MatrixVelocity<In>{p}, judge.law, *judge.at, candidate, Guess::unknown);
  const bool kept = value <= judge.best_residual;
  keep_candidate(g, p, kept, value, judge);
  if (kept) judge.selected = true;  // the path begins there
  return kept;
}

template <class G, class In>
SS_HD Mask<Wide<In>> judge_candidate(const G& g, const EnvProblem<In>& p, Judge<In>& judge,
                                     Guess guess = Guess::unknown, Mask<Wide<In>> running = true) {
  return judge_candidate(g, p, MatrixVelocity<In>{p}, judge, guess, running);
}

/// Lets the next stage start at the impulse judged last.
template <class G, class In>
SS_HD void continue_from_candidate(const G& g, const EnvProblem<In>& p, Judge<In>& judge) {
  g.for_each(p.n, [&](int i) { judge.at->start[i] = judge.at->candidate[i]; });
}

/// If the best is not a solution, replaces its residual by an upper bound as well.
template <class G, class In, class Velocity>
SS_HD void close_judge(const G& g, const EnvProblem<In>& p, const Velocity& velocity,
                       Judge<In>& judge) {
  const auto solved = judge.solved();
  if (all(solved)) return;
  const JudgeMemory<In>& at = *judge.at;
  const Wide<In> bound = residual(g, p, judge.law, velocity, at.best, at.u, at.e);
  judge.best_residual = select(solved, judge.best_residual, bound);
}

/// Makes the candidate judged last the answer to a problem that has, or seems to have, no solution.
template <class G, class In>
SS_HD void answer_candidate(const G& g, const EnvProblem<In>& p, Judge<In>& judge) {
  if (!is_finite(judge.last_residual)) return;
  judge.best_residual = judge.last_residual;
  g.for_each(p.n, [&](int i) { judge.at->best[i] = judge.at->candidate[i]; });
}

/// Keeps the proof y[n] that there is no solution.
template <class G, class In>
SS_HD void keep_certificate(const G& g, const EnvProblem<In>& p, const double* y,
                            Judge<In>& judge) {
  judge.infeasible = true;
  if (judge.at->certificate == nullptr) return;
  g.for_each(p.n, [&](int i) { judge.at->certificate[i] = y[i]; });
}

/// The candidate is the scaled iterate z. Zeros get the sign +, because the sign of a zero in an
/// iterate depends on operations that a group skips as they change no value.
template <class G, class In, class Real>
SS_HD void take_candidate(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s, const Real* z,
                          Judge<In>& judge) {
  g.for_each(p.n,
             [&](int i) { judge.at->candidate[i] = In(Wide<In>(z[i]) * s.d[i] / s.q) + In(0); });
}

/// Judges the scaled iterate z.
template <class G, class In, class Real>
SS_HD bool judge_iterate(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s, const Real* z,
                         Judge<In>& judge, Guess guess = Guess::unknown) {
  take_candidate(g, p, s, z, judge);
  return judge_candidate(g, p, judge, guess);
}

}  // namespace stickslip::kernels::inline SS_ISA
