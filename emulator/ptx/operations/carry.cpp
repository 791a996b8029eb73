// Sums and products with the carry flag.
#include <bit>

#include "ptx/operations/operations.hpp"
#include "ptx/program/lanes.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr u8 kWrites = 1, kReads = 2;  // mode: what is done with the flag
enum : u8 { kAdd, kSub, kMadLow, kMadHigh };

/// The flag, a predicate, is the last operand.
template <class T>
void carry(Lanes& c, const Instruction& ins, u32 m) {
  constexpr unsigned kBits = 8 * sizeof(T);
  u32& flag = *at<u32>(c, ins.o[ins.mode2 < kMadLow ? 3 : 4]);
  u32 next = flag;
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const u128 a = at<T>(c, ins.o[1])[l], b = at<T>(c, ins.o[2])[l];
    const u32 k = ins.mode & kReads ? (flag >> l) & 1 : 0;
    u128 r = 0;
    bool carried = false;
    if (ins.mode2 == kSub) {
      r = a - b - k;
      carried = a < b + k;
    } else if (ins.mode2 == kAdd) {
      r = a + b + k;
      carried = (r >> kBits) != 0;
    } else {
      const T part = ins.mode2 == kMadLow ? T(a * b) : T((a * b) >> kBits);
      r = u128(part) + at<T>(c, ins.o[3])[l] + k;
      carried = (r >> kBits) != 0;
    }
    at<T>(c, ins.o[0])[l] = T(r);
    if (ins.mode & kWrites) next = (next & ~(1U << l)) | u32(carried) << l;
  }
  flag = next;
}

}  // namespace

bool carries(const Opcode& op) {
  const auto b = op.base;
  return b == "addc" || b == "subc" || b == "madc" ||
         (op.has("cc") && (b == "add" || b == "sub" || b == "mad"));
}

Handler pick_carry(const Opcode& op, Instruction& ins) {
  const char first = op.base[0];
  ins.mode = u8((op.has("cc") ? kWrites : 0) | (op.base.back() == 'c' ? kReads : 0));
  ins.mode2 = first == 'a' ? kAdd : first == 's' ? kSub : op.has("hi") ? kMadHigh : kMadLow;
  if (ins.mode2 == kMadHigh && is_signed(op.type[0])) return nullptr;
  const unsigned bytes = width(op.type[0]);
  return bytes == 4 ? &carry<u32> : bytes == 8 ? &carry<u64> : nullptr;
}

}  // namespace gpu_emulator::ptx
