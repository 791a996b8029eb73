// Derivatives of one environment, from its slot in the batch to its report.
#pragma once
#include "kernels/delassus/delassus.hpp"
#include "kernels/delassus/matrix_source.hpp"
#include "kernels/gradient/step.hpp"
#include "kernels/gradient/tangent.hpp"
#include "kernels/residual/tolerance.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Memory of one environment. The linear algebra is in double for data of any type: in float, a
/// singular system cannot be told from a regular one.
template <class Scalar>
struct GradientEnv {
  Scalar* W;  ///< [max_rows][max_rows] of a mechanism; null if the caller has formed it
  int ld_W;
  ViewScratch<Scalar> view;
  EnvProblem<Scalar>* problem;
  Scaled<double> scaled;
  GradientScratch work;
  StepScratch<Scalar> step;

  /// `nv` of mechanisms, negative if W is given.
  SS_HD GradientEnv(Arena arena, int max_rows, int max_contacts, int nv)
      : W(nv < 0 ? nullptr : arena.take<Scalar>(std::size_t(max_rows) * max_rows)),
        ld_W(max_rows),
        view(arena, max_rows, max_contacts),
        problem(arena.take<EnvProblem<Scalar>>(1)),
        scaled(arena, max_rows, max_contacts),
        work(arena, max_rows),
        step(arena, max(nv, 0), nv < 0 ? 0 : max_rows) {}
  SS_HD static std::size_t bytes(int max_rows, int max_contacts, int nv) {
    return GradientEnv(Arena(nullptr), max_rows, max_contacts, nv).step.end();
  }
};

/// The same in the form that a launch plan calls.
template <class Scalar>
std::size_t gradient_bytes(int max_rows, int max_contacts, int, MatrixKind matrix) {
  return GradientEnv<Scalar>::bytes(max_rows, max_contacts, matrix.nv);
}

/// Opens and scales the environment. False if there is nothing to differentiate.
template <class G, class Scalar>
SS_HD bool open_solution(const G& g, const ProblemBatch<Scalar>& batch,
                         const MechanismStep<Scalar>& step, const SolutionBatch<Scalar>& solution,
                         const SolveOptions& o, std::int64_t env, GradientEnv<Scalar>& e) {
  EnvProblem<Scalar> view{};
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
  const Scalar* r = slot(solution.impulse, env);
  if (!check_values(g, view, law.needs_symmetric_W) ||
      g.any(view.n, [&](int i) { return !is_finite(r[i]); })) {
    return false;
  }
  g.once([&] { *e.problem = view; });
  const EnvProblem<Scalar>& p = *e.problem;
  enter_circular_coordinates(g, p, law.is_frictionless, e.view);
  scale_and_select(g, p, o.law, e.scaled);
  return true;
}

/// Copies an array of the loss in double; absent: 0. False if a number is not finite.
template <class G, class Scalar>
SS_HD bool load(const G& g, int n, const Scalar* given, double* loaded) {
  g.for_each(n, [&](int i) { loaded[i] = given == nullptr ? 0.0 : double(given[i]); });
  return given == nullptr || !g.any(n, [&](int i) { return !is_finite(loaded[i]); });
}

inline constexpr double kKinkTolerances = 10.0;  ///< below, a state is about to change

/// `inconsistency` above which the solution is not unique. Singular systems of data in float are so
/// only up to the rounding of the data.
template <class Scalar>
inline constexpr double kMostInconsistency = sizeof(Scalar) == 8 ? 1e-9 : 1e-6;

/// The velocity below which a state is about to change, m/s.
template <class G, class Scalar>
SS_HD double kink_limit(const G& g, const EnvProblem<Scalar>& p, const SolveOptions& o) {
  const double b_max = g.max(p.n, [&](int i) { return abs(double(p.b[i])); });
  return kKinkTolerances * tolerance_of(o.atol, o.rtol, o.precision, b_max);
}

