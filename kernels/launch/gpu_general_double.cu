#define SS_POLYGONS  // pyramids of more than 4 directions (kernels/problem/env_problem.hpp)
#include "kernels/launch/gpu_batch.cuh"

namespace stickslip::kernels {
template SolveKernels solve_kernels<double, double, double, Program::general>();
}  // namespace stickslip::kernels
