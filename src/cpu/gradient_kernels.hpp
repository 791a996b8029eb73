// The kernels of derivatives, in a separate translation unit.
#pragma once
#include "kernels/group/defs.hpp"
#include "src/cpu/kernel_table.hpp"

namespace stickslip::kernels::inline SS_ISA {

void add_gradient_kernels(KernelTable& table);

}  // namespace stickslip::kernels::inline SS_ISA
