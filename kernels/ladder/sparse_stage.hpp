// One stage of the ladder without W, for a mechanism in sparse form. Only proofs form it, and the
// law `convex` has Newton's method alone.
#pragma once
#include "kernels/ladder/run_stage.hpp"
#include "kernels/solver/interior/sparse_path.hpp"
#include "kernels/solver/newton/block_direction.hpp"
#include "kernels/solver/pgs/sparse_pgs.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Multiplications of a sweep and a step: each visits every row a few times.
SS_HD Work work_of(const SparseScaled& s) {
  const double linear = 40.0 * s.n;
  return {linear, 10.0 * linear + double(s.lu.pattern.counts->multiplications)};
}

/// Whether the stages are those of problems with W: of a robot or a few bodies, which is no pile.
SS_HD bool is_robot(const SparseScaled& s) {
  return s.size_of(s.n) <= (s.scalars > 0 ? kUndividedRows : kDenseRowsOfBodies);
}

/// The stage as piles need it: there Newton's method either gets nearer soon or not at all, and
/// velocities identify the states better than impulses.
SS_HD Stage adapted(Stage stage, const SparseScaled& s, bool solved) {
  constexpr int kCoarseSweeps = 30;  // in the time of a few steps
  if (is_robot(s)) return stage;
  if (stage.method == Method::pgs && stage.coarse) stage.budget = kCoarseSweeps;
  if (stage.method != Method::newton) return stage;
  stage.impatient = true;
  if (stage.selects && !solved) stage.factor = min(stage.factor, 0.1);
  return stage;
}

inline constexpr int kManyRows = 3, kPackedRows = 6;  // of each degree of freedom

/// Whether there are many more rows than degrees of freedom, as where boxes are packed: then the
/// states of Newton's method toggle, and the interior point takes few steps. Smaller problems have
/// no memory for that.
SS_HD bool is_packed(const SparseScaled& s, Law law) {
  const bool many = s.n > kFewRows && s.n > kPackedRows * s.m.tree.n;
  return many && !is_robot(s) && facts_of(law).has_central_path;
}

/// As for a problem with W; also where many solutions differ much, as in a wall of bricks, but are
/// not packed.
template <class G>
SS_HD bool selects_from_rest(const G& g, const SparseScaled& s) {
  const int dofs = s.m.tree.n;
  return (s.n > kManyRows * dofs && s.n <= kPackedRows * dofs) || all_stick_alone(g, s);
}

/// Sweeps; coarse ones only if Newton's method does not find a solution near a warm start, which
/// sweeps would leave. Where contacts are packed, the interior point instead of these: the method
/// of the climb's stage is then the one that ran last. Returns the sweeps and steps.
template <class G>
SS_HD int run_sweeps(const G& g, const EnvProblem<double>& p, const Stage& stage,
                     VelocityScratch& scratch) {
  SparseScaled& s = scratch.scaled;
  Judge<double>& judge = scratch.judge;
  const bool packed = stage.coarse && is_packed(s, judge.law);
  int steps = 0;
  // From rest, Newton's method may select a solution; the interior point finds any.
  if (skips_sweeps(g, p, stage, s, judge) || (packed && !starts_warm(g, p))) return 0;
  if (stage.coarse && starts_warm(g, p) && !is_robot(s)) {
    Stage near{.method = Method::newton, .budget = packed ? 10 : 30, .factor = 0.1};
    near.impatient = true;
    steps = run_newton_stage<double, double, true>(g, p, near, s, scratch.stage, judge);
    if (judge.solved()) {
      g.once([&] { scratch.climb->stage.method = near.method; });
      return steps;
    }
    near.start = Start::best;
    place_start<false>(g, p, near, judge);
  }
  if (packed) {
    Stage path{.method = Method::interior, .budget = 30, .start = Start::best, .distance = 0.1};
    g.once([&] { scratch.climb->stage.method = path.method; });
    return steps + run_interior_stage(g, p, path, s, scratch.stage, judge);
  }
  Arena arena = scratch.stage;
  SparsePgs pgs(arena, s);
  return steps + int(run_pgs(g, p, s, pgs, stage.budget, stage.fixed, !stage.coarse, judge));
}

/// The proof that there is no solution, with W; not where an impulse is near one.
template <class G>
SS_HD int run_proof(const G& g, const EnvProblem<double>& p, const Stage& stage,
                    VelocityScratch& scratch) {
  const int n = p.n;
  Judge<double>& judge = scratch.judge;
  const double b_max = g.max(n, [&](int i) { return abs(p.b[i]); });
  if (judge.best_residual <= kFar * b_max) return 0;
  form_delassus(g, scratch.scaled.m, scratch.W, n, scratch.tree);
  Arena arena = scratch.stage;
  EnvProblem<double>& with_W = *arena.take<EnvProblem<double>>(1);  // many pointers: in memory
  g.once([&] {
    with_W = p;
    with_W.W = scratch.W;
    with_W.ld_W = n;
  });
  return run_farkas(g, with_W, Farkas(arena, n), stage.budget, judge);
}

template <class G>
SS_HD int run_stage(const G& g, const EnvProblem<double>& p, const Stage& given,
                    VelocityScratch& scratch) {
  if (given.method == Method::farkas) return run_proof(g, p, given, scratch);
  SparseScaled& s = scratch.scaled;
  Judge<double>& judge = scratch.judge;
  const Stage stage = adapted(given, s, judge.solved());
  place_start<true>(g, p, stage, judge);
  if (stage.soften > 0.0) soften_contacts(g, p, s, stage.soften);
  int done = 0;
  if (stage.method == Method::pgs) {
    done = run_sweeps(g, p, stage, scratch);
  } else if (stage.method == Method::newton) {
    done = run_newton_stage<double, double, true>(g, p, stage, s, scratch.stage, judge);
  } else if (stage.method == Method::interior || stage.method == Method::continuation) {
    done = run_interior_stage(g, p, stage, s, scratch.stage, judge);
  }
  if (stage.alters()) restore_problem(g, p, s);
  return done;
}

}  // namespace stickslip::kernels::inline SS_ISA
