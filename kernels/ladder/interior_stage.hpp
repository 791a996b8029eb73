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

  SS_HD InteriorScratch(Arena& arena, int max_rows, int max_contacts)
      : newton(arena, max_rows),
        continuation(arena, max_rows, max_contacts, newton.direction.system) {}
};

/// A few Newton steps from judge.at->start, each few of them towards the proximal point of the
/// point before: in piles W is singular, and without that term the states of contacts with hardly
/// any velocity toggle.
template <class Real, class G, class Scalar>
SS_HD int finish_path(const G& g, const EnvProblem<Scalar>& p, const Stage& stage, Scaled<Real>& s,
                      const Newton<Real, Real>& newton, Judge<Scalar>& judge) {
  constexpr int kSteps = 16;
  constexpr Real kProximal = Real(1e-8);
  int steps = 0;
  soften_contacts(g, p, s, kProximal);
  while (steps < kSteps && !judge.solved() && !stopped(g)) {
    scale_impulse(g, s, judge.at->start, newton.z);
    attract_to(g, p, s, kProximal, newton.z);
    steps += run_newton(g, p, s, newton, kSteps - steps, stage.epsilon, true, judge);
  }
  restore_problem(g, p, s);
  return steps;
}

/// The interior point or the continuation, finished by Newton whenever it is near a solution. Not
/// in float, which cannot resolve points near the end of the path.
template <class Real, class G, class Scalar>
SS_PART int run_interior_stage(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                               Scaled<Real>& s, Arena arena, Judge<Scalar>& judge) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    InteriorScratch<Real>& w = *arena.take<InteriorScratch<Real>>(1);  // many pointers: in memory
    g.once([&] {
      w = InteriorScratch<Real>(arena, p.n, p.n_contacts);
      w.newton.at.factor = Real(stage.factor);
      w.newton.at.inverse = Real(1.0 / stage.factor);
    });
    const auto finish = [&]() SS_INLINE { return finish_path(g, p, stage, s, w.newton, judge); };
    const CentralPath<Real>& path = w.continuation.path;
    if (stage.method == Method::continuation) {
      return run_continuation(g, p, s, w.continuation, stage.budget, stage.distance, judge, finish);
    }
    return run_interior(g, p, s, path, stage.budget, stage.distance, judge, finish);
  }
  return 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
