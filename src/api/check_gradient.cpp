#include "kernels/law/dispatch.hpp"
#include "src/api/check.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

namespace {

/// What every derivative needs.
template <class Scalar>
void check_solution(const ProblemBatch<Scalar>& p, const SolutionBatch<Scalar>& solution,
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

template <class Scalar>
void check_gradient(const ProblemBatch<Scalar>& p, const SolutionBatch<Scalar>& solution,
                    const GradientBatch<Scalar>& gradient, const SolveOptions& o, MatrixOf matrix) {
  check_solution(p, solution, gradient.report, o, matrix);
  if (p.num_envs > 0 && p.max_rows > 0) require_array(gradient.b, "gradient.b");
  require(gradient.ld_W == 0 || gradient.ld_W >= p.max_rows, "gradient.ld_W",
          "0 or at least max_rows", gradient.ld_W);
}

template <class Scalar>
void check_change(const ProblemBatch<Scalar>& p, const SolutionBatch<Scalar>& solution,
                  const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& result,
                  const SolveOptions& o, MatrixOf matrix) {
  check_solution(p, solution, result.report, o, matrix);
  require(change.ld_W == 0 || change.ld_W >= p.max_rows, "change.ld_W", "0 or at least max_rows",
          change.ld_W);
}

template <class Scalar>
void check_step_gradient(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& p,
                         const SolutionBatch<Scalar>& solution,
                         const StepGradient<Scalar>& gradient, const SolveOptions& o) {
  check_gradient(p, solution, gradient.contacts, o, MatrixOf::mechanism);
  check_mechanism_of(step.mechanism, p);
  if (p.num_envs > 0 && step.mechanism.nv > 0) require_array(step.v_free, "v_free");
}

#define SS_INSTANTIATE(Scalar)                                                                 \
  template void check_gradient(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,      \
                               const GradientBatch<Scalar>&, const SolveOptions&, MatrixOf);   \
  template void check_change(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,        \
                             const ChangeBatch<Scalar>&, const SolutionChange<Scalar>&,        \
                             const SolveOptions&, MatrixOf);                                   \
  template void check_step_gradient(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&, \
                                    const SolutionBatch<Scalar>&, const StepGradient<Scalar>&, \
                                    const SolveOptions&);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip
