#include "kernels/launch/gpu_batch.cuh"

namespace stickslip::kernels {
template SolveKernels solve_kernels<float, float, float, Program::sweeping>();
}  // namespace stickslip::kernels
