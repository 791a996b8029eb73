// Conversions between types. Registers may be wider than the types.
#include <cmath>
#include <cstring>
#include <limits>

#include "ptx/operations/each_lane.hpp"
#include "ptx/operations/float_values.hpp"
#include "ptx/operations/operations.hpp"

namespace gpu_emulator::ptx {
namespace {

template <class S>
inline S source(Lanes& c, const Instruction& ins, int l) {
  S s;
  std::memcpy(&s, c.frame + ins.o[1] + l * ins.reg_size2, sizeof s);
  return s;
}
/// Extended to the register.
template <class D>
inline void put(Lanes& c, const Instruction& ins, int l, D v) {
  const i64 w = i64(v);
  std::memcpy(c.frame + ins.o[0] + l * ins.reg_size, &w, ins.reg_size);
}
bool to_nearest(const Instruction& ins) {
  return Round(ins.mode2) == Round::rn || Round(ins.mode2) == Round::none;
}
template <class D, class S>
struct Cast {
  static inline D f(S a) { return D(a); }
};
template <class D, class S>
struct CastFloat {
  static inline D f(S a) { return as_result(D(a)); }
};

template <class D, class S>
inline D clamped(S s) {
  const i128 w = s, lo = std::numeric_limits<D>::min(), hi = std::numeric_limits<D>::max();
  return D(w < lo ? lo : w > hi ? hi : w);
}
template <class D, class S>
void int_to_int(Lanes& c, const Instruction& ins, u32 m) {
  const bool saturates = ins.mode & kSaturate;
  if constexpr (sizeof(D) > 1 && sizeof(S) > 1) {
    const bool own_sizes = ins.reg_size == sizeof(D) && ins.reg_size2 == sizeof(S);
    if (own_sizes && !saturates) return unary<Cast<D, S>, D, S>(c, ins, m);
  }
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const S s = source<S>(c, ins, l);
    put(c, ins, l, saturates ? clamped<D>(s) : D(s));
  }
}

template <class T>
inline T integral(T x, Round r) {
  switch (r) {
    case Round::rzi:
    case Round::rz:
      return std::trunc(x);
    case Round::rmi:
    case Round::rm:
      return std::floor(x);
    case Round::rpi:
    case Round::rp:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

/// Clamps; NaN as PTX ISA 9.0 says.
template <class D, class S>
inline D to_integer(S s, Round round) {
  if (s != s) {
    return sizeof(S) == 8 || sizeof(D) == 8 ? D(u64(1) << (8 * sizeof(D) - 1)) : D(0);
  }
  const S r = integral(s, round);
  const S hi = S(std::numeric_limits<D>::max()), lo = S(std::numeric_limits<D>::min());
  // hi may have been rounded up to a power of two: >= is right for it too.
  return r >= hi ? std::numeric_limits<D>::max() : r <= lo ? std::numeric_limits<D>::min() : D(r);
}
template <class D, class S>
void float_to_int(Lanes& c, const Instruction& ins, u32 m) {
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const S s = at<S>(c, ins.o[1])[l];
    put(c, ins, l, to_integer<D>(ins.mode & kFlush ? flush(s) : s, Round(ins.mode2)));
  }
}

template <class D>
inline D converted(i64 w) {
  D d;
  if constexpr (sizeof(D) == 8)
    asm volatile("cvtsi2sdq %1, %0" : "=x"(d) : "r"(w));
  else
    asm volatile("cvtsi2ssq %1, %0" : "=x"(d) : "r"(w));
  return d;
}
template <class D, class S>
__attribute__((noinline)) void int_to_float(Lanes& c, const Instruction& ins, u32 m) {
  const bool saturates = ins.mode & kSaturate;
  if constexpr (sizeof(S) > 1) {
    const bool plain = to_nearest(ins) && ins.reg_size2 == sizeof(S) && !saturates;
    if (plain) return unary<Cast<D, S>, D, S>(c, ins, m);
  }
  const RoundingMode mode{Round(ins.mode2)};
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const S s = source<S>(c, ins, l);
    D d;
    // Beyond 63 bits there is no instruction before AVX-512: halved, the lowest bit sticky.
    if (std::is_same_v<S, u64> && u64(s) >> 63 != 0) {
      d = opaque(converted<D>(i64(u64(s) >> 1 | (u64(s) & 1)))) * opaque(D(2));
      d = opaque(d);
    } else {
      d = converted<D>(i64(s));
    }
    at<D>(c, ins.o[0])[l] = saturates ? saturated(d) : d;
  }
}

template <class D, class S>
__attribute__((noinline)) void float_to_float(Lanes& c, const Instruction& ins, u32 m) {
  constexpr bool same = std::is_same_v<D, S>;
  const Round r = Round(ins.mode2);
  if constexpr (!same) {
    if (to_nearest(ins) && ins.mode == 0) return unary<CastFloat<D, S>, D, S>(c, ins, m);
  }
  const RoundingMode mode(same ? Round::rn : r);
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    S s = at<S>(c, ins.o[1])[l];
    if (ins.mode & kFlush) s = flush(s);
    D d;
    if constexpr (same)
      d = r == Round::none ? s : integral(s, r);
    else
      d = opaque(D(opaque(s)));
    if (ins.mode & kFlush) d = flush(d);
    at<D>(c, ins.o[0])[l] = as_result(ins.mode & kSaturate ? saturated(d) : d);
  }
}