/// The verdict on derivatives; `usable`: whether the problem is solved and all input finite. An
/// error of the velocities is one of up to 1 / pivot times as much in the rows that a nearly
/// singular system moves, so `near` grows as the pivot falls.
template <class Scalar, class G>
SS_HD void report_gradient(const G& g, const GradientReport& out, std::int64_t env, bool usable,
                           double near, double margin, const Solvability& found) {
  const bool redundant = !(found.pivot > 0.0);
  GradientStatus status = GradientStatus::unsolved;
  if (usable) {
    const double firm = redundant ? 1.0 : min(found.pivot / kFirmPivot, 1.0);
    const double limit = near / firm;
    status = margin <= limit ? GradientStatus::kink : GradientStatus::valid;
    if (!(found.inconsistency <= kMostInconsistency<Scalar>)) status = GradientStatus::not_unique;
  }
  g.once([&] {
    out.status[env] = status;
    out.kink_distance[env] = usable ? margin : 0.0;
    out.inconsistency[env] = usable ? found.inconsistency : 1.0;
    if (out.redundant != nullptr) out.redundant[env] = usable && redundant ? 1 : 0;
  });
}

/// Zeros in the derivatives by b: those of rows that the environment does not have remain.
template <class G, class Scalar>
SS_HD void clear_b(const G& g, const GradientBatch<Scalar>& out, std::int64_t env, int max_rows) {
  Scalar* b = slot(out.b, env);
  g.for_each(max_rows, [&](int i) { b[i] = Scalar(0); });
}

/// Zeros in every other array of an environment without derivatives.
template <class G, class Scalar>
SS_HD void clear_gradient(const G& g, const EnvProblem<Scalar>& p, int nv, int max_rows,
                          const StepGradient<Scalar>& out, std::int64_t env) {
  const auto clear = [&](const EnvArray<Scalar>& array, int count) {
    Scalar* values = slot(array, env);
    if (values != nullptr) g.for_each(count, [&](int i) { values[i] = Scalar(0); });
  };
  const GradientBatch<Scalar>& to = out.contacts;
  clear(to.R, p.n);
  clear(to.mu, p.n - p.first_contact_row() - p.n_contacts);
  clear(to.lo, p.n_box);
  clear(to.hi, p.n_box);
  clear(out.adjoint, nv);
  clear(out.v_free, nv);
  clear(out.M, nv * nv);
  clear(out.J, p.n * nv);
  Scalar* W = slot(to.W, env);
  const int ld = to.ld_W > 0 ? to.ld_W : max_rows;
  if (W == nullptr) return;
  g.for_each_2d(p.n, p.n, [&](int i, int j) { W[std::int64_t(i) * ld + j] = Scalar(0); });
}

/// Zeros, as far as the counts tell where, for an environment that is not solved.
template <class G, class Scalar>
SS_HD void refuse_gradient(const G& g, const ProblemBatch<Scalar>& batch, int nv,
                           const StepGradient<Scalar>& out, std::int64_t env,
                           const ViewScratch<Scalar>& scratch) {
  EnvProblem<Scalar> p{};
  int rows = 0;
  if (open_problem(g, batch, env, scratch, p, rows) == EnvStatus::solved) {
    clear_gradient(g, p, nv, batch.max_rows, out, env);
  }
  report_gradient<Scalar>(g, out.contacts.report, env, false, 0.0, 0.0, {});
}

/// The derivatives of a problem that is opened and scaled, and, if `is_step`, of the step that it
/// belongs to.
template <class G, class Scalar, class S>
SS_HD void differentiate_solved(const G& g, const EnvProblem<Scalar>& p, const S& s,
                                const Scalar* r, const MechanismStep<Scalar>& step,
                                const StepLoss<Scalar>& loss, const StepGradient<Scalar>& out,
                                const SolveOptions& o, std::int64_t env, int max_rows,
                                const GradientScratch& w, bool is_step,
                                const StepScratch<Scalar>& through) {
  const double near = kink_limit(g, p, o);
  scale_solution(g, s, r, w.rows);
  const double margin = differentiate_rows(g, p, s, r, near, w.rows);
  const LossBatch<Scalar>& contacts = loss.contacts;
  const bool usable =
      load(g, p.n, slot(contacts.impulse, env), w.g_r) &&
      load(g, p.n, slot(contacts.velocity, env), w.g_u) &&
      (!is_step || add_velocity_loss(g, p.n, step, loss.v_next, env, through, w.g_r));
  const Solvability found =
      usable ? solve_adjoint(g, p, s, contacts.velocity.data != nullptr, w) : Solvability{};
  if (found.inconsistency < 1.0) {
    const bool by_bounds = out.contacts.lo.data != nullptr || out.contacts.hi.data != nullptr;
    if (by_bounds) multiply_rows_transposed(g, p, s, w.g_r, w.beta, w.f);
    write_gradient(g, p, s, w, r, out.contacts, env, max_rows);
    if (is_step) write_step_gradient(g, p.n, step, r, loss, out, env, through, w.beta);
  } else {
    clear_gradient(g, p, step.mechanism.nv, max_rows, out, env);
  }
  report_gradient<Scalar>(g, out.contacts.report, env, usable, near, margin, found);
}

