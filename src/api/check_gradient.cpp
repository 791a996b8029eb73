#include "kernels/law/dispatch.hpp"
#include "src/api/check.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

namespace {

/// What every derivative needs.
template <class In>
void check_solution(const ProblemBatch<In>& p, const SolutionBatch<In>& solution,
                    const GradientReport& report, const SolveOptions& o, MatrixOf matrix) {
  check_problem(p, matrix);
  check_options(o);
  const bool known =
      kernels::with_law(o.law, [](auto its) { return kernels::has_derivative<decltype(its)>; });
  require(known, "options.law", "a law with derivatives", name(o.law));
  if (p.num_envs == 0) return;
  if (p.max_rows > 0) require_array(solution.impulse, "solution.impulse");
  require(solution.status != nullptr, "solution.status", "an array", "none");
  require(report.status != nullptr, "report.status", "an array", "none");
  require(report.kink_distance != nullptr, "report.kink_distance", "an array", "none");
  require(report.inconsistency != nullptr, "report.inconsistency", "an array", "none");
}

}  // namespace

template <class In>
void check_gradient(const ProblemBatch<In>& p, const SolutionBatch<In>& solution,
                    const GradientBatch<In>& gradient, const SolveOptions& o, MatrixOf matrix) {
  check_solution(p, solution, gradient.report, o, matrix);
  if (p.num_envs > 0 && p.max_rows > 0) require_array(gradient.b, "gradient.b");
  require(gradient.ld_W == 0 || gradient.ld_W >= p.max_rows, "gradient.ld_W",
          "0 or at least max_rows", gradient.ld_W);
}

template <class In>
void check_change(const ProblemBatch<In>& p, const SolutionBatch<In>& solution,
                  const ChangeBatch<In>& change, const SolutionChange<In>& result,
                  const SolveOptions& o) {
  check_solution(p, solution, result.report, o, MatrixOf::problem);
  require(change.ld_W == 0 || change.ld_W >= p.max_rows, "change.ld_W", "0 or at least max_rows",
          change.ld_W);
}

template <class In>
void check_step_gradient(const MechanismStep<In>& step, const ProblemBatch<In>& p,
                         const SolutionBatch<In>& solution, const StepGradient<In>& gradient,
                         const SolveOptions& o) {
  check_gradient(p, solution, gradient.contacts, o, MatrixOf::mechanism);
  check_mechanism_of(step.mechanism, p);
  if (p.num_envs > 0 && step.mechanism.nv > 0) require_array(step.v_free, "v_free");
}

#define SS_INSTANTIATE(In)                                                               \
  template void check_gradient(const ProblemBatch<In>&, const SolutionBatch<In>&,        \
                               const GradientBatch<In>&, const SolveOptions&, MatrixOf); \
  template void check_change(const ProblemBatch<In>&, const SolutionBatch<In>&,          \
                             const ChangeBatch<In>&, const SolutionChange<In>&,          \
                             const SolveOptions&);                                       \
  template void check_step_gradient(const MechanismStep<In>&, const ProblemBatch<In>&,   \
                                    const SolutionBatch<In>&, const StepGradient<In>&,   \
                                    const SolveOptions&);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip
