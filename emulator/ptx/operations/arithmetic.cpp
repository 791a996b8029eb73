#include "ptx/operations/operations.hpp"

namespace gpu_emulator::ptx {

Handler pick_arithmetic(const Opcode& op, Instruction& ins) {
  const bool floating = op.type[0] == Type::f32 || op.type[0] == Type::f64;
  if (carries(op)) return pick_carry(op, ins);
  if (floating) {
    if (const Handler h = pick_floating(op, ins); h != nullptr) return h;
  }
  if (const Handler h = pick_integer(op, ins); h != nullptr) return h;
  return pick_bits(op, ins);
}

}  // namespace gpu_emulator::ptx
