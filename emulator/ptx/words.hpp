// Numbers and names as messages have them.
#pragma once
#include <cstdint>
#include <string>

namespace gpu_emulator::ptx {

std::string hex(std::uint64_t x);
/// As it is written in C++; what is not mangled stays as it is.
std::string readable(const std::string& mangled);

}  // namespace gpu_emulator::ptx
