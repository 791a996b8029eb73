#include "src/cpu/shared_parts.hpp"

namespace stickslip::kernels::inline SS_ISA {

SS_SHARED_PARTS()

}  // namespace stickslip::kernels::inline SS_ISA
