#include "src/cpu/gradient_kernels.hpp"

#include "kernels/env/sparse_gradient.hpp"
#include "kernels/group/host_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

namespace {

template <class Scalar>
void vjp_range(const ProblemBatch<Scalar>& batch, const MechanismStep<Scalar>& step,
               const SolutionBatch<Scalar>& solution, const StepLoss<Scalar>& loss,
               const StepGradient<Scalar>& out, const SolveOptions& o, std::int64_t begin,
               std::int64_t end, void* memory) {
  const int nv = step.mechanism.num_envs > 0 ? step.mechanism.nv : kGivenMatrix;
  GradientEnv<Scalar> scratch(Arena(memory), batch.max_rows, batch.max_contacts, nv);
  for (std::int64_t env = begin; env < end; ++env) {
    vjp_env(HostGroup{}, batch, step, solution, loss, out, o, env, scratch);
  }
}

template <class Scalar>
void jvp_range(const ProblemBatch<Scalar>& batch, const SolutionBatch<Scalar>& solution,
               const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& out,
               const SolveOptions& o, std::int64_t begin, std::int64_t end, void* memory) {
  GradientEnv<Scalar> scratch(Arena(memory), batch.max_rows, batch.max_contacts, kGivenMatrix);
  for (std::int64_t env = begin; env < end; ++env) {
    jvp_env(HostGroup{}, batch, solution, change, out, o, env, scratch);
  }
}

template <class Scalar>
void add_to(TypedKernels<Scalar>& t) {
  t.vjp = vjp_range<Scalar>;
  t.jvp = jvp_range<Scalar>;
  t.gradient_bytes = GradientEnv<Scalar>::bytes;
}

}  // namespace

void add_gradient_kernels(KernelTable& t) {
  add_to(t.f64);
  add_to(t.f32);
  t.vjp_sparse = [](const ProblemBatch<double>& batch, const SparseMechanism& m,
                    const SolutionBatch<double>& solution, const LossBatch<double>& loss,
                    const GradientBatch<double>& gradient, const SolveOptions& o, void* memory) {
    Arena arena(memory);
    SparseGradientScratch scratch(arena, m.tree.n, batch.max_rows, batch.max_contacts);
    return vjp_sparse(HostGroup{}, batch, m, solution, loss, gradient, o, scratch);
  };
  t.jvp_sparse = [](const ProblemBatch<double>& batch, const SparseMechanism& m,
                    const SolutionBatch<double>& solution, const ChangeBatch<double>& change,
                    const SolutionChange<double>& out, const SolveOptions& o, void* memory) {
    Arena arena(memory);
    SparseGradientScratch scratch(arena, m.tree.n, batch.max_rows, batch.max_contacts);
    return jvp_sparse(HostGroup{}, batch, m, solution, change, out, o, scratch);
  };
  t.sparse_gradient_bytes = SparseGradientScratch::bytes;
}

}  // namespace stickslip::kernels::inline SS_ISA
