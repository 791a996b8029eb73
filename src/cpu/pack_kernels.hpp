// The kernels that solve environments in packs, in a separate translation unit.
#pragma once
#include "kernels/group/defs.hpp"
#include "src/cpu/kernel_table.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
void add_pack_kernels(TypedKernels<Scalar>& table);

}  // namespace stickslip::kernels::inline SS_ISA
