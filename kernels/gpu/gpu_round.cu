// Rounds numbers in double to float, one per thread.
#include "kernels/gpu/gpu_kernels.hpp"

namespace stickslip::kernels::inline SS_ISA {

__global__ void __launch_bounds__(kRoundThreads)
    rounding_kernel(const double* from, float* to, int count) {
  const unsigned i = thread_index();
  if (i < unsigned(count)) to[i] = float(from[i]);
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

RoundKernel round_kernel() { return &rounding_kernel; }

}  // namespace stickslip::kernels
