// Arithmetic of floats, rounded to nearest. Z: subnormal numbers are flushed to zero.
#include "ptx/operations/each_lane.hpp"
#include "ptx/operations/float_values.hpp"
#include "ptx/operations/operations.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

template <class T, bool Z, bool S>
struct Add {
  static inline T f(T a, T b) { return result<Z, S>(argument<Z>(a) + argument<Z>(b)); }
};
template <class T, bool Z, bool S>
struct Sub {
  static inline T f(T a, T b) { return result<Z, S>(argument<Z>(a) - argument<Z>(b)); }
};
template <class T, bool Z, bool S>
struct Mul {
  static inline T f(T a, T b) { return result<Z, S>(argument<Z>(a) * argument<Z>(b)); }
};
template <class T, bool Z, bool S>
struct Div {
  static inline T f(T a, T b) { return result<Z, S>(argument<Z>(a) / argument<Z>(b)); }
};
template <class T, bool Z, bool S>
struct Fma {
  static inline T f(T a, T b, T c) {
    if constexpr (sizeof(T) == 8)
      return __builtin_fma(a, b, c);
    else
      return result<Z, S>(T(__builtin_fmaf(argument<Z>(a), argument<Z>(b), argument<Z>(c))));
  }
};
template <class T, bool Z, bool S>
struct Sqrt {
  static inline T f(T a) {
    if constexpr (sizeof(T) == 8)
      return __builtin_sqrt(a);
    else
      return result<Z, S>(T(__builtin_sqrtf(argument<Z>(a))));
  }
};
template <class T, bool Z, bool S>
struct Rcp {
  static inline T f(T a) { return result<Z, S>(T(1) / argument<Z>(a)); }
};

template <class T>
inline BitsOf<T> bits(T x) {
  return std::bit_cast<BitsOf<T>>(x);
}
template <class T, bool Z, bool>
struct Neg {
  static inline T f(T a) { return std::bit_cast<T>(bits(argument<Z>(a)) ^ kSign<T>); }
};
template <class T, bool Z, bool>
struct Abs {
  static inline T f(T a) { return std::bit_cast<T>(bits(argument<Z>(a)) & ~kSign<T>); }
};
template <class T, bool, bool>
struct Copysign {  // the sign of a, the size of b
  static inline T f(T a, T b) {
    return std::bit_cast<T>((bits(a) & kSign<T>) | (bits(b) & ~kSign<T>));
  }
};

/// The lesser or the greater of two numbers. N: a NaN gives a NaN, else the other number.
template <class T, bool Z, bool N, bool least>
inline T extreme(T a, T b) {
  a = argument<Z>(a);
  b = argument<Z>(b);
  const T same = std::bit_cast<T>(least ? bits(a) | bits(b) : bits(a) & bits(b));  // zeros
  T r = (least ? a < b : a > b) ? a : b;
  r = a == b ? same : r;
  r = b != b ? a : r;  // a comparison with NaN is false: r was b
  r = a != a ? b : r;
  const bool bad = N ? (a != a) | (b != b) : (a != a) & (b != b);
  return bad ? kNan<T> : r;
}
template <class T, bool Z, bool N>
struct Min {
  static inline T f(T a, T b) { return extreme<T, Z, N, true>(a, b); }
};
template <class T, bool Z, bool N>
struct Max {
  static inline T f(T a, T b) { return extreme<T, Z, N, false>(a, b); }
};

/// For both flags; double precision has none of them.
template <template <class, bool, bool> class F, int sources>
Handler with_flags(Type t, bool z, bool s) {
  if (t == Type::f64) return handler_of<F<double, false, false>, double, sources>();
  if (t != Type::f32) return nullptr;
  if (z) {
    return s ? handler_of<F<float, true, true>, float, sources>()
             : handler_of<F<float, true, false>, float, sources>();
  }
  return s ? handler_of<F<float, false, true>, float, sources>()
           : handler_of<F<float, false, false>, float, sources>();
}

template <template <class, bool, bool> class F, int sources>
Handler to_nearest(const Opcode& op, Instruction& ins) {
  if (!op.nearest()) return pick_rounded(op, ins);
  return with_flags<F, sources>(op.type[0], op.ftz, op.sat);
}
template <template <class, bool, bool> class F, int sources>
Handler exact(const Opcode& op, Instruction&) {
  return with_flags<F, sources>(op.type[0], op.ftz, false);
}
template <template <class, bool, bool> class F>
Handler extreme_of(const Opcode& op, Instruction&) {
  if (op.has("relu") || op.has("xorsign")) return nullptr;
  return with_flags<F, 2>(op.type[0], op.ftz, op.has("NaN"));
}

Handler pick_fma(const Opcode& op, Instruction& ins) {
  if (op.base == "mad" && op.round == Round::none) return nullptr;
  ins.category = op.type[0] == Type::f64 ? Category::fma_double : Category::fma_float;
  return to_nearest<Fma, 3>(op, ins);
}

/// Those that are approximations unless the name has a rounding.
template <template <class, bool, bool> class F, int sources>
Handler divided(const Opcode& op, Instruction& ins) {
  ins.category = Category::div_sqrt;
  if (op.approx || op.full || op.round == Round::none) return pick_approximate(op, ins);
  return to_nearest<F, sources>(op, ins);
}

using Pick = Handler (*)(const Opcode&, Instruction&);
constexpr Named<Pick> kList[] = {{"add", &to_nearest<Add, 2>},
                                 {"sub", &to_nearest<Sub, 2>},
                                 {"mul", &to_nearest<Mul, 2>},
                                 {"fma", &pick_fma},
                                 {"mad", &pick_fma},
                                 {"div", &divided<Div, 2>},
                                 {"sqrt", &divided<Sqrt, 1>},
                                 {"rcp", &divided<Rcp, 1>},
                                 {"neg", &exact<Neg, 1>},
                                 {"abs", &exact<Abs, 1>},
                                 {"copysign", &exact<Copysign, 2>},
                                 {"min", &extreme_of<Min>},
                                 {"max", &extreme_of<Max>},
                                 {"testp", &pick_testp},
                                 {"rsqrt", &pick_approximate},
                                 {"sin", &pick_approximate},
                                 {"cos", &pick_approximate},
                                 {"lg2", &pick_approximate},
                                 {"ex2", &pick_approximate},
                                 {"tanh", &pick_approximate}};

}  // namespace

Handler pick_floating(const Opcode& op, Instruction& ins) {
  ins.category = op.type[0] == Type::f64 ? Category::other_double : Category::other;
  const auto pick = find_named(kList, op.base);
  return pick ? (*pick)(op, ins) : nullptr;
}

}  // namespace gpu_emulator::ptx
