// Functions of the bits of one lane's registers.
#pragma once
#include <algorithm>
#include <bit>
#include <type_traits>

#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx::bit {

template <class T>
struct And {
  static inline T f(T a, T b) { return T(a & b); }
};
template <class T>
struct Or {
  static inline T f(T a, T b) { return T(a | b); }
};
template <class T>
struct Xor {
  static inline T f(T a, T b) { return T(a ^ b); }
};
template <class T>
struct Not {
  static inline T f(T a) { return T(~a); }
};
template <class T>
struct IsZero {
  static inline T f(T a) { return T(a == 0 ? 1 : 0); }
};

// Shifts: any amount is legal.
template <class T>
struct Shl {
  static inline T f(T a, u32 b) { return b >= 8 * sizeof(T) ? T(0) : T(a << b); }
};
template <class T>
struct Shr {
  static inline T f(T a, u32 b) {
    constexpr u32 n = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return T(a >> (b >= n ? n - 1 : b));
    else
      return b >= n ? T(0) : T(a >> b);
  }
};
template <bool left, bool wraps>
struct FunnelShift {  // a is the low word, b the high one
  static inline u32 f(u32 a, u32 b, u32 c) {
    const u32 n = wraps ? c & 31 : std::min(c, 32U);
    const u64 both = u64(b) << 32 | a;
    return left ? u32((both << n) >> 32) : u32(both >> n);
  }
};

template <class T>
struct CountOnes {
  static inline u32 f(T a) { return u32(std::popcount(a)); }
};
template <class T>
struct CountZeros {
  static inline u32 f(T a) { return u32(std::countl_zero(a)); }
};
template <class T>
struct Reverse {
  static inline T f(T a) {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) r |= T(((a >> i) & 1) << (8 * sizeof(T) - 1 - i));
    return r;
  }
};
/// The highest bit that differs from the sign; or how far to shift it to the top.
template <class T, bool shift>
struct Find {
  static inline u32 f(T a) {
    using U = std::make_unsigned_t<T>;
    constexpr u32 top = 8 * sizeof(T) - 1;
    U v = U(a);
    if (std::is_signed_v<T> && a < 0) v = U(~v);
    if (v == 0) return kAll;
    const u32 p = top - u32(std::countl_zero(v));
    return shift ? top - p : p;
  }
};
/// b ones from bit a on.
template <bool wraps>
struct Mask {
  static inline u32 f(u32 a, u32 b) {
    if (wraps) return u32(((u64(1) << (b & 31)) - 1) << (a & 31));
    return a >= 32 ? 0 : u32(((u64(1) << std::min(b, 32U)) - 1) << a);
  }
};
/// c bits of a from bit b on, extended by their sign.
template <class T>
struct Extract {
  static inline T f(T a, u32 b, u32 c) {
    using U = std::make_unsigned_t<T>;
    constexpr u32 top = 8 * sizeof(T) - 1;
    const u32 pos = b & 0xff, len = c & 0xff;
    const bool sign =
        std::is_signed_v<T> && len != 0 && ((U(a) >> std::min(pos + len - 1, top)) & 1);
    U r = sign ? U(~U(0)) : U(0);
    for (u32 i = 0; i <= top && i < len && pos + i <= top; ++i)
      r = U((r & ~(U(1) << i)) | (((U(a) >> (pos + i)) & 1) << i));
    return T(r);
  }
};

enum : u8 { kAnyBytes, kForward4, kBackward4, kReplicate8, kEdgeLeft, kEdgeRight, kReplicate16 };
/// The byte that comes to place i of the result of prmt.
inline u32 permuted_byte(u64 both, u32 selector, u32 i, u8 mode) {
  const auto byte = [&](u32 k) { return u32(both >> (8 * (k & 7))) & 0xff; };
  const u32 s = selector & 3;
  switch (mode) {
    case kForward4:
      return byte(s + i);
    case kBackward4:
      return byte(s + 8 - i);
    case kReplicate8:
      return byte(s);
    case kEdgeLeft:
      return byte(std::max(i, s));
    case kEdgeRight:
      return byte(std::min(i, s));
    case kReplicate16:
      return byte((s & 1) * 2 + (i & 1));
    default:
      break;
  }
  const u32 k = (selector >> (4 * i)) & 15;
  return k & 8 ? (byte(k) & 0x80 ? 0xff : 0) : byte(k);
}
inline u32 permuted(u64 both, u32 selector, u8 mode) {
  u32 r = 0;
  for (u32 i = 0; i < 4; ++i) r |= permuted_byte(both, selector, i, mode) << (8 * i);
  return r;
}

}  // namespace gpu_emulator::ptx::bit
