// Keeps the best impulse seen, by the residual of the problem as given.
#pragma once
#include "kernels/law/scaled.hpp"
#include "kernels/residual/residual.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What the judge demands, and where its vectors lie: in memory, as a GPU's registers are short.
template <class In>
struct JudgeMemory {
  Wide<In> tolerance = 0.0;
  Wide<In> near = 0.0;  ///< relative error (squared) at which an iterate is worth judging
  In* best = nullptr;   ///< [n] the caller's slot of the result
  In* candidate;        ///< [n] scratch: the impulse judged last
  In* start;            ///< [n] where the next stage starts: not always at the best
  In* softened;         ///< [n] solution of the problem with softer contacts
  Wide<In>* u;          ///< [n] scratch

  SS_HD JudgeMemory(Arena& arena, int max_rows)
      : candidate(arena.take<In>(max_rows)),
        start(arena.take<In>(max_rows)),
        softened(arena.take<In>(max_rows)),
        u(arena.take<Wide<In>>(max_rows)) {}
};

template <class In>
struct Judge {
  Law law = Law::coulomb;
  Wide<In> best_residual = Limits<double>::infinity;
  Wide<In> last_residual = Limits<double>::infinity;  ///< of the candidate
  double last_merit = Limits<double>::infinity;  ///< Newton's, relative, of the problem as altered
  bool no_solution = false;                      ///< the last stage ended as if there were none
  JudgeMemory<In>* at;

  SS_HD explicit Judge(Arena& arena) : at(arena.take<JudgeMemory<In>>(1)) {}

  SS_HD Mask<Wide<In>> solved() const { return best_residual <= at->tolerance; }
};

/// Moves the candidate onto its feasible set, so that rounding never leaves a cone or a bound.
template <int dim, class In>
SS_HD void make_block_feasible(const EnvProblem<In>& p, Law law, int k, In* r) {
  using Number = Wide<In>;
  const int a = p.block[k];
  const bool sticky = law != Law::frictionless;
  r[a] = select(r[a] > In(0), r[a], In(0));
  const bool polygon = kIsPlain<In> && law == Law::pyramid && sticky && p.has_polygon(k);
  Number used = 0.0;  // how much of the friction r_n allows is used: <= 1 inside the set
  [[maybe_unused]] PlanePoint plane{0.0, 0.0};
  for (int j = 1; j < dim; ++j) {
    const Number limit = sticky ? Number(p.friction(k, j) * Number(r[a])) : Number(0.0);
    const auto allowed = limit > 0.0;
    Number r_j = select(allowed, Number(r[a + j]), Number(0.0));
    const Number share = select(allowed, r_j / limit, Number(0.0));
    if (law == Law::box) r_j = clamp(r_j, -limit, limit);
    r[a + j] = In(r_j);
    if (polygon && j < 3) {
      if constexpr (kIsPlain<In>) (j == 1 ? plane.x : plane.y) = share;
    } else {
      used = law == Law::pyramid ? Number(used + abs(share)) : fma(share, share, used);
    }
  }
  if constexpr (kIsPlain<In>) {
    if (polygon) used += polygon_gauge(p.directions, plane.x, plane.y);
  }
  const auto outside = used > 1.0;
  if (law == Law::box || !any(outside)) return;
  const Number factor = law == Law::pyramid ? Number(1.0 / used) : Number(1.0 / sqrt(used));
  for (int j = 1; j < dim; ++j) {
    r[a + j] = In(select(outside, Number(r[a + j]) * factor, Number(r[a + j])));
  }
}

template <class G, class In>
SS_HD void make_feasible(const G& g, const EnvProblem<In>& p, Law law, In* r) {
  const int scalars = p.first_contact_row();
  g.for_each(scalars + p.n_contacts, [&](int item) {
    if (item < scalars) {
      r[item] = In(clamp(Wide<In>(r[item]), p.lower(item), p.upper(item)));
    } else {
      const int k = item - scalars;
      with_dim(p.block[k + 1] - p.block[k],
               [&](auto dim) { make_block_feasible<dim()>(p, law, k, r); });
    }
  });
}

/// Judges the candidate; keeps it if it is the best so far and the environment still `running`.
/// Returns whether the best is a solution. `velocity(g, r, u)` says what impulses do.
template <class G, class In, class Velocity>
SS_HD Mask<Wide<In>> judge_candidate(const G& g, const EnvProblem<In>& p, const Velocity& velocity,
                                     Judge<In>& judge, Mask<Wide<In>> running = true) {
  make_feasible(g, p, judge.law, judge.at->candidate);
  velocity(g, judge.at->candidate, judge.at->u);
  const Wide<In> value = natural_map(g, p, judge.law, judge.at->candidate, judge.at->u);
  judge.last_residual = value;
  const auto better = (value < judge.best_residual) & running;
  if (any(better)) {
    judge.best_residual = select(better, value, judge.best_residual);
    In* best = judge.at->best;
    const In* candidate = judge.at->candidate;
    g.for_each(p.n, [&](int i) {
      best[i] = In(select(better, Wide<In>(candidate[i]), Wide<In>(best[i])));
    });
  }
  return judge.solved();
}

template <class G, class In>
SS_HD Mask<Wide<In>> judge_candidate(const G& g, const EnvProblem<In>& p, Judge<In>& judge,
                                     Mask<Wide<In>> running = true) {
  return judge_candidate(g, p, MatrixVelocity<In>{p}, judge, running);
}

/// Lets the next stage start where the last judged impulse stands.
template <class G, class In>
SS_HD void continue_from_candidate(const G& g, const EnvProblem<In>& p, Judge<In>& judge) {
  g.for_each(p.n, [&](int i) { judge.at->start[i] = judge.at->candidate[i]; });
}

/// max|r| of the candidate.
template <class G, class In>
SS_HD double candidate_size(const G& g, const EnvProblem<In>& p, const Judge<In>& judge) {
  return g.max(p.n, [&](int i) { return abs(double(judge.at->candidate[i])); });
}

/// Keeps the candidate as the answer if there is no solution.
template <class G, class In>
SS_HD void keep_softened(const G& g, const EnvProblem<In>& p, const Judge<In>& judge) {
  g.for_each(p.n, [&](int i) { judge.at->softened[i] = judge.at->candidate[i]; });
}

/// Gives up: there is no solution, and the softened one, with that residual, is the answer, if it
/// is finite.
template <class G, class In>
SS_HD void answer_softened(const G& g, const EnvProblem<In>& p, double softened_residual,
                           Judge<In>& judge) {
  judge.no_solution = true;
  if (!is_finite(softened_residual)) return;
  judge.best_residual = softened_residual;
  g.for_each(p.n, [&](int i) { judge.at->best[i] = judge.at->softened[i]; });
}

/// The candidate is the scaled iterate z. A zero gets the sign +: those of iterates depend on what
/// a group leaves out because it changes nothing.
template <class G, class In, class Real>
SS_HD void take_candidate(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s, const Real* z,
                          const Judge<In>& judge) {
  g.for_each(p.n,
             [&](int i) { judge.at->candidate[i] = In(Wide<In>(z[i]) * s.d[i] / s.q) + In(0); });
}

/// Judges the scaled iterate z.
template <class G, class In, class Real>
SS_HD bool judge_iterate(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s, const Real* z,
                         Judge<In>& judge) {
  take_candidate(g, p, s, z, judge);
  return judge_candidate(g, p, judge);
}

}  // namespace stickslip::kernels::inline SS_ISA
