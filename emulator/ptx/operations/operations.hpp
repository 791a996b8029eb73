// Handlers of instructions from registers to registers. nullptr: there is no such instruction.
#pragma once
#include "ptx/program/modes.hpp"
#include "ptx/program/opcode.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

/// By name. o[0] is the result, the sources follow. Sets the mode and the category.
Handler pick_arithmetic(const Opcode& op, Instruction& ins);

// Of one family each, for pick_arithmetic. carry.cpp, floating.cpp, integer.cpp, bits.cpp
bool carries(const Opcode& op);
Handler pick_carry(const Opcode& op, Instruction& ins);
Handler pick_floating(const Opcode& op, Instruction& ins);
Handler pick_integer(const Opcode& op, Instruction& ins);
Handler pick_bits(const Opcode& op, Instruction& ins);
Handler pick_rounded(const Opcode& op, Instruction& ins);
Handler pick_approximate(const Opcode& op, Instruction& ins);
Handler pick_testp(const Opcode& op, Instruction& ins);

// compare.cpp
Handler pick_setp(Type t, Compare c, bool ftz);
Handler pick_set_value(Type t, Instruction& ins);

// convert.cpp
Handler pick_cvt(const Opcode& op, Instruction& ins);

// move.cpp
Handler pick_mov(Register r);
Handler pick_selp(Register r);
Handler pick_slct(const Opcode& op);
/// From parts to a whole, or from a whole to its parts.
Handler pick_pack(Register whole, Register part, bool to_one);

}  // namespace gpu_emulator::ptx
