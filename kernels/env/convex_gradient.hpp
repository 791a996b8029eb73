// The derivatives of one environment of law `convex` that was solved for velocities, without W.
#pragma once
#include "kernels/env/convex_env.hpp"
#include "kernels/env/gradient_env.hpp"
#include "kernels/gradient/velocity_adjoint.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct ConvexGradientScratch {
  ConvexScratch convex;
  GradientScratch work;  ///< without the linear system of W

  SS_HD ConvexGradientScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : convex(arena, nv, max_rows, max_contacts), work(arena, max_rows, 0) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    ConvexGradientScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

/// solve_vjp of environment 0, whose mechanism is m. False, with nothing written, if a row has no
/// compliance.
template <IsGroup G>
SS_HD bool vjp_convex(const G& g, const ProblemBatch<double>& batch,
                      const SparseMechanism& mechanism, const SolutionBatch<double>& solution,
                      const LossBatch<double>& loss, const GradientBatch<double>& out,
                      const SolveOptions& o, ConvexGradientScratch& scratch) {
  ConvexScratch& c = scratch.convex;
  const GradientScratch& w = scratch.work;
  const double* r = slot(solution.impulse, 0);
  SparseMechanism m;
  EnvProblem<double> p{};
  int rows = 0;
  const auto given = [&](int, SparseMechanism& its) {
    its = mechanism;
    return true;
  };
  if (solution.status[0] != EnvStatus::solved ||
      open_without_W(g, batch, 0, given, c, m, p, rows) != EnvStatus::solved ||
      g.any(p.n, [&](int i) { return !is_finite(r[i]); })) {
    clear_b(g, out, 0, batch.max_rows);
    refuse_gradient(g, batch, 0, {out, {}, {}, {}, {}}, 0, c.view);
    return true;
  }
  enter_circular_coordinates(g, p, facts_of(o.law).is_frictionless, c.view);
  const Scaled<double>& s = c.scaled;
  scale_vectors(g, p, o.law, c.scaled);
  if (!prepare_penalty(g, s, c.newton.penalty)) return false;
  clear_b(g, out, 0, batch.max_rows);
  scale_impulse(g, s, r, w.rows.z);
  const SparseVelocity velocity{p, m, c.change, c.left, c.partial, c.spread};
  velocity(g, r, w.rows.u);
  g.for_each(p.n, [&](int i) { w.rows.u[i] *= s.d[i] * s.q; });
  const double near = kink_limit(g, p, o), margin = differentiate_rows(g, p, s, r, near, w.rows);
  const bool usable =
      load(g, p.n, slot(loss.impulse, 0), w.g_r) && load(g, p.n, slot(loss.velocity, 0), w.g_u);
  Solvability found;
  if (usable) {
    found = solve_velocity_adjoint(g, p, m, s, c.newton.penalty, c.newton.hessian, c.newton.x, w);
  }
  if (found.inconsistency < 1.0) {
    write_gradient(g, p, s, w, r, out, 0, batch.max_rows);
  } else {
    clear_gradient(g, p, 0, batch.max_rows, {out, {}, {}, {}, {}}, 0);
  }
  report_gradient<double>(g, out.report, 0, usable, near, margin, found);
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
