#include "kernels/launch/gpu_batch.cuh"

namespace stickslip::kernels {
template SolveKernels solve_kernels<double, float, double, Program::first>();
}  // namespace stickslip::kernels
