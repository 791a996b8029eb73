// A stage of the ladder that follows the central path and ends with Newton. A solver includes no
// other solver, so they are combined here.
#pragma once
#include "kernels/launch/ladder.hpp"
#include "kernels/solver/interior/interior.hpp"
#include "kernels/solver/newton/newton.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The interior point and its final Newton; their linear systems share memory.
template <class Real>
struct InteriorScratch {
  Newton<Real, Real> newton;
  CentralPath<Real> path;

  SS_HD InteriorScratch(Arena& arena, int max_rows, int max_contacts)
      : newton(arena, max_rows), path(arena, max_rows, max_contacts, newton.direction.system) {
    newton.at.factor = Real(0.01);  // 100 rho: here velocities show the states better than impulses
    newton.at.inverse = Real(100);
  }
};

/// The interior point, with a few Newton steps whenever it is near a solution. Not in float, which
/// cannot resolve points near the end of the path.
template <class Real, class G, class In>
SS_PART int run_interior_stage(const G& g, const EnvProblem<In>& p, const Stage& stage,
                               const Scaled<Real>& s, Arena arena, Judge<In>& judge) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    constexpr int kSteps = 12;
    InteriorScratch<Real>& w = *arena.take<InteriorScratch<Real>>(1);  // many pointers: in memory
    g.once([&] { w = InteriorScratch<Real>(arena, p.n, p.n_contacts); });
    const double end = stage.soften > 0.0 ? 0.1 * stage.soften : kEndOfPath;
    return run_interior(g, p, s, w.path, stage.budget, stage.distance, end, judge, [&]() SS_INLINE {
      return stage.soften > 0.0
                 ? 0
                 : run_newton(g, p, s, w.newton, kSteps, stage.epsilon, false, judge);
    });
  }
  return 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
