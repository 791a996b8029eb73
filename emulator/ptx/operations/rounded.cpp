// Arithmetic of floats that is not rounded to nearest, and what has no defined bits: lane by lane.
#include <cmath>
#include <limits>

#include "ptx/operations/float_values.hpp"
#include "ptx/operations/operations.hpp"
#include "ptx/program/lanes.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

enum class Operation { add, sub, mul, fma, div, sqrt, rcp };

template <class T>
inline T square_root(T x) {
  T r = 0;
  if constexpr (sizeof(T) == 8)
    asm volatile("sqrtsd %1, %0" : "=x"(r) : "x"(x));
  else
    asm volatile("sqrtss %1, %0" : "=x"(r) : "x"(x));
  return r;
}

template <class T, Operation op, class Get>
inline T computed(Get get) {
  if constexpr (op == Operation::add) return get(1) + get(2);
  if constexpr (op == Operation::sub) return get(1) - get(2);
  if constexpr (op == Operation::mul) return get(1) * get(2);
  if constexpr (op == Operation::div) return get(1) / get(2);
  if constexpr (op == Operation::sqrt) return square_root(get(1));
  if constexpr (op == Operation::rcp) return opaque(T(1)) / get(1);
  if constexpr (op == Operation::fma) {
    if constexpr (sizeof(T) == 8)
      return __builtin_fma(get(1), get(2), get(3));
    else
      return __builtin_fmaf(get(1), get(2), get(3));
  }
}

template <class T, Operation op>
__attribute__((noinline)) void directed(Lanes& c, const Instruction& ins, u32 m) {
  const RoundingMode mode(Round(ins.mode2));
  const bool flushes = ins.mode & kFlush, saturates = ins.mode & kSaturate;
  T* d = at<T>(c, ins.o[0]);
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    T r = opaque(computed<T, op>([&](int k) {
      const T x = at<T>(c, ins.o[k])[l];
      return opaque(flushes ? flush(x) : x);
    }));
    if (flushes) r = flush(r);
    d[l] = saturates ? saturated(r) : as_result(r);
  }
}

template <Operation op>
Handler directed_of(Type t) {
  return t == Type::f32 ? &directed<float, op> : &directed<double, op>;
}
using Pick = Handler (*)(Type);
constexpr Named<Pick> kDirected[] = {
    {"add", &directed_of<Operation::add>},   {"sub", &directed_of<Operation::sub>},
    {"mul", &directed_of<Operation::mul>},   {"fma", &directed_of<Operation::fma>},
    {"mad", &directed_of<Operation::fma>},   {"div", &directed_of<Operation::div>},
    {"sqrt", &directed_of<Operation::sqrt>}, {"rcp", &directed_of<Operation::rcp>}};

/// No bits are defined for these: complains, and gives something near.
template <class T>
void approximate(Lanes& c, const Instruction& ins, u32 m) {
  c.complain(ins, m, "approximate instruction: its bits are not defined");
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const T a = at<T>(c, ins.o[1])[l];
    const auto value = [&] {
      switch (ins.mode) {
        case 0:
          return a / at<T>(c, ins.o[2])[l];
        case 1:
          return std::sqrt(a);
        case 2:
          return T(1) / a;
        case 3:
          return T(1) / std::sqrt(a);
        case 4:
          return std::sin(a);
        case 5:
          return std::cos(a);
        case 6:
          return std::log2(a);
        case 7:
          return std::exp2(a);
        default:
          return std::tanh(a);
      }
    };
    at<T>(c, ins.o[0])[l] = value();
  }
}
constexpr Named<u8> kApproximate[] = {{"div", 0}, {"sqrt", 1}, {"rcp", 2}, {"rsqrt", 3}, {"sin", 4},
                                      {"cos", 5}, {"lg2", 6},  {"ex2", 7}, {"tanh", 8}};

enum : u8 { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
constexpr Named<u8> kTests[] = {{"finite", kFinite}, {"infinite", kInfinite},
                                {"number", kNumber}, {"notanumber", kNotANumber},
                                {"normal", kNormal}, {"subnormal", kSubnormal}};

template <class T>
bool is_of(T a, u8 kind) {
  const auto b = std::bit_cast<BitsOf<T>>(a) & ~kSign<T>;
  const auto inf = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
  const auto low = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::min());
  switch (kind) {
    case kFinite:
      return b < inf;
    case kInfinite:
      return b == inf;
    case kNumber:
      return b <= inf;
    case kNotANumber:
      return b > inf;
    case kNormal:
      return b >= low && b < inf;
    default:
      return b < low && b != 0;
  }
}
template <class T>
void testp(Lanes& c, const Instruction& ins, u32 m) {
  u32 r = 0;
  for (int l = 0; l < 32; ++l) r |= u32(is_of(at<T>(c, ins.o[1])[l], ins.mode)) << l;
  u32& d = *at<u32>(c, ins.o[0]);
  d = (d & ~m) | (r & m);
}

}  // namespace

Handler pick_rounded(const Opcode& op, Instruction& ins) {
  ins.mode = u8((op.ftz ? kFlush : 0) | (op.sat ? kSaturate : 0));
  ins.mode2 = u8(op.round);
  const auto pick = find_named(kDirected, op.base);
  return pick ? (*pick)(op.type[0]) : nullptr;
}

Handler pick_approximate(const Opcode& op, Instruction& ins) {
  ins.category = Category::div_sqrt;
  ins.mode = find_named(kApproximate, op.base).value_or(0);
  return op.type[0] == Type::f32 ? &approximate<float> : &approximate<double>;
}

Handler pick_testp(const Opcode& op, Instruction& ins) {
  ins.mode = kSubnormal;
  for (const auto modifier : op.modifiers) {
    if (const auto found = find_named(kTests, modifier)) ins.mode = *found;
  }
  return op.type[0] == Type::f32 ? &testp<float> : &testp<double>;
}

}  // namespace gpu_emulator::ptx
