// Law `convex` in velocities on a GPU: groups take the environments of one size class.
#include "kernels/env/convex_env.hpp"
#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels::inline SS_ISA {

template <class Group, bool kShared>
__global__ void __launch_bounds__(most_threads<Group>(), 1)
    convex_kernel(const __grid_constant__ ProblemBatch<double> batch,
                  const __grid_constant__ EngineMechanism mechanism,
                  const __grid_constant__ EnvArray<const double> start,
                  const __grid_constant__ ResultBatch<double> result,
                  const __grid_constant__ SolveOptions options,
                  const __grid_constant__ GroupScratch scratch,
                  const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    Arena arena(group_memory<Group, kShared>(scratch));
    EngineConvexScratch place(arena, mechanism.nv, scratch.max_rows, scratch.max_contacts);
    solve_convex(g, batch, mechanism, start, result, options, env, place);
    note(g, work, batch, result, env);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

GroupKernels<ConvexKernel> convex_kernels() {
  using Wide = WarpGroup<32>;
  using Block = BlockGroup<kBlockLanes>;
  return {.wide = &convex_kernel<Wide, true>,
          .block = &convex_kernel<Block, true>,
          .block_global = &convex_kernel<Block, false>,
          .bytes = &convex_bytes};
}

}  // namespace stickslip::kernels
