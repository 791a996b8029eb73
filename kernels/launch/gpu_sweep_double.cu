#include "kernels/launch/gpu_batch.cuh"

namespace stickslip::kernels {
template SolveKernels solve_kernels<double, double, double, Program::sweeping>();
}  // namespace stickslip::kernels
