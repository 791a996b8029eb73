// One stage of the ladder for one environment.
#pragma once
#include <cassert>

#include "kernels/ladder/alter.hpp"
#include "kernels/ladder/env_scratch.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Random impulses of contact k: zero, inside the cone or on it, of a random size within four
/// decades around the size that would stop max|b|.
template <class Scalar>
SS_HD void draw_block(const EnvProblem<Scalar>& p, int k, int seed, double speed, Scalar* r) {
  const auto draw = [&](int i, std::uint32_t use) {
    return fraction_of(hashed_bits(i, seed, 977U + use));
  };
  const int a = p.block[k];
  const double kind = 3.0 * draw(k, 0), diagonal = normal_diagonal(p, k);
  double size = speed / 128.0;
  for (int halvings = int(14.0 * draw(0, 1)); halvings > 0; --halvings) size *= 2.0;
  const bool open = kind < 1.0 || !(diagonal > 0.0);
  const double normal = open ? 0.0 : size * draw(k, 2) / diagonal;
  const double x = draw(k, 3) - 0.5, y = draw(k, 4) - 0.5, length = sqrt(fma(x, x, y * y));
  const double share = (kind < 2.0 ? draw(k, 5) : 1.0) * (length > 0.0 ? normal / length : 0.0);
  r[a] = Scalar(normal);
  r[a + 1] = Scalar(p.friction(k, 1) * share * x);
  r[a + 2] = Scalar(p.friction(k, 2) * share * y);
  for (int i = a + 3; i < p.block[k + 1]; ++i) r[i] = Scalar(0);
}

/// Sets the start that the stage requires.
template <bool kDraws, class G, class Scalar>
SS_HD void place_start(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                       Judge<Scalar>& judge) {
  Scalar* start = judge.at->start;
  if constexpr (kDraws) {
    if (stage.start == Start::random_states) return;
    if (stage.start == Start::random_impulses) {
      const double speed = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
      g.for_each(p.first_contact_row(), [&](int i) { start[i] = Scalar(0); });
      g.for_each(p.n_contacts, [&](int k) { draw_block(p, k, stage.seed, speed, start); });
      return;
    }
  }
  g.for_each(p.n, [&](int i) {
    const double scale = stage.seed != 0 ? fraction_of(hashed_bits(i, stage.seed, 0)) : 1.0;
    const Scalar* from = stage.start == Start::best    ? judge.at->best
                         : stage.start == Start::given ? p.warm_start
                                                       : start;
    const bool rests = stage.start == Start::zero || from == nullptr;
    start[i] = rests ? Scalar(0) : Scalar(double(from[i]) * scale) + Scalar(0);
  });
}

/// Problems that do not fit the half-size tableau need `run_general_pyramid`; without memory for
/// it, the impulse stays at its start.
template <class Real, class G, class Scalar>
SS_HD int run_pivoting(const G& g, const EnvProblem<Scalar>& p, const Stage& stage, Arena arena,
                       Judge<Scalar>& judge) {
  if (!fits_pyramid_tableau(p)) return 0;
  Lemke<Real> lemke(arena, p.n);
  return run_lemke(g, p, lemke, stage.attempts, stage.budget, stage.fixed, stage.soften, judge);
}

/// The law `pyramid` with any directions and rows of every kind, as a mixed LCP. In double: with 8
/// directions, a float dictionary left 14 of 1,000 heavy towers of 8 contacts unsolved and 54 of 16
/// contacts (the tests' `stackheavy`), though none of the other five families.
template <class G, class Scalar>
SS_PART int run_general_pyramid(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                                Arena arena, Judge<Scalar>& judge) {
  PyramidScratch<double> scratch(arena, p.n, p.n_contacts, p.directions);
  return run_pyramid(g, p, stage.attempts, stage.budget, stage.soften, scratch, judge);
}

/// Newton steps. `kAlters`: whether contacts may be soft.
template <class Real, class Factor, bool kAlters, class S, class G, class Scalar>
SS_HD int run_newton_stage(const G& g, const EnvProblem<Scalar>& p, const Stage& stage, S& s,
                           Arena arena, Judge<Scalar>& judge) {
  Newton<Real, Factor> newton(arena, p.n);
  newton.at.factor = Real(stage.factor);
  newton.at.inverse = Real(1.0 / stage.factor);
  newton.selects = stage.selects && !judge.selects;
  newton.from_selected = newton.selects && stage.coarse && p.start_selected;
  newton.from_solution = newton.selects && stage.start == Start::best && !newton.from_selected;
  newton.at.steep = kAlters && stage.steep;
  newton.at.sticks = stage.sticks;
  newton.impatient = stage.impatient;
  newton.seed = kAlters && stage.start == Start::random_states ? stage.seed : 0;
  newton.at.friction = facts_of(judge.law).friction;
  const bool alters = stage.sticks || (kAlters && stage.alters());
  const int steps = run_newton(g, p, s, newton, stage.budget, stage.epsilon, alters, judge);
  if (newton.from_solution) restore_problem(g, p, s);
  return steps;
}

