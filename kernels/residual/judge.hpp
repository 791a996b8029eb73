// Keeps the best impulse seen, by the residual of the problem as given.
#pragma once
#include "kernels/residual/certificate.hpp"
#include "kernels/residual/residual.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The requirements of the judge and its vectors: in memory, because a GPU has few registers.
template <class Scalar>
struct JudgeMemory {
  Wide<Scalar> tolerance = 0.0;
  Wide<Scalar> near = 0.0;        ///< relative error (squared) at which an iterate is worth judging
  bool hidden = false;            ///< some impulse solved but for the bound of rounding errors
  bool settled = false;           ///< the last steps on an altered problem have solved that
  bool softened = false;          ///< the last search has solved its softened problem, and failed
  Scalar* best = nullptr;         ///< [n] the caller's slot of the result
  double* certificate = nullptr;  ///< [n] the caller's slot, or null
  Scalar* candidate;              ///< [n] scratch: the impulse judged last
  Scalar* start;                  ///< [n] where the next stage starts; not always the best
  Wide<Scalar>* u;                ///< [n] scratch
  Wide<Scalar>* e;                ///< [n] scratch: bound of the errors of u

  SS_HD JudgeMemory(Arena& arena, int max_rows)
      : candidate(arena.take<Scalar>(max_rows)),
        start(arena.take<Scalar>(max_rows)),
        u(arena.take<Wide<Scalar>>(max_rows)),
        e(arena.take<Wide<Scalar>>(max_rows)) {}
};

/// Beyond so many max|b| a residual is far from that of a solution. An impulse of such a residual
/// may be huge itself, and moves bodies more than the softened one.
inline constexpr double kFar = 1e-3;

/// What is expected of a candidate: this decides about the work of judging it, not the result.
enum class Guess : std::int32_t { unknown, solution };

template <class Scalar>
struct Judge {
  Law law = Law::coulomb;
  Wide<Scalar> best_residual = Limits<double>::infinity;
  Wide<Scalar> last_residual = Limits<double>::infinity;  ///< of the candidate
  bool infeasible = false;                                ///< a certificate was found
  /// Of many solutions one is selected (scaling/selection.hpp): whether the candidates that come
  /// are that one, if they are solutions, and whether the best is.
  bool selects = true, selected = true;
  JudgeMemory<Scalar>* at;

  SS_HD explicit Judge(Arena& arena) : at(arena.take<JudgeMemory<Scalar>>(1)) {}
  SS_HD Judge(Law of_problem, JudgeMemory<Scalar>* memory) : law(of_problem), at(memory) {}

  SS_HD Mask<Wide<Scalar>> solved() const { return best_residual <= at->tolerance; }
  /// Nothing is left to be found.
  SS_HD Mask<Wide<Scalar>> done() const { return solved() & Mask<Wide<Scalar>>(selected); }
  /// Whether a candidate of this residual is better than the best: among solutions, the selected
  /// one.
  SS_HD Mask<Wide<Scalar>> prefers(Wide<Scalar> value) const {
    const Mask<Wide<Scalar>> less = value < best_residual;
    if (selects == selected) return less;
    return selects ? less | (value <= at->tolerance) : less & !solved();
  }
};

inline constexpr double kNearSolution = 1e-14;  ///< merit at which one more step is enough

/// The merit of Newton's methods, squared velocities, from which on iterates are judged.
template <class Scalar>
SS_HD double worth_judging(const Judge<Scalar>& judge) {
  return max(kNearSolution, 100.0 * judge.at->near);
}

