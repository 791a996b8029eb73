// The kernels that solve contact problems, in a translation unit for each type of arithmetic: they
// take most of the time of a build.
#pragma once
#include "kernels/group/defs.hpp"
#include "src/cpu/kernel_table.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real, class Factor, class Scalar>
TypedKernels<Scalar>::Solve solve_kernel();

}  // namespace stickslip::kernels::inline SS_ISA
