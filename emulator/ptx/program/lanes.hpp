// What handlers see of the machine: registers of the lanes that run together.
#pragma once
#include <string>

#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

struct Lanes {
  char* frame = nullptr;  // their registers
  u32 expanded = 0;       // mask in mask64, mask32
  alignas(64) i64 mask64[32] = {};
  alignas(64) i32 mask32[32] = {};

  void expand(u32 m) {
    if (expanded == m) return;
    expanded = m;
    for (int l = 0; l < 32; ++l) mask32[l] = -i32((m >> l) & 1);
    for (int l = 0; l < 32; ++l) mask64[l] = mask32[l];
  }
  virtual void complain(const Instruction&, u32 lanes, const std::string& text) = 0;
  virtual ~Lanes() = default;
};

/// The register of an operand.
template <class T>
inline T* at(Lanes& lanes, u32 offset) {
  return reinterpret_cast<T*>(lanes.frame + offset);
}

}  // namespace gpu_emulator::ptx