/// solve_vjp and step_vjp of environment `env`.
template <IsGroup G, class Scalar>
SS_HD void vjp_env(const G& g, const ProblemBatch<Scalar>& batch, const MechanismStep<Scalar>& step,
                   const SolutionBatch<Scalar>& solution, const StepLoss<Scalar>& loss,
                   const StepGradient<Scalar>& out, const SolveOptions& o, std::int64_t env,
                   GradientEnv<Scalar>& e) {
  clear_b(g, out.contacts, env, batch.max_rows);
  if (open_solution(g, batch, step, solution, o, env, e)) {
    differentiate_solved(g, *e.problem, e.scaled, slot(solution.impulse, env), step, loss, out, o,
                         env, batch.max_rows, e.work, e.W != nullptr, e.step);
  } else {
    refuse_gradient(g, batch, step.mechanism.nv, out, env, e.view);
  }
}

/// Whether the numbers of a change that not every solution uses are finite.
template <class G, class Scalar>
SS_HD bool change_is_finite(const G& g, const EnvProblem<Scalar>& p,
                            const ChangeBatch<Scalar>& change, std::int64_t env) {
  const auto finite = [&](const EnvArray<const Scalar>& array, int count) {
    const Scalar* given = slot(array, env);
    return given == nullptr || !g.any(count, [&](int i) { return !is_finite(given[i]); });
  };
  return finite(change.mu, p.n - p.first_contact_row() - p.n_contacts) &&
         finite(change.lo, p.n_box) && finite(change.hi, p.n_box);
}

/// The change of the solution of a problem that is `opened` and scaled, else zeros.
template <class G, class Scalar, class S>
SS_HD void change_solved(const G& g, bool opened, const EnvProblem<Scalar>& p, const S& s,
                         const Scalar* r, const ChangeBatch<Scalar>& change,
                         const SolutionChange<Scalar>& out, const SolveOptions& o, std::int64_t env,
                         int max_rows, const GradientScratch& w) {
  const ProblemChange<Scalar> moved(change, env, max_rows);
  double near = 0.0, margin = 0.0;
  Solvability found;
  bool usable = opened;
  if (usable) {
    near = kink_limit(g, p, o);
    scale_solution(g, s, r, w.rows);
    margin = differentiate_rows(g, p, s, r, near, w.rows);
    gather_change(g, p, s, r, moved, w);
    move_rows(g, p, s, moved.mu, w);
    usable = change_is_finite(g, p, change, env) && !g.any(p.n, [&](int i) {
      return !(is_finite(w.g_r[i]) && is_finite(w.g_u[i]) && is_finite(w.Ax[i]) &&
               is_finite(w.Bx[i]));
    });
    if (usable) found = solve_tangent(g, p, s, moved, w);
  }
  Scalar *impulse = slot(out.impulse, env), *velocity = slot(out.velocity, env);
  const int n = found.inconsistency < 1.0 ? p.n : 0;
  g.for_each(max_rows, [&](int i) {
    if (impulse != nullptr) impulse[i] = i < n ? narrowed<Scalar>(w.beta[i]) : Scalar(0);
    if (velocity != nullptr) velocity[i] = i < n ? narrowed<Scalar>(w.f[i]) : Scalar(0);
  });
  const bool shares_matter = impulse != nullptr && !out.for_motion;
  if (shares_matter && !(found.strayed <= kMostStrayed)) {
    found.inconsistency = max(found.inconsistency, found.strayed);
  }
  report_gradient<Scalar>(g, out.report, env, usable, near, margin, found);
}

/// solve_jvp of environment `env`.
template <IsGroup G, class Scalar>
SS_HD void jvp_env(const G& g, const ProblemBatch<Scalar>& batch,
                   const SolutionBatch<Scalar>& solution, const ChangeBatch<Scalar>& change,
                   const SolutionChange<Scalar>& out, const SolveOptions& o, std::int64_t env,
                   GradientEnv<Scalar>& e) {
  const bool opened = open_solution(g, batch, {}, solution, o, env, e);
  change_solved(g, opened, *e.problem, e.scaled, slot(solution.impulse, env), change, out, o, env,
                batch.max_rows, e.work);
}

}  // namespace stickslip::kernels::inline SS_ISA
