// Enqueues derivatives. Nothing here allocates, waits, or reads results of the device.
#include "src/cuda/enqueue.hpp"

namespace stickslip::cuda {

namespace {

template <class Scalar>
const GradientPlans<Scalar>& plans_of(const ProblemBatch<Scalar>& problem, int nv,
                                      const Workspace::Impl& w) {
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  require(w.config.gradients, "workspace.gradients", "true for derivatives", "false");
  check_nv(nv, w);
  return std::get<GradientPlans<Scalar>>(w.gradients);
}

}  // namespace

template <class Scalar>
void solve_vjp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const LossBatch<Scalar>& loss, const GradientBatch<Scalar>& gradient,
               const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_gradient(problem, solution, gradient, options);
  const Workspace::Impl& w = impl_of(workspace);
  const auto& plans = plans_of(problem, -1, w);
  if (problem.num_envs == 0) return;
  StepLoss<Scalar> all_loss;
  all_loss.contacts = loss;
  StepGradient<Scalar> all;
  all.contacts = gradient;
  enqueue_classes(plans.vjp, w, stream, problem, MechanismStep<Scalar>{}, solution, all_loss, all,
                  options);
}

template <class Scalar>
void solve_jvp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& result,
               const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_change(problem, solution, change, result, options);
  const Workspace::Impl& w = impl_of(workspace);
  const auto& plans = plans_of(problem, -1, w);
  if (problem.num_envs == 0) return;
  enqueue_classes(plans.jvp, w, stream, problem, solution, change, result, options);
}

template <class Scalar>
void step_vjp(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
              const SolutionBatch<Scalar>& solution, const StepLoss<Scalar>& loss,
              const StepGradient<Scalar>& gradient, const SolveOptions& options,
              Workspace& workspace, Stream stream) {
  check_step_gradient(step, problem, solution, gradient, options);
  const Workspace::Impl& w = impl_of(workspace);
  const auto& plans = plans_of(problem, step.mechanism.nv, w);
  if (problem.num_envs == 0) return;
  enqueue_classes(plans.step, w, stream, problem, step, solution, loss, gradient, options);
}

#define SS_INSTANTIATE(Scalar)                                                       \
  template void solve_vjp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&, \
                          const LossBatch<Scalar>&, const GradientBatch<Scalar>&,    \
                          const SolveOptions&, Workspace&, Stream);                  \
  template void solve_jvp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&, \
                          const ChangeBatch<Scalar>&, const SolutionChange<Scalar>&, \
                          const SolveOptions&, Workspace&, Stream);                  \
  template void step_vjp(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,  \
                         const SolutionBatch<Scalar>&, const StepLoss<Scalar>&,      \
                         const StepGradient<Scalar>&, const SolveOptions&, Workspace&, Stream);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
