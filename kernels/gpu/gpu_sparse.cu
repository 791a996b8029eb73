// Large environments of an engine's mechanisms without W on a GPU: a block takes each.
#include "kernels/env/sparse_env.hpp"
#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels::inline SS_ISA {

template <class Group>
__global__ void __launch_bounds__(Group::kLanes, 1)
    sparse_kernel(const __grid_constant__ ProblemBatch<double> batch,
                  const __grid_constant__ ResultBatch<double> result,
                  const __grid_constant__ Ladder ladder,
                  const __grid_constant__ MatrixSource<double> source,
                  const __grid_constant__ GroupScratch scratch,
                  const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    auto& place = SparseEnvScratch::make(g, Arena(group_memory<Group, false>(scratch)),
                                         source.engine.nv, scratch.max_rows, scratch.max_contacts);
    solve_sparse_env(g, source, batch, result, ladder, env, place);
    note(g, work, batch, result, env);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

SolveKernels<double> sparse_kernels() {
  return {.block_global = &sparse_kernel<BlockGroup<kBlockLanes>>, .bytes = &sparse_bytes};
}

}  // namespace stickslip::kernels
