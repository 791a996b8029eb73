// Operands and statements as they are written.
#pragma once
#include <string_view>
#include <vector>

#include "ptx/program/opcode.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

struct Operand {
  enum Kind { none, reg, imm, symbol, memory, vector, sink, special } kind = none;
  bool negated = false, is_float = false;
  u32 value = 0;               // reg
  u64 bits = 0;                // imm: integer, or bits of a double
  i64 add = 0;                 // symbol and memory
  std::string_view name;       // symbol, special
  std::vector<Operand> items;  // vector; memory: the base; d|p: items[0] is p
  bool paired = false;
};

struct Statement {
  Opcode op;
  Instruction ins;
  std::vector<Operand> x;
  Type type() const { return op.type[0]; }
};

/// Special::none: no special register, or a clock.
Special special_of(std::string_view name);
bool is_clock(std::string_view name);

}  // namespace gpu_emulator::ptx
