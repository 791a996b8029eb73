// Numbers as a GPU has them: its NaN, flushed and saturated values, directed rounding.
#pragma once
#include <immintrin.h>

#include <bit>
#include <type_traits>

#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, u32, u64>;
template <class T>
constexpr BitsOf<T> kSign = BitsOf<T>(1) << (8 * sizeof(T) - 1);
template <class T>
constexpr T kNan = std::bit_cast<T>(BitsOf<T>(sizeof(T) == 4 ? 0x7fffffffULL
                                                             : 0x7ff8000000000000ULL));

/// Single precision has one NaN on a GPU. Double precision: as the host does it.
inline float as_result(float x) { return x != x ? kNan<float> : x; }
inline double as_result(double x) { return x; }

inline float flush(float x) {
  const u32 b = std::bit_cast<u32>(x);
  return (b & 0x7f800000U) == 0 ? std::bit_cast<float>(b & 0x80000000U) : x;
}
inline double flush(double x) { return x; }

/// Within [0, 1]; NaN gives 0.
template <class T>
inline T saturated(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

template <bool flushes, class T>
inline T argument(T x) {
  return flushes ? flush(x) : x;
}
template <bool flushes, bool saturates, class T>
inline T result(T x) {
  if (flushes) x = flush(x);
  return saturates ? saturated(x) : as_result(x);
}

/// The host rounds like this while one of these lives.
class RoundingMode {
 public:
  explicit RoundingMode(Round r) { _mm_setcsr((before_ & ~0x6000U) | bits_of(r) << 13); }
  ~RoundingMode() { _mm_setcsr(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  static unsigned bits_of(Round r) {
    if (r == Round::rm || r == Round::rmi) return 1;
    if (r == Round::rp || r == Round::rpi) return 2;
    return r == Round::rz || r == Round::rzi ? 3 : 0;
  }
  unsigned before_ = _mm_getcsr();
};

/// Keeps the compiler from computing with a number outside of a RoundingMode.
template <class T>
inline T opaque(T x) {
  asm volatile("" : "+x"(x));
  return x;
}

}  // namespace gpu_emulator::ptx
