// Atomic operations on memory.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ptx/machine/machine.hpp"
#include "ptx/machine/memory_operations.hpp"

namespace gpu_emulator::ptx {
namespace {

/// What memory holds afterwards. `c` is the third operand of cas.
template <class T>
inline T updated(Atomic op, T old, T b, T c) {
  switch (op) {
    case Atomic::add:
      return T(old + b);
    case Atomic::min:
      return b < old ? b : old;
    case Atomic::max:
      return old < b ? b : old;
    case Atomic::exch:
      return b;
    case Atomic::cas:
      return old == b ? c : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case Atomic::and_:
        return T(old & b);
      case Atomic::or_:
        return T(old | b);
      case Atomic::xor_:
        return T(old ^ b);
      case Atomic::inc:
        return old >= b ? T(0) : T(old + 1);
      case Atomic::dec:
        return old == 0 || old > b ? b : T(old - 1);
      default:
        break;
    }
  }
  return old;
}

template <class T>
void atomic(Lanes& lanes, const Instruction& ins, u32 m) {
  Machine& machine = static_cast<Machine&>(lanes);
  char* p[32];
  const u32 ok = machine.resolve(ins, m, ins.o[1], sizeof(T), Access::atomic, p);
  const u32 turn = machine.shuffled ? machine.random.below(32) : 0;  // who comes first
  const T* second = at<T>(machine, ins.o[ins.nops > 3 ? 3 : 2]);
  bool changed = false;
  for (u32 k = 0; k < 32; ++k) {
    const u32 l = (k + turn) & 31;
    if (!((ok >> l) & 1)) continue;
    T old;
    std::memcpy(&old, p[l], sizeof old);
    T r = updated(Atomic(ins.mode), old, at<T>(machine, ins.o[2])[l], second[l]);
    if constexpr (std::is_same_v<T, float>) {
      if (r != r) r = std::bit_cast<float>(0x7fffffffU);
    }
    changed = changed || std::memcmp(&r, &old, sizeof r) != 0;
    std::memcpy(p[l], &r, sizeof r);
    at<T>(machine, ins.o[0])[l] = old;
  }
  if (changed)
    ++machine.changes;
  else
    machine.poll(ins, ok);
  for (u32 j = m & ~ok; j; j &= j - 1) at<T>(machine, ins.o[0])[std::countr_zero(j)] = T(0);
}

template <class T>
Handler sum_or_exchange(Atomic op) {
  return op == Atomic::add || op == Atomic::exch ? &atomic<T> : nullptr;
}

}  // namespace

Handler pick_atom(Atomic op, Type t) {
  if (op == Atomic::none) return nullptr;
  switch (t) {
    case Type::u32:
    case Type::b32:
      return &atomic<u32>;
    case Type::s32:
      return &atomic<i32>;
    case Type::u64:
    case Type::b64:
      return &atomic<u64>;
    case Type::s64:
      return &atomic<i64>;
    case Type::f32:
      return sum_or_exchange<float>(op);
    case Type::f64:
      return sum_or_exchange<double>(op);
    case Type::b16:
      return op == Atomic::cas ? &atomic<u16> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace gpu_emulator::ptx
