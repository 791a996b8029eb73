// Derivatives of one environment, from its slot in the batch to its report.
#pragma once
#include "kernels/delassus/delassus.hpp"
#include "kernels/gradient/step.hpp"
#include "kernels/gradient/tangent.hpp"
#include "kernels/residual/tolerance.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Memory of one environment. The linear algebra is in double for data of any type: in float, a
/// singular system cannot be told from a regular one.
template <class In>
struct GradientEnv {
  In* W;  ///< [max_rows][max_rows] of a mechanism; null if the caller has formed it
  int ld_W;
  ViewScratch<In> view;
  EnvProblem<In>* problem;
  Scaled<double> scaled;
  GradientScratch work;
  StepScratch<In> step;

  /// `nv` of mechanisms, negative if W is given.
  SS_HD GradientEnv(Arena arena, int max_rows, int max_contacts, int nv)
      : W(nv < 0 ? nullptr : arena.take<In>(std::size_t(max_rows) * max_rows)),
        ld_W(max_rows),
        view(arena, max_rows, max_contacts),
        problem(arena.take<EnvProblem<In>>(1)),
        scaled(arena, max_rows, max_contacts),
        work(arena, max_rows),
        step(arena, max(nv, 0), nv < 0 ? 0 : max_rows) {}
  SS_HD static std::size_t bytes(int max_rows, int max_contacts, int nv) {
    return GradientEnv(Arena(nullptr), max_rows, max_contacts, nv).step.end();
  }
};

/// Opens and scales the environment and linearises its rows; r is its impulse. False if there is
/// nothing to differentiate. `tolerance` gets that of the solve.
template <class G, class In>
SS_HD bool open_solution(const G& g, const ProblemBatch<In>& batch, const MechanismStep<In>& step,
                         const SolutionBatch<In>& solution, const SolveOptions& o, std::int64_t env,
                         GradientEnv<In>& e, double& tolerance, double& margin) {
  EnvProblem<In> view{};
  int rows_needed = 0;
  const LawFacts law = facts_of(o.law);
  if (solution.status[env] != EnvStatus::solved ||
      open_problem(g, batch, env, e.view, view, rows_needed) != EnvStatus::solved) {
    return false;
  }
  view.directions = o.directions;
  if (e.W != nullptr) {
    view.W = e.W;
    view.ld_W = e.ld_W;
    if (!form_matrix(g, view_of(step.mechanism, env), view.n, e.step.delassus, e.W, e.ld_W)) {
      return false;
    }
  }
  const In* r = slot(solution.impulse, env);
  if (!check_values(g, view, law.needs_symmetric_W) ||
      g.any(view.n, [&](int i) { return !is_finite(r[i]); })) {
    return false;
  }
  g.once([&] { *e.problem = view; });
  const EnvProblem<In>& p = *e.problem;
  enter_circular_coordinates(g, p, law.is_frictionless, e.view);
  scale_problem(g, p, o.law, e.scaled);
  const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
  tolerance = tolerance_of(o.atol, o.rtol, o.precision, b_max);
  margin = differentiate_rows(g, p, e.scaled, r, e.work.rows);
  return true;
}

/// Copies an array of the loss in double; absent: 0. False if a number is not finite.
template <class G, class In>
SS_HD bool load(const G& g, int n, const In* given, double* loaded) {
  g.for_each(n, [&](int i) { loaded[i] = given == nullptr ? 0.0 : double(given[i]); });
  return !g.any(n, [&](int i) { return !is_finite(loaded[i]); });
}

template <class G>
SS_HD void report_gradient(const G& g, const GradientReport& out, std::int64_t env,
                           GradientStatus status, double margin, double lost) {
  g.once([&] {
    out.status[env] = status;
    out.margin[env] = margin;
    out.lost[env] = lost;
  });
}

inline constexpr double kMostLost = 1e-6;        ///< above, the solution is not unique
inline constexpr double kKinkTolerances = 10.0;  ///< below, a state is about to change

SS_HD GradientStatus verdict_of(double margin, double tolerance, double lost) {
  if (!(lost <= kMostLost)) return GradientStatus::not_unique;
  return margin < kKinkTolerances * tolerance ? GradientStatus::kink : GradientStatus::valid;
}

