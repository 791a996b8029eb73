// The name of an instruction, taken apart.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx {

struct Opcode {
  std::string_view text, base;
  std::vector<std::string_view> modifiers;
  Type type[3] = {Type::none, Type::none, Type::none};
  int types = 0;
  Round round = Round::none;
  bool ftz = false, sat = false, approx = false, full = false;

  explicit Opcode(std::string_view text);
  bool has(std::string_view modifier) const;
  bool nearest() const { return round == Round::none || round == Round::rn; }
  // What modifiers name, if one does.
  Space space() const;
  Atomic atomic() const;
  std::optional<Compare> compare() const;
};

Type type_of(std::string_view name);

}  // namespace gpu_emulator::ptx
