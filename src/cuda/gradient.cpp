// Enqueues derivatives. Nothing here allocates, waits, or reads results of the device.
#include "src/cuda/enqueue.hpp"

namespace stickslip::cuda {

namespace {

template <class In>
const GradientPlans& plans_of(const ProblemBatch<In>& problem, int nv, const Workspace::Impl& w) {
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  require(w.has_gradients, "workspace.gradients", "true for derivatives", "false");
  require(w.nv >= nv, "workspace.nv", "at least the mechanism's nv", w.nv);
  return sizeof(In) == 4 ? w.gradients_float : w.gradients_double;
}

}  // namespace

template <class In>
void solve_vjp(const ProblemBatch<In>& problem, const SolutionBatch<In>& solution,
               const LossBatch<In>& loss, const GradientBatch<In>& gradient,
               const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_gradient(problem, solution, gradient, options);
  const Workspace::Impl& w = impl_of(workspace);
  const GradientPlans& plans = plans_of(problem, -1, w);
  if (problem.num_envs == 0) return;
  StepLoss<In> all_loss;
  all_loss.contacts = loss;
  StepGradient<In> all;
  all.contacts = gradient;
  enqueue_classes(plans.vjp, w, stream, problem, MechanismStep<In>{}, solution, all_loss, all,
                  options);
}

template <class In>
void solve_jvp(const ProblemBatch<In>& problem, const SolutionBatch<In>& solution,
               const ChangeBatch<In>& change, const SolutionChange<In>& result,
               const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_change(problem, solution, change, result, options);
  const Workspace::Impl& w = impl_of(workspace);
  const GradientPlans& plans = plans_of(problem, -1, w);
  if (problem.num_envs == 0) return;
  enqueue_classes(plans.jvp, w, stream, problem, solution, change, result, options);
}

template <class In>
void step_vjp(const MechanismStep<In>& step, const ProblemBatch<In>& problem,
              const SolutionBatch<In>& solution, const StepLoss<In>& loss,
              const StepGradient<In>& gradient, const SolveOptions& options, Workspace& workspace,
              Stream stream) {
  check_step_gradient(step, problem, solution, gradient, options);
  const Workspace::Impl& w = impl_of(workspace);
  const GradientPlans& plans = plans_of(problem, step.mechanism.nv, w);
  if (problem.num_envs == 0) return;
  enqueue_classes(plans.step, w, stream, problem, step, solution, loss, gradient, options);
}

#define SS_INSTANTIATE(In)                                                                         \
  template void solve_vjp(const ProblemBatch<In>&, const SolutionBatch<In>&, const LossBatch<In>&, \
                          const GradientBatch<In>&, const SolveOptions&, Workspace&, Stream);      \
  template void solve_jvp(const ProblemBatch<In>&, const SolutionBatch<In>&,                       \
                          const ChangeBatch<In>&, const SolutionChange<In>&, const SolveOptions&,  \
                          Workspace&, Stream);                                                     \
  template void step_vjp(const MechanismStep<In>&, const ProblemBatch<In>&,                        \
                         const SolutionBatch<In>&, const StepLoss<In>&, const StepGradient<In>&,   \
                         const SolveOptions&, Workspace&, Stream);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
