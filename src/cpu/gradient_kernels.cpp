#include "src/cpu/gradient_kernels.hpp"

#include "kernels/env/gradient_env.hpp"
#include "kernels/group/host_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

namespace {

template <class In>
void vjp_range(const ProblemBatch<In>& batch, const MechanismStep<In>& step,
               const SolutionBatch<In>& solution, const StepLoss<In>& loss,
               const StepGradient<In>& out, const SolveOptions& o, std::int64_t begin,
               std::int64_t end, void* memory) {
  const int nv = step.mechanism.num_envs > 0 ? step.mechanism.nv : kGivenMatrix;
  GradientEnv<In> scratch(Arena(memory), batch.max_rows, batch.max_contacts, nv);
  for (std::int64_t env = begin; env < end; ++env) {
    vjp_env(HostGroup{}, batch, step, solution, loss, out, o, env, scratch);
  }
}

template <class In>
void jvp_range(const ProblemBatch<In>& batch, const SolutionBatch<In>& solution,
               const ChangeBatch<In>& change, const SolutionChange<In>& out, const SolveOptions& o,
               std::int64_t begin, std::int64_t end, void* memory) {
  GradientEnv<In> scratch(Arena(memory), batch.max_rows, batch.max_contacts, kGivenMatrix);
  for (std::int64_t env = begin; env < end; ++env) {
    jvp_env(HostGroup{}, batch, solution, change, out, o, env, scratch);
  }
}

template <class In>
void add_to(TypedKernels<In>& t) {
  t.vjp = vjp_range<In>;
  t.jvp = jvp_range<In>;
  t.gradient_bytes = GradientEnv<In>::bytes;
}

}  // namespace

void add_gradient_kernels(KernelTable& t) {
  add_to(t.f64);
  add_to(t.f32);
}

}  // namespace stickslip::kernels::inline SS_ISA
