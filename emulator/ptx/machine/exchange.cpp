#include <algorithm>
#include <bit>

#include "ptx/machine/lane_exchange.hpp"
#include "ptx/program/modes.hpp"

namespace gpu_emulator::ptx {

void Exchange::gather(const Instruction& ins, u32 m) {
  switch (ins.kind) {
    case Kind::shfl: {
      const u32* a = reg<u32>(ins, 2);
      for (int l = 0; m == kAll && l < 32; ++l) values_[l] = a[l];
      for (u32 k = m == kAll ? 0 : m; k; k &= k - 1) {
        values_[std::countr_zero(k)] = a[std::countr_zero(k)];
      }
      break;
    }
    case Kind::vote: {
      const u32 p = *reg<u32>(ins, 1) ^ (ins.imm != 0 ? kAll : 0);
      votes_ = (votes_ & ~m) | (p & m);
      break;
    }
    case Kind::match:
      for (u32 k = m; k; k &= k - 1) {
        const int l = std::countr_zero(k);
        values_[l] = ins.size == 8 ? reg<u64>(ins, 2)[l] : reg<u32>(ins, 2)[l];
      }
      break;
    case Kind::redux:
      for (u32 k = m; k; k &= k - 1) {
        values_[std::countr_zero(k)] = reg<u32>(ins, 1)[std::countr_zero(k)];
      }
      break;
    default:
      break;
  }
}

void Exchange::perform(const Instruction& ins, u32 m) {
  switch (ins.kind) {
    case Kind::shfl:
      return shuffle(ins, m);
    case Kind::vote:
      return vote(ins, m);
    case Kind::match:
      return match(ins, m);
    case Kind::redux:
      return redux(ins, m);
    case Kind::elect:
      return elect(ins, m);
    default:
      return;  // a barrier
  }
}

void Exchange::put(const Instruction& ins, u32 m, const u32* result) {
  u32* d = reg<u32>(ins, 0);
  for (u32 k = m; k; k &= k - 1) d[std::countr_zero(k)] = result[std::countr_zero(k)];
}

void Exchange::put_predicate(const Instruction& ins, unsigned operand, u32 m, u32 bits) {
  u32& p = *reg<u32>(ins, operand);
  p = (p & ~m) | (bits & m);
}

/// Whose value a lane gets; its own where that would lie outside.
inline u32 Exchange::shuffled_from(const Instruction& ins, u32 l, bool& inside) const {
  const u32 b = reg<u32>(ins, 3)[l] & 31, c = reg<u32>(ins, 4)[l];
  const u32 segment = (c >> 8) & 31, clamp = c & 31;
  const u32 least = l & segment, most = least | (clamp & ~segment & 31);
  u32 j = 0;
  switch (ins.mode) {
    case kShuffleUp:
      j = l - b;
      inside = i32(j) >= i32(most);
      break;
    case kShuffleDown:
      j = l + b;
      inside = j <= most;
      break;
    case kShuffleXor:
      j = l ^ b;
      inside = j <= most;
      break;
    default:
      j = least | (b & ~segment & 31);
      inside = j <= most;
  }
  return inside ? j : l;
}

void Exchange::shuffle(const Instruction& ins, u32 m) {
  alignas(64) u32 r[32];
  u32 all_inside = 0;
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k));
    bool inside = false;
    const u32 j = shuffled_from(ins, l, inside);
    if (machine_.checks.uninitialised) check_shuffle(ins, l, j, masks(ins)[l]);
    r[l] = u32(values_[j]);
    all_inside |= u32(inside) << l;
  }
  put(ins, m, r);
  if (ins.mode2 != 0) put_predicate(ins, 1, m, all_inside);
}

void Exchange::check_shuffle(const Instruction& ins, u32 l, u32 from, u32 mask) {
  const std::string reads = "shfl.sync reads lane " + std::to_string(from) + ", which ";
  if (!((mask >> from) & 1)) {
    machine_.complain(ins, 1U << l, reads + "is not in its mask " + hex(mask));
  } else if (!((w_.alive >> from) & 1)) {
    machine_.complain(ins, 1U << l, reads + "has exited");
  }
}

void Exchange::vote(const Instruction& ins, u32 m) {
  u32 bits = 0;
  u32 r[32];
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k)), g = group(ins, l), yes = votes_ & g;
    const bool p = ins.mode == kVoteAll   ? yes == g
                   : ins.mode == kVoteAny ? yes != 0
                                          : yes == 0 || yes == g;
    bits |= u32(p) << l;
    r[l] = yes;
  }
  if (ins.mode == kVoteBallot)
    put(ins, m, r);
  else
    put_predicate(ins, 0, m, bits);
}

/// Lanes with the same value: all of them, or none unless they are all. mode: the latter.
void Exchange::match(const Instruction& ins, u32 m) {
  u32 r[32], bits = 0;
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k)), g = group(ins, l);
    u32 equal = 0;
    for (u32 j = g; j; j &= j - 1) {
      if (values_[std::countr_zero(j)] == values_[l]) equal |= j & (0 - j);
    }
    r[l] = ins.mode == 0 || equal == g ? equal : 0;
    bits |= u32(equal == g) << l;
  }
  put(ins, m, r);
  if (ins.mode2 != 0) put_predicate(ins, 1, m, bits);
}

namespace {

u32 reduced(Atomic op, bool has_sign, u32 a, u32 b) {
  switch (op) {
    case Atomic::add:
      return a + b;
    case Atomic::and_:
      return a & b;
    case Atomic::or_:
      return a | b;
    case Atomic::xor_:
      return a ^ b;
    case Atomic::min:
      return has_sign ? u32(std::min(i32(a), i32(b))) : std::min(a, b);
    default:
      return has_sign ? u32(std::max(i32(a), i32(b))) : std::max(a, b);
  }
}

}  // namespace

void Exchange::redux(const Instruction& ins, u32 m) {
  u32 r[32];
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k)), g = group(ins, l);
    u32 s = u32(values_[std::countr_zero(g)]);
    for (u32 j = g & (g - 1); j; j &= j - 1) {
      s = reduced(Atomic(ins.mode), ins.mode2 != 0, s, u32(values_[std::countr_zero(j)]));
    }
    r[l] = s;
  }
  put(ins, m, r);
}

void Exchange::elect(const Instruction& ins, u32 m) {
  u32 r[32], bits = 0;
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k)), leader = u32(std::countr_zero(group(ins, l)));
    r[l] = leader;
    bits |= u32(leader == l) << l;
  }
  put(ins, m, r);
  put_predicate(ins, 1, m, bits);
}

}  // namespace gpu_emulator::ptx
