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
  if (std::strcmp(isa, "x86-64-v4") == 0) {
    return __builtin_cpu_supports("x86-64-v4") ? &v4::table() : nullptr;
  }
  if (std::strcmp(isa, "x86-64-v3") == 0) {
    return __builtin_cpu_supports("x86-64-v3") ? &v3::table() : nullptr;
  }
  return nullptr;
}

const KernelTable& kernel_table() {
  static const KernelTable* const chosen = [] {
    const KernelTable* best = kernel_table("x86-64-v4");
    return best != nullptr ? best : kernel_table("x86-64-v3");
  }();
  if (chosen == nullptr) {
    throw std::runtime_error(
        "stickslip needs a processor with AVX2 and FMA (x86-64-v3); this one has neither or lacks "
        "one of them");
  }
  return *chosen;
}

}  // namespace stickslip::kernels