/// Whether the selected solution of a large problem is sought from zero impulses too: where that is
/// near, because in a pile it is in vain.
template <class Real, class G>
SS_HD bool selects_from_rest(const G& g, const Scaled<Real>& s) {
  return all_stick_alone(g, s);
}

/// Whether coarse sweeps would lead away from the selected solution, or from one that is near.
template <class Real, class G, class Scalar>
SS_HD bool skips_sweeps(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                        const Scaled<Real>& s, const Judge<Scalar>& judge) {
  if (!stage.coarse) return false;
  return p.start_selected || (!judge.selects && judge.selected && all_stick_alone(g, s));
}

/// A stage of rung 0 except sweeps; in `all`, of the other rungs too.
template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD int run_first_rung(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                         EnvScratch<Real, Factor, Scalar, kVariant>& scratch) {
  Arena arena = scratch.stage;
  Scaled<Real>& s = scratch.as_scaled();
  Judge<Scalar>& judge = scratch.judge;
  if (stage.method == Method::primal) {
    Primal<Real> primal(arena, p.n);
    return run_primal(g, p, s, primal, stage.budget, judge);
  }
  return run_newton_stage<Real, Factor, kVariant == KernelVariant::all>(g, p, stage, s, arena,
                                                                        judge);
}

template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD int run_iterative(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                        EnvScratch<Real, Factor, Scalar, kVariant>& scratch) {
  Arena arena = scratch.stage;
  Scaled<Real>& s = scratch.as_scaled();
  Judge<Scalar>& judge = scratch.judge;
  if (stage.method == Method::pgs) {
    if (skips_sweeps(g, p, stage, s, judge)) return 0;
    Pgs<Real> pgs(arena, p.n);
    return int(run_pgs(g, p, s, pgs, stage.budget, stage.fixed, !stage.coarse, judge));
  }
  if constexpr (EnvScratch<Real, Factor, Scalar, kVariant>::kHas.altered) {
    if (stage.method == Method::interior || stage.method == Method::continuation) {
      return run_interior_stage(g, p, stage, s, arena, judge);
    }
  }
  if constexpr (kVariant == KernelVariant::sweeping) {
    return 0;
  } else if constexpr (kVariant == KernelVariant::later) {
    return run_newton_stage<Real, Real, true>(g, p, stage, s, arena, judge);
  } else {
    if constexpr (kVariant == KernelVariant::all && sizeof(Factor) != sizeof(Real)) {
      if (stage.rung > 0) return run_newton_stage<Real, Real, true>(g, p, stage, s, arena, judge);
    }
    return run_first_rung(g, p, stage, scratch);
  }
}

template <class Real, class Factor, class G, class Scalar, KernelVariant kVariant>
SS_HD int run_stage(const G& g, const EnvProblem<Scalar>& p, const Stage& stage,
                    EnvScratch<Real, Factor, Scalar, kVariant>& scratch) {
  assert(variant_has(kVariant, stage));  // otherwise it would be skipped silently
  using Scratch = EnvScratch<Real, Factor, Scalar, kVariant>;
  if constexpr (Scratch::kHas.proof) {
    if (stage.method == Method::farkas) {
      if (kVariant == KernelVariant::pivoting && !fits_pyramid_tableau(p)) return 0;
      Arena arena = scratch.stage;
      return run_farkas(g, p, Farkas(arena, p.n), stage.budget, scratch.judge);
    }
  }
  place_start<Scratch::kHas.altered>(g, p, stage, scratch.judge);
  if constexpr (Scratch::kHas.lcp) {
    if (stage.method == Method::lemke && !fits_pyramid_tableau(p) &&
        scratch.directions >= p.directions) {
      return run_general_pyramid(g, p, stage, scratch.stage, scratch.judge);
    }
  }
  if constexpr (Scratch::kHas.tableau) {
    if (stage.method == Method::lemke) {
      if constexpr (sizeof(Factor) != sizeof(Real)) {
        if (!stage.coarse) return run_pivoting<Real>(g, p, stage, scratch.stage, scratch.judge);
      }
      return run_pivoting<Factor>(g, p, stage, scratch.stage, scratch.judge);
    }
  }
  if constexpr (Scratch::kIterates) {
    if constexpr (Scratch::kHas.altered) {
      if (stage.soften > 0.0) soften_contacts(g, p, scratch.as_scaled(), Real(stage.soften));
    }
    const int done = run_iterative(g, p, stage, scratch);
    if constexpr (Scratch::kHas.altered) {
      if (stage.alters()) restore_problem(g, p, scratch.as_scaled());
    }
    return done;
  }
  return 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
