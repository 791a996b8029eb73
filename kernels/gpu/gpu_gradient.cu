// Derivatives on a GPU: groups take the environments of one size class.
#include "kernels/env/gradient_env.hpp"
#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels::inline SS_ISA {

template <class In, class Group, bool kShared>
__global__ void __launch_bounds__(most_threads<Group>(), 1) vjp_kernel(
    const __grid_constant__ ProblemBatch<In> batch, const __grid_constant__ MechanismStep<In> step,
    const __grid_constant__ SolutionBatch<In> solution, const __grid_constant__ StepLoss<In> loss,
    const __grid_constant__ StepGradient<In> out, const __grid_constant__ SolveOptions options,
    const __grid_constant__ GroupScratch scratch, const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    GradientEnv<In> place(Arena(group_memory<Group, kShared>(scratch)), scratch.max_rows,
                          scratch.max_contacts, scratch.matrix.nv);
    vjp_env(g, batch, step, solution, loss, out, options, env, place);
  });
}

template <class In, class Group, bool kShared>
__global__ void __launch_bounds__(most_threads<Group>(), 1)
    jvp_kernel(const __grid_constant__ ProblemBatch<In> batch,
               const __grid_constant__ SolutionBatch<In> solution,
               const __grid_constant__ ChangeBatch<In> change,
               const __grid_constant__ SolutionChange<In> out,
               const __grid_constant__ SolveOptions options,
               const __grid_constant__ GroupScratch scratch,
               const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    GradientEnv<In> place(Arena(group_memory<Group, kShared>(scratch)), scratch.max_rows,
                          scratch.max_contacts, scratch.matrix.nv);
    jvp_env(g, batch, solution, change, out, options, env, place);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

template <class In>
GradientKernels gradient_kernels() {
  using Wide = WarpGroup<32>;
  using Block = BlockGroup<SolveKernels::kBlockLanes>;
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  constexpr auto bytes = &gradient_bytes<In>;
  return {{.wide = address(&vjp_kernel<In, Wide, true>),
           .block_global = address(&vjp_kernel<In, Block, false>),
           .bytes = bytes},
          {.wide = address(&jvp_kernel<In, Wide, true>),
           .block_global = address(&jvp_kernel<In, Block, false>),
           .bytes = bytes}};
}

template GradientKernels gradient_kernels<double>();
template GradientKernels gradient_kernels<float>();

}  // namespace stickslip::kernels
