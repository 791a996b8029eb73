// Arithmetic of integers: sums, products, quotients.
#include "ptx/operations/each_lane.hpp"
#include "ptx/operations/integers.hpp"
#include "ptx/operations/operations.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

using namespace integer;

template <int sources>
constexpr auto kEachLane = []<class F, class T>() { return handler_of<F, T, sources>(); };
constexpr auto kByLane = []<class F, class T>() -> Handler { return &binary_by_lane<F, T, T, T>; };

/// The sign does not matter.
template <template <class> class F, int sources>
Handler by_width(const Opcode& op, Instruction&) {
  return is_float(op.type[0]) ? nullptr : for_width<F>(op.type[0], kEachLane<sources>);
}
template <template <class> class F, int sources>
Handler by_type(const Opcode& op, Instruction&) {
  return for_signed<F>(op.type[0], kEachLane<sources>);
}
template <template <class> class F>
Handler quotient(const Opcode& op, Instruction&) {
  return for_signed<F>(op.type[0], kByLane);
}

template <template <class> class F, class Saturated>
Handler sum(const Opcode& op, Instruction& ins) {
  if (!op.sat) return by_width<F, 2>(op, ins);
  return op.type[0] == Type::s32 ? handler_of<Saturated, i32, 2>() : nullptr;
}

template <class T>
constexpr Handler kMulWide = &binary<MulWide<T>, Wide<T>, T, T>;
template <class T>
constexpr Handler kMadWide = &ternary<MadWide<T>, Wide<T>, T, T, Wide<T>>;
Handler wide(Type t, bool adds) {
  switch (t) {
    case Type::u16:
      return adds ? kMadWide<u16> : kMulWide<u16>;
    case Type::s16:
      return adds ? kMadWide<i16> : kMulWide<i16>;
    case Type::u32:
      return adds ? kMadWide<u32> : kMulWide<u32>;
    case Type::s32:
      return adds ? kMadWide<i32> : kMulWide<i32>;
    default:
      return nullptr;
  }
}
Handler product(const Opcode& op, Instruction& ins) {
  if (op.has("wide")) return wide(op.type[0], false);
  if (op.has("hi")) return by_type<MulHigh, 2>(op, ins);
  if (!op.has("lo")) return nullptr;
  // Of 16 bits: the product of promoted ints must not overflow.
  if (width(op.type[0]) == 2) return &binary<Mul<u32>, u16, u16, u16>;
  return by_width<Mul, 2>(op, ins);
}
Handler product_and_sum(const Opcode& op, Instruction& ins) {
  if (op.sat) return nullptr;
  if (op.has("wide")) return wide(op.type[0], true);
  if (op.has("hi")) return by_type<MadHigh, 3>(op, ins);
  if (!op.has("lo")) return nullptr;
  if (width(op.type[0]) == 2) return &ternary<Mad<u32>, u16, u16, u16, u16>;
  return by_width<Mad, 3>(op, ins);
}

template <template <class> class F, int sources>
Handler of_24_bits(Type t) {
  return t == Type::s32 ? handler_of<F<i32>, i32, sources>() : handler_of<F<u32>, u32, sources>();
}
Handler product_of_24_bits(const Opcode& op, Instruction&) {
  return op.has("hi") ? of_24_bits<Mul24High, 2>(op.type[0]) : of_24_bits<Mul24, 2>(op.type[0]);
}
Handler product_and_sum_of_24_bits(const Opcode& op, Instruction&) {
  return op.has("lo") && !op.sat ? of_24_bits<Mad24, 3>(op.type[0]) : nullptr;
}

Handler absolute(const Opcode& op, Instruction& ins) {
  return is_signed(op.type[0]) ? by_type<Abs, 1>(op, ins) : nullptr;
}

template <template <class> class F>
Handler extreme(const Opcode& op, Instruction& ins) {
  return op.has("relu") ? nullptr : by_type<F, 2>(op, ins);
}

/// Sums of products of four bytes; mode: which of the two is signed.
void dp4a(Lanes& c, const Instruction& ins, u32 m) {
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const u32 a = at<u32>(c, ins.o[1])[l], b = at<u32>(c, ins.o[2])[l];
    i64 s = at<i32>(c, ins.o[3])[l];
    for (int k = 0; k < 4; ++k) {
      const int x = (a >> (8 * k)) & 0xff, y = (b >> (8 * k)) & 0xff;
      s += i64(ins.mode & 1 ? int(i8(x)) : x) * (ins.mode & 2 ? int(i8(y)) : y);
    }
    at<u32>(c, ins.o[0])[l] = u32(s);
  }
}
Handler pick_dp4a(const Opcode& op, Instruction& ins) {
  ins.mode = u8((is_signed(op.type[0]) ? 1 : 0) | (is_signed(op.type[1]) ? 2 : 0));
  return &dp4a;
}

using Pick = Handler (*)(const Opcode&, Instruction&);
constexpr Named<Pick> kList[] = {{"add", &sum<Add, AddSaturated>},
                                 {"sub", &sum<Sub, SubSaturated>},
                                 {"mul", &product},
                                 {"mad", &product_and_sum},
                                 {"mul24", &product_of_24_bits},
                                 {"mad24", &product_and_sum_of_24_bits},
                                 {"div", &quotient<Div>},
                                 {"rem", &quotient<Rem>},
                                 {"neg", &by_type<Neg, 1>},
                                 {"abs", &absolute},
                                 {"min", &extreme<Min>},
                                 {"max", &extreme<Max>},
                                 {"sad", &by_type<Sad, 3>},
                                 {"dp4a", &pick_dp4a}};

}  // namespace

Handler pick_integer(const Opcode& op, Instruction& ins) {
  const auto pick = find_named(kList, op.base);
  return pick ? (*pick)(op, ins) : nullptr;
}

}  // namespace gpu_emulator::ptx
