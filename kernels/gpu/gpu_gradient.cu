// Derivatives on a GPU: groups take the environments of one size class.
#include "kernels/env/gradient_env.hpp"
#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar, class Group, bool kShared>
__global__ void __launch_bounds__(most_threads<Group>(), 1)
    vjp_kernel(const __grid_constant__ ProblemBatch<Scalar> batch,
               const __grid_constant__ MechanismStep<Scalar> step,
               const __grid_constant__ SolutionBatch<Scalar> solution,
               const __grid_constant__ StepLoss<Scalar> loss,
               const __grid_constant__ StepGradient<Scalar> out,
               const __grid_constant__ SolveOptions options,
               const __grid_constant__ GroupScratch scratch,
               const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    GradientEnv<Scalar> place(Arena(group_memory<Group, kShared>(scratch)), scratch.max_rows,
                              scratch.max_contacts, scratch.matrix.nv);
    vjp_env(g, batch, step, solution, loss, out, options, env, place);
  });
}

template <class Scalar, class Group, bool kShared>
__global__ void __launch_bounds__(most_threads<Group>(), 1)
    jvp_kernel(const __grid_constant__ ProblemBatch<Scalar> batch,
               const __grid_constant__ SolutionBatch<Scalar> solution,
               const __grid_constant__ ChangeBatch<Scalar> change,
               const __grid_constant__ SolutionChange<Scalar> out,
               const __grid_constant__ SolveOptions options,
               const __grid_constant__ GroupScratch scratch,
               const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    GradientEnv<Scalar> place(Arena(group_memory<Group, kShared>(scratch)), scratch.max_rows,
                              scratch.max_contacts, scratch.matrix.nv);
    jvp_env(g, batch, solution, change, out, options, env, place);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

template <class Scalar>
GradientKernels<Scalar> gradient_kernels() {
  using Wide = WarpGroup<32>;
  using Block = BlockGroup<kBlockLanes>;
  constexpr auto bytes = &gradient_bytes<Scalar>;
  return {{.wide = &vjp_kernel<Scalar, Wide, true>,
           .block_global = &vjp_kernel<Scalar, Block, false>,
           .bytes = bytes},
          {.wide = &jvp_kernel<Scalar, Wide, true>,
           .block_global = &jvp_kernel<Scalar, Block, false>,
           .bytes = bytes}};
}

template GradientKernels<double> gradient_kernels<double>();
template GradientKernels<float> gradient_kernels<float>();

}  // namespace stickslip::kernels