/// Zeros in every array of an environment without derivatives, as far as its shape tells.
template <class G, class In>
SS_HD void clear_gradient(const G& g, const ProblemBatch<In>& batch, int nv,
                          const StepGradient<In>& out, std::int64_t env, GradientEnv<In>& e) {
  EnvProblem<In> p{};
  int rows = 0;
  const bool usable = open_problem(g, batch, env, e.view, p, rows) == EnvStatus::solved;
  if (e.W != nullptr) clear_step_gradient(g, usable ? p.n : 0, nv, out, env);
  if (!usable) return;
  const GradientBatch<In>& to = out.contacts;
  const auto clear = [&](In* array, int count) {
    if (array != nullptr) g.for_each(count, [&](int i) { array[i] = In(0); });
  };
  clear(slot(to.b, env), p.n);
  clear(slot(to.R, env), p.n);
  clear(slot(to.mu, env), p.n - p.first_contact_row() - p.n_contacts);
  clear(slot(to.lo, env), p.n_box);
  clear(slot(to.hi, env), p.n_box);
  In* W = slot(to.W, env);
  const int ld = to.ld_W > 0 ? to.ld_W : batch.max_rows;
  if (W == nullptr) return;
  g.for_each_2d(p.n, p.n, [&](int i, int j) { W[std::int64_t(i) * ld + j] = In(0); });
}

/// solve_vjp and step_vjp of environment `env`.
template <IsGroup G, class In>
SS_HD void vjp_env(const G& g, const ProblemBatch<In>& batch, const MechanismStep<In>& step,
                   const SolutionBatch<In>& solution, const StepLoss<In>& loss,
                   const StepGradient<In>& out, const SolveOptions& o, std::int64_t env,
                   GradientEnv<In>& e) {
  const GradientScratch& w = e.work;
  const In* r = slot(solution.impulse, env);
  In* b = slot(out.contacts.b, env);
  g.for_each(batch.max_rows, [&](int i) { b[i] = In(0); });
  double tolerance = 0.0, margin = 0.0, lost = 1.0;
  const bool is_step = e.W != nullptr;
  const bool good =
      open_solution(g, batch, step, solution, o, env, e, tolerance, margin) &&
      load(g, e.problem->n, slot(loss.contacts.impulse, env), w.g_r) &&
      load(g, e.problem->n, slot(loss.contacts.velocity, env), w.g_u) &&
      (!is_step || add_velocity_loss(g, e.problem->n, step, loss.v_next, env, e.step, w.g_r));
  if (good) lost = solve_adjoint(g, *e.problem, e.scaled, w);
  if (lost < 1.0) {
    write_gradient(g, *e.problem, e.scaled, w, r, out.contacts, env, batch.max_rows);
    if (is_step) {
      write_step_gradient(g, e.problem->n, step, r, loss, out, env, e.step, w.beta);
    }
  } else {
    clear_gradient(g, batch, step.mechanism.nv, out, env, e);
  }
  report_gradient(g, out.contacts.report, env,
                  good ? verdict_of(margin, tolerance, lost) : GradientStatus::unsolved,
                  good ? margin : 0.0, lost);
}

/// solve_jvp of environment `env`.
template <IsGroup G, class In>
SS_HD void jvp_env(const G& g, const ProblemBatch<In>& batch, const SolutionBatch<In>& solution,
                   const ChangeBatch<In>& change, const SolutionChange<In>& out,
                   const SolveOptions& o, std::int64_t env, GradientEnv<In>& e) {
  const GradientScratch& w = e.work;
  double tolerance = 0.0, margin = 0.0, lost = 1.0;
  bool good = open_solution(g, batch, {}, solution, o, env, e, tolerance, margin);
  if (good) {
    const EnvProblem<In>& p = *e.problem;
    gather_change(g, p, e.scaled, slot(solution.impulse, env), change, env, batch.max_rows, w);
    move_rows(g, p, e.scaled, slot(change.mu, env), w);
    good = !g.any(p.n, [&](int i) {
      return !(is_finite(w.g_r[i]) && is_finite(w.g_u[i]) && is_finite(w.Ax[i]) &&
               is_finite(w.Bx[i]));
    });
    if (good) lost = solve_tangent(g, p, e.scaled, w);
  }
  In *impulse = slot(out.impulse, env), *velocity = slot(out.velocity, env);
  const int n = lost < 1.0 ? e.problem->n : 0;
  g.for_each(batch.max_rows, [&](int i) {
    if (impulse != nullptr) impulse[i] = i < n ? In(w.beta[i]) : In(0);
    if (velocity != nullptr) velocity[i] = i < n ? In(w.f[i]) : In(0);
  });
  report_gradient(g, out.report, env,
                  good ? verdict_of(margin, tolerance, lost) : GradientStatus::unsolved,
                  good ? margin : 0.0, lost);
}

}  // namespace stickslip::kernels::inline SS_ISA
