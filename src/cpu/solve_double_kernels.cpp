#include "src/cpu/shared_parts.hpp"
#include "src/cpu/solve_kernels.hpp"

namespace stickslip::kernels::inline SS_ISA {

SS_SHARED_PARTS(extern)

template <>
TypedKernels<double>::Solve solve_kernel<double, double, double>() {
  return solve_range<double, double, double>;
}

}  // namespace stickslip::kernels::inline SS_ISA