u16 half_of(float x, Round r) {
  if (x != x) return 0x7fff;
  switch (r) {
    case Round::rz:
      return u16(_cvtss_sh(x, 3));
    case Round::rm:
      return u16(_cvtss_sh(x, 1));
    case Round::rp:
      return u16(_cvtss_sh(x, 2));
    default:
      return u16(_cvtss_sh(x, 0));
  }
}
/// Half precision is only converted.
void float_to_half(Lanes& c, const Instruction& ins, u32 m) {
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const float x = at<float>(c, ins.o[1])[l];
    const u16 h = half_of(ins.mode & kSaturate ? saturated(x) : x, Round(ins.mode2));
    std::memcpy(c.frame + ins.o[0] + l * ins.reg_size, &h, sizeof h);
  }
}
template <class D>
void half_to_float(Lanes& c, const Instruction& ins, u32 m) {
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    at<D>(c, ins.o[0])[l] = D(as_result(_cvtsh_ss(source<u16>(c, ins, l))));
  }
}

/// From integers of every type, as `Of` handles type S.
template <class Of>
Handler from_integer(Type from, Of of) {
  switch (from) {
    case Type::u8:
    case Type::b8:
      return of.template operator()<u8>();
    case Type::s8:
      return of.template operator()<i8>();
    case Type::u16:
    case Type::b16:
      return of.template operator()<u16>();
    case Type::s16:
      return of.template operator()<i16>();
    case Type::u32:
    case Type::b32:
      return of.template operator()<u32>();
    case Type::s32:
      return of.template operator()<i32>();
    case Type::u64:
    case Type::b64:
      return of.template operator()<u64>();
    case Type::s64:
      return of.template operator()<i64>();
    default:
      return nullptr;
  }
}

template <class D>
Handler to_int(Type from) {
  if (from == Type::f32) return &float_to_int<D, float>;
  if (from == Type::f64) return &float_to_int<D, double>;
  return from_integer(from, []<class S>() -> Handler { return &int_to_int<D, S>; });
}
template <class D>
Handler to_float(Type from) {
  if (from == Type::f16) return &half_to_float<D>;
  if (from == Type::f32) return &float_to_float<D, float>;
  if (from == Type::f64) return &float_to_float<D, double>;
  return from_integer(from, []<class S>() -> Handler { return &int_to_float<D, S>; });
}

}  // namespace

Handler pick_cvt(const Opcode& op, Instruction& ins) {
  ins.mode = u8((op.sat ? kSaturate : 0) | (op.ftz ? kFlush : 0));
  ins.mode2 = u8(op.round);
  if (op.types != 2) return nullptr;
  const Type to = op.type[0], from = op.type[1];
  if (to == Type::f32) return to_float<float>(from);
  if (to == Type::f64) return to_float<double>(from);
  if (to == Type::f16) return from == Type::f32 ? &float_to_half : nullptr;
  return from_integer(to, [from]<class D>() -> Handler { return to_int<D>(from); });
}

}  // namespace gpu_emulator::ptx