/// Moves the candidate onto its feasible set, so that rounding never violates a cone or a bound.
template <class G, class Scalar>
SS_SHARED_CODE void make_feasible(G g, const EnvProblem<Scalar>& p, Law law, Scalar* r) {
  const int scalars = p.first_contact_row();
  g.for_each(scalars + p.n_contacts, [&](int item) {
    if (item < scalars) {
      r[item] = Scalar(clamp(Wide<Scalar>(r[item]), p.lower(item), p.upper(item)));
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
template <class G, class Scalar, class Velocity>
SS_SHARED_CODE Wide<Scalar> judged_residual(G g, const EnvProblem<Scalar>& p, Velocity velocity,
                                            Law law, JudgeMemory<Scalar>& at, const Scalar* r,
                                            Guess guess) {
  if (guess == Guess::solution) {
    velocity(g, r, at.u, at.e);
  } else {
    velocity(g, r, at.u);
  }
  const Wide<Scalar> value = natural_map(g, p, law, r, at.u);
  const auto close = value <= at.tolerance;
  if (!any(close)) return value;
  if (guess != Guess::solution) velocity.error(g, r, at.e);
  const Wide<Scalar> bound = bound_of_map(g, p, at.u, at.e);
  if constexpr (kIsPlain<Scalar>) {
    if (bound > at.tolerance) g.once([&] { at.hidden = true; });
  }
  return select(close, bound, value);
}

/// Makes the candidate the best where it is `better`; `value`: its residual.
template <class G, class Scalar>
SS_HD void keep_candidate(const G& g, const EnvProblem<Scalar>& p, Mask<Wide<Scalar>> better,
                          Wide<Scalar> value, Judge<Scalar>& judge) {
  if (!any(better)) return;
  judge.selected = judge.selects;
  judge.best_residual = select(better, value, judge.best_residual);
  Scalar* best = judge.at->best;
  const Scalar* candidate = judge.at->candidate;
  g.for_each(p.n, [&](int i) {
    best[i] = Scalar(select(better, Wide<Scalar>(candidate[i]), Wide<Scalar>(best[i])));
  });
}

/// Judges the candidate; keeps it if it is the best so far and the environment is still `running`.
/// Returns whether nothing is left to be found.
template <class G, class Scalar, class Velocity>
SS_HD Mask<Wide<Scalar>> judge_candidate(const G& g, const EnvProblem<Scalar>& p,
                                         const Velocity& velocity, Judge<Scalar>& judge,
                                         Guess guess = Guess::unknown,
                                         Mask<Wide<Scalar>> running = true) {
  make_feasible(g, p, judge.law, judge.at->candidate);
  const Wide<Scalar> value =
      judged_residual(g, p, velocity, judge.law, *judge.at, judge.at->candidate, guess);
  judge.last_residual = value;
  keep_candidate(g, p, judge.prefers(value) & running, value, judge);
  return judge.done();
}

/// Makes zero impulses the candidate.
template <class G, class Scalar>
SS_HD void take_zero(const G& g, const EnvProblem<Scalar>& p, Judge<Scalar>& judge) {
  g.for_each(p.n, [&](int i) { judge.at->candidate[i] = Scalar(0); });
  make_feasible(g, p, judge.law, judge.at->candidate);  // a bound of -0 makes it -0
}

/// Judges zero impulses after other candidates as if before them: they are kept if none is better.
/// Returns whether they are.
template <class G, class Scalar, class Velocity>
SS_HD bool judge_zero(const G& g, const EnvProblem<Scalar>& p, const Velocity& velocity,
                      Judge<Scalar>& judge) {
  take_zero(g, p, judge);
  const Wide<Scalar> value =
      judged_residual(g, p, velocity, judge.law, *judge.at, judge.at->candidate, Guess::unknown);
  const bool kept = value <= judge.best_residual;
  keep_candidate(g, p, kept, value, judge);
  if (kept) judge.selected = true;  // the path begins there
  return kept;
}

template <class G, class Scalar>
SS_HD Mask<Wide<Scalar>> judge_candidate(const G& g, const EnvProblem<Scalar>& p,
                                         Judge<Scalar>& judge, Guess guess = Guess::unknown,
                                         Mask<Wide<Scalar>> running = true) {
  return judge_candidate(g, p, MatrixVelocity<Scalar>{p}, judge, guess, running);
}

/// Lets the next stage start at the impulse judged last.
template <class G, class Scalar>
SS_HD void continue_from_candidate(const G& g, const EnvProblem<Scalar>& p, Judge<Scalar>& judge) {
  g.for_each(p.n, [&](int i) { judge.at->start[i] = judge.at->candidate[i]; });
}

/// If the best is not a solution, replaces its residual by an upper bound as well. Zero impulses
/// take its place where they are nearer to a solution, and near: with a singular W, impulses of
/// 10^9 N s may satisfy the rows but for the rounding errors of their velocities.
template <class G, class Scalar, class Velocity>
SS_HD void close_judge(const G& g, const EnvProblem<Scalar>& p, const Velocity& velocity,
                       Judge<Scalar>& judge) {
  using Number = Wide<Scalar>;
  const auto solved = judge.solved();
  if (all(solved)) return;
  const JudgeMemory<Scalar>& at = *judge.at;
  Number found(0.0), rest(0.0);
  SS_ROLLED for (int zero = 0; zero < 2; ++zero) {
    if (zero == 1) take_zero(g, p, judge);
    const Scalar* const r = zero == 1 ? at.candidate : at.best;
    (zero == 1 ? rest : found) = residual(g, p, judge.law, velocity, r, at.u, at.e);
  }
  judge.best_residual = select(solved, judge.best_residual, found);
  const Number b_max = g.max(p.n, [&](int i) { return abs(Number(p.b[i])); });
  const Mask<Number> nearer = (rest < found) & (rest <= kFar * b_max) & !solved;
  keep_candidate(g, p, nearer, rest, judge);
}

/// Makes the candidate judged last the answer to a problem that has, or seems to have, no solution.
template <class G, class Scalar>
SS_HD void answer_candidate(const G& g, const EnvProblem<Scalar>& p, Judge<Scalar>& judge) {
  if (!is_finite(judge.last_residual)) return;
  judge.best_residual = judge.last_residual;
  g.for_each(p.n, [&](int i) { judge.at->best[i] = judge.at->candidate[i]; });
}

/// Keeps the proof y[n] that there is no solution.
template <class G, class Scalar>
SS_HD void keep_certificate(const G& g, const EnvProblem<Scalar>& p, const double* y,
                            Judge<Scalar>& judge) {
  judge.infeasible = true;
  if (judge.at->certificate == nullptr) return;
  g.for_each(p.n, [&](int i) { judge.at->certificate[i] = y[i]; });
}

/// The candidate is the scaled iterate z. Zeros get the sign +, because the sign of a zero in an
/// iterate depends on operations that a group skips as they change no value.
template <class G, class Scalar, class Real>
SS_HD void take_candidate(const G& g, const EnvProblem<Scalar>& p, const Scaled<Real>& s,
                          const Real* z, Judge<Scalar>& judge) {
  g.for_each(p.n, [&](int i) {
    judge.at->candidate[i] = Scalar(Wide<Scalar>(z[i]) * s.d[i] / s.q) + Scalar(0);
  });
}

/// The velocities of the problem that s scales.
template <class Scalar, class Real>
SS_HD MatrixVelocity<Scalar> velocity_of(const EnvProblem<Scalar>& p, const Scaled<Real>& /*s*/) {
  return {p};
}

/// Judges the scaled iterate z.
template <class S, class G, class Scalar, class Real>
SS_HD bool judge_iterate(const G& g, const EnvProblem<Scalar>& p, const S& s, const Real* z,
                         Judge<Scalar>& judge, Guess guess = Guess::unknown) {
  take_candidate(g, p, s, z, judge);
  return judge_candidate(g, p, velocity_of(p, s), judge, guess);
}

}  // namespace stickslip::kernels::inline SS_ISA
