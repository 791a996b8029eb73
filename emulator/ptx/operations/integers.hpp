// Arithmetic of integers on one lane.
#pragma once
#include <cstdint>
#include <type_traits>

#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
struct Widened;
template <>
struct Widened<u16> : std::type_identity<u32> {};
template <>
struct Widened<i16> : std::type_identity<i32> {};
template <>
struct Widened<u32> : std::type_identity<u64> {};
template <>
struct Widened<i32> : std::type_identity<i64> {};
template <>
struct Widened<u64> : std::type_identity<u128> {};
template <>
struct Widened<i64> : std::type_identity<i128> {};
template <class T>
using Wide = typename Widened<T>::type;

namespace integer {

template <class T>
struct Add {
  static inline T f(T a, T b) { return T(a + b); }
};
template <class T>
struct Sub {
  static inline T f(T a, T b) { return T(a - b); }
};
template <class T>
struct Mul {
  static inline T f(T a, T b) { return T(a * b); }
};
template <class T>
struct Mad {
  static inline T f(T a, T b, T c) { return T(T(a * b) + c); }
};
template <class T>
struct MulHigh {
  static inline T f(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); }
};
template <class T>
struct MadHigh {
  static inline T f(T a, T b, T c) { return T(Unsigned<T>(MulHigh<T>::f(a, b)) + Unsigned<T>(c)); }
};
template <class T>
struct MulWide {
  static inline Wide<T> f(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
};
template <class T>
struct MadWide {
  static inline Wide<T> f(T a, T b, Wide<T> c) {
    using U = Unsigned<Wide<T>>;
    return Wide<T>(U(Wide<T>(a) * Wide<T>(b)) + U(c));
  }
};

inline i32 low24(i32 x) { return i32(u32(x) << 8) >> 8; }
inline u32 low24(u32 x) { return x & 0xffffffU; }
template <class T>
struct Mul24 {
  static inline T f(T a, T b) { return T(u32(Wide<T>(low24(a)) * Wide<T>(low24(b)))); }
};
template <class T>
struct Mul24High {
  static inline T f(T a, T b) { return T(u32((Wide<T>(low24(a)) * Wide<T>(low24(b))) >> 16)); }
};
template <class T>
struct Mad24 {
  static inline T f(T a, T b, T c) { return T(u32(Mul24<T>::f(a, b)) + u32(c)); }
};

template <class T>
struct Neg {
  static inline T f(T a) { return T(Unsigned<T>(0) - Unsigned<T>(a)); }
};
template <class T>
struct Abs {
  static inline T f(T a) { return a < 0 ? Neg<T>::f(a) : a; }
};
template <class T>
struct Min {
  static inline T f(T a, T b) { return b < a ? b : a; }
};
template <class T>
struct Max {
  static inline T f(T a, T b) { return a < b ? b : a; }
};
template <class T>
struct Div {
  static inline T f(T a, T b) {
    if (b == 0) return T(-1);
    if (std::is_signed_v<T> && b == T(-1)) return Neg<T>::f(a);
    return T(a / b);
  }
};
template <class T>
struct Rem {
  static inline T f(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == T(-1)) return T(0);
    return T(a % b);
  }
};
template <class T>
struct Sad {
  static inline T f(T a, T b, T c) {
    using U = Unsigned<T>;
    return T(U(c) + (a < b ? U(b) - U(a) : U(a) - U(b)));
  }
};

inline i32 clamped(i64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : i32(x); }
struct AddSaturated {
  static inline i32 f(i32 a, i32 b) { return clamped(i64(a) + b); }
};
struct SubSaturated {
  static inline i32 f(i32 a, i32 b) { return clamped(i64(a) - b); }
};

}  // namespace integer

/// A function of one type, for integers of each type: nullptr for other types.
template <template <class> class F, class Of>
Handler for_signed(Type t, Of of) {
  switch (t) {
    case Type::s16:
      return of.template operator()<F<i16>, i16>();
    case Type::s32:
      return of.template operator()<F<i32>, i32>();
    case Type::s64:
      return of.template operator()<F<i64>, i64>();
    case Type::u16:
    case Type::b16:
      return of.template operator()<F<u16>, u16>();
    case Type::u32:
    case Type::b32:
      return of.template operator()<F<u32>, u32>();
    case Type::u64:
    case Type::b64:
      return of.template operator()<F<u64>, u64>();
    default:
      return nullptr;
  }
}
/// The same where the sign does not matter.
template <template <class> class F, class Of>
Handler for_width(Type t, Of of) {
  switch (width(t)) {
    case 2:
      return of.template operator()<F<u16>, u16>();
    case 4:
      return of.template operator()<F<u32>, u32>();
    case 8:
      return of.template operator()<F<u64>, u64>();
    default:
      return nullptr;
  }
}

}  // namespace gpu_emulator::ptx
