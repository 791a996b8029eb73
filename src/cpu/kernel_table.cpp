#include "src/cpu/kernel_table.hpp"

#include <stdexcept>

namespace stickslip::kernels {

namespace a64 {
const KernelTable& table();
}
namespace v3 {
const KernelTable& table();
}
namespace v4 {
const KernelTable& table();
}

std::vector<const KernelTable*> kernel_tables() {
  std::vector<const KernelTable*> found;
  // CMake defines the instruction sets of this build (STICKSLIP_CPU).
#if defined(STICKSLIP_HAS_a64)
  found.push_back(&a64::table());
#endif
#if defined(STICKSLIP_HAS_v3)
  if (__builtin_cpu_supports("x86-64-v3")) found.push_back(&v3::table());
#endif
#if defined(STICKSLIP_HAS_v4)
  if (__builtin_cpu_supports("x86-64-v4")) found.push_back(&v4::table());
#endif
  return found;
}

const KernelTable& kernel_table() {
  static const std::vector<const KernelTable*> found = kernel_tables();
  if (found.empty()) {
    throw std::runtime_error(
        "stickslip needs a processor with AVX2 and FMA (x86-64-v3), or, built with "
        "STICKSLIP_CPU=native, one like that of the build; this one lacks an instruction set");
  }
  return *found.back();
}

}  // namespace stickslip::kernels
