#include "ptx/words.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>

namespace gpu_emulator::ptx {

std::string hex(std::uint64_t x) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

std::string readable(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && text != nullptr ? text : mangled;
  std::free(text);
  return name;
}

}  // namespace gpu_emulator::ptx
