// The kernels of complementarity problems other than contacts, in a separate translation unit.
#pragma once
#include "kernels/group/defs.hpp"
#include "src/cpu/kernel_table.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
void add_lcp_kernels(TypedKernels<Scalar>& table);

/// Elimination of free variables, mixed nonlinear problems.
void add_formulation_kernels(KernelTable& table);

}  // namespace stickslip::kernels::inline SS_ISA
