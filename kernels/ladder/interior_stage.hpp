// A stage of the ladder that follows a path through the interior and ends with Newton. A solver
// includes no other solver, so they are combined here.
#pragma once
#include "kernels/ladder/alter.hpp"
#include "kernels/ladder/ladder.hpp"
#include "kernels/solver/interior/continuation.hpp"
#include "kernels/solver/interior/interior.hpp"
#include "kernels/solver/newton/newton.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The two methods and their final Newton; their linear systems share memory.
template <class Real>
struct InteriorScratch {
  Newton<Real, Real> newton;
  Continuation<Real> continuation;
  int finishes = 0;  ///< how often Newton has been tried

  SS_HD InteriorScratch(Arena& arena, int max_rows, int max_contacts)
      : newton(arena, max_rows),
        continuation(arena, max_rows, max_contacts, newton.direction.system) {}
};

/// A few Newton steps from judge.at->start, each few of them towards the proximal point of the
/// point before: in piles W is singular, and without that term the states of contacts with hardly
/// any velocity toggle. Which kinks and which proximal term settle the last digits after an
/// interior point is a lottery: by turns, velocities decide about the states more than impulses,
/// much more, and less. After the continuation always as the stage says.
template <class S, class Real, class G, class Scalar>
SS_HD int finish_path(const G& g, const EnvProblem<Scalar>& p, const Stage& stage, S& s,
                      InteriorScratch<Real>& w, Judge<Scalar>& judge) {
  const bool by_turns = stage.method == Method::interior;
  const int turn = w.finishes % 3, most = by_turns ? 8 : 16;
  const double by_turn = turn == 0 ? 1e-3 : turn == 1 ? 1e-5 : 1e-2;
  const Real factor = Real(by_turns ? by_turn : stage.factor);
  const Real proximal = Real(by_turns && turn < 2 ? 1e-6 : 1e-8);
  const double epsilon = by_turns ? 1e-10 : stage.epsilon;
  g.once([&] {
    ++w.finishes;
    w.newton.at.factor = factor;
    w.newton.at.inverse = Real(1) / factor;
    w.newton.impatient = by_turns;
  });
  int steps = 0;
  soften_contacts(g, p, s, proximal);
  for (int done = 1; done > 0 && steps < most && !judge.solved() && !stopped(g); steps += done) {
    scale_impulse(g, s, judge.at->start, w.newton.z);
    attract_to(g, p, s, proximal, w.newton.z);
    done = run_newton(g, p, s, w.newton, most - steps, epsilon, true, judge);
  }
  restore_problem(g, p, s);
  return steps;
}

/// The interior point or the continuation, finished by Newton whenever it is near a solution. Not
/// in float, which cannot resolve points near the end of the path.
template <class S, class G, class Scalar>
SS_PART int run_interior_stage(const G& g, const EnvProblem<Scalar>& p, const Stage& stage, S& s,
                               Arena arena, Judge<Scalar>& judge) {
  using Real = typename S::Number;
  if constexpr (sizeof(Real) == sizeof(double)) {
    InteriorScratch<Real>& w = *arena.take<InteriorScratch<Real>>(1);  // many pointers: in memory
    g.once([&] { w = InteriorScratch<Real>(arena, p.n, p.n_contacts); });
    const auto finish = [&]() SS_INLINE { return finish_path(g, p, stage, s, w, judge); };
    const CentralPath<Real>& path = w.continuation.path;
    if (stage.method == Method::continuation) {
      return run_continuation(g, p, s, w.continuation, stage.budget, stage.distance, judge, finish);
    }
    return run_interior(g, p, s, path, stage.budget, stage.distance, judge, finish);
  }
  return 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
