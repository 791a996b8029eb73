#include "src/cpu/shared_parts.hpp"
#include "src/cpu/solve_kernels.hpp"

namespace stickslip::kernels::inline SS_ISA {

SS_SHARED_PARTS(extern)

template <>
TypedKernels<double>::Solve solve_kernel<float, float, double>() {
  return solve_range<float, float, double>;
}

template <>
TypedKernels<float>::Solve solve_kernel<float, float, float>() {
  return solve_range<float, float, float>;
}

}  // namespace stickslip::kernels::inline SS_ISA
