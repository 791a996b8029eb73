// Values of a function: each constant and special register once.
#pragma once
#include <map>
#include <optional>
#include <tuple>

#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

class Values {
 public:
  explicit Values(Function& f) : f_(f) {}
  const Value& operator[](u32 v) const { return f_.values[v]; }
  /// A register; or `count` of them, of which the first is returned.
  u32 add(Register r, u32 count = 1);
  u32 constant(Register r, u64 bits);
  u32 special(Special s, Register r, u64 add = 0);
  /// The carry flag.
  u32 carry();

 private:
  Function& f_;
  std::map<std::pair<u64, Register>, u32> constants_;
  std::map<std::tuple<Special, u64, Register>, u32> specials_;
  std::optional<u32> carry_;
};

}  // namespace gpu_emulator::ptx
