#include "src/cpu/kernel_table.hpp"

#include <cstring>
#include <stdexcept>

namespace stickslip::kernels {

namespace v3 {
const KernelTable& table();
}
namespace v4 {
const KernelTable& table();
}

const KernelTable* kernel_table(const char* isa) {
  // CMake defines the instruction sets of this build (STICKSLIP_CPU).
#if defined(STICKSLIP_HAS_v4)
  if (std::strcmp(isa, "x86-64-v4") == 0 && __builtin_cpu_supports("x86-64-v4")) {
    return &v4::table();
  }
#endif
#if defined(STICKSLIP_HAS_v3)
  if (std::strcmp(isa, "x86-64-v3") == 0 && __builtin_cpu_supports("x86-64-v3")) {
    return &v3::table();
  }
#endif
  return nullptr;
}

const KernelTable& kernel_table() {
  static const KernelTable* const chosen = [] {
    const KernelTable* best = kernel_table("x86-64-v4");
    return best != nullptr ? best : kernel_table("x86-64-v3");
  }();
  if (chosen == nullptr) {
    throw std::runtime_error(
        "stickslip needs a processor with AVX2 and FMA (x86-64-v3), or, built with "
        "STICKSLIP_CPU=native, one like that of the build; this one lacks an instruction set");
  }
  return *chosen;
}

}  // namespace stickslip::kernels
