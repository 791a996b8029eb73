// Linear complementarity problems on a GPU: blocks take environments until none is left.
#include "kernels/env/lcp_env.hpp"
#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels::inline SS_ISA {

template <class Real, class Scalar, bool kShared>
__global__ void __launch_bounds__(kLcpLanes, 1)
    lcp_kernel(const __grid_constant__ LcpBatch<Scalar> batch,
               const __grid_constant__ LcpResult<Scalar> result,
               const __grid_constant__ LcpOptions options,
               const __grid_constant__ GroupScratch scratch, std::int32_t* next) {
  using Group = BlockGroup<kLcpLanes>;
  const Group g;
  const int max_m = standard_rows(scratch.max_rows, batch.lo.data != nullptr);
  for (;;) {
    int env = 0;
    if (g.lane() == 0) env = atomicAdd(next, 1);
    env = g.share(env);
    if (env >= batch.num_envs) return;
    const LcpScratch<Real, Scalar> place(Arena(group_memory<Group, kShared>(scratch)),
                                         scratch.max_rows, max_m);
    solve_lcp_env<Real>(g, batch, result, options, env, place);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

template <class Real, class Scalar>
LcpKernels<Scalar> lcp_kernels() {
  return {&lcp_kernel<Real, Scalar, true>, &lcp_kernel<Real, Scalar, false>,
          [](int max_rows, bool boxed) {
            return LcpScratch<Real, Scalar>::bytes(max_rows, standard_rows(max_rows, boxed));
          }};
}

template LcpKernels<double> lcp_kernels<double, double>();
template LcpKernels<double> lcp_kernels<float, double>();
template LcpKernels<float> lcp_kernels<float, float>();

}  // namespace stickslip::kernels
