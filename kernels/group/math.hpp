// Scalar arithmetic with the same bits on every backend: explicit fma, IEEE division and square
// root, and no libm functions, because their last bit differs between libraries.
#pragma once
#include <cstdint>
#include <cstring>

#include "kernels/group/defs.hpp"

namespace stickslip::kernels::inline SS_ISA {

#if defined(__CUDA_ARCH__)
SS_INNER double fma(double a, double b, double c) { return ::fma(a, b, c); }
SS_INNER float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
SS_INNER double sqrt(double a) { return ::sqrt(a); }
SS_INNER float sqrt(float a) { return ::sqrtf(a); }
SS_INNER double abs(double a) { return ::fabs(a); }
SS_INNER float abs(float a) { return ::fabsf(a); }
#else
SS_INNER double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
SS_INNER float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SS_INNER double sqrt(double a) { return __builtin_sqrt(a); }
SS_INNER float sqrt(float a) { return __builtin_sqrtf(a); }
SS_INNER double abs(double a) { return __builtin_fabs(a); }
SS_INNER float abs(float a) { return __builtin_fabsf(a); }
#endif

/// An index known to the compiler.
template <int i>
struct Index {
  SS_INNER constexpr operator int() const { return i; }
};

/// f(Index<i>) for i from `begin` to N - 1. Arrays with these indices stay in registers; with loops
/// that are unrolled later they do not.
template <int begin, int N, class F>
SS_INNER void unroll(F&& f) {
  if constexpr (begin < N) {
    f(Index<begin>{});
    unroll<begin + 1, N>(f);
  }
}

// Replacements for `if` and `double` in a body, so that its numbers may be packs
// (kernels/group/pack.hpp): with plain numbers, masks are truth values.
SS_INNER bool any(bool m) { return m; }
SS_INNER bool all(bool m) { return m; }
template <class T>
SS_INNER T select(bool m, T a, T b) {
  return m ? a : b;
}
template <class T>
struct WideOf {
  using type = double;
};
/// As many doubles as T has numbers.
template <class T>
using Wide = typename WideOf<T>::type;
template <class T>
inline constexpr bool kIsPlain = sizeof(T) == sizeof(float) || sizeof(T) == sizeof(double);
/// The type of comparisons of numbers of type T.
template <class T>
using Mask = decltype(T() < T());

template <class T>
SS_INNER constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
SS_INNER T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
SS_INNER T clamp(T x, T lo, T hi) {
  return min(hi, max(lo, x));
}
/// False for NaN and infinities.
template <class T>
SS_INNER Mask<T> is_finite(T a) {
  return a - a == T(0);
}
template <class T>
struct Limits;
template <>
struct Limits<double> {
  static constexpr double infinity = __builtin_huge_val();
  static constexpr double epsilon = 2.220446049250313e-16;
  static constexpr double largest = 1.7976931348623157e308;
};
template <>
struct Limits<float> {
  static constexpr float infinity = __builtin_huge_valf();
  static constexpr float epsilon = 1.1920929e-07F;
  static constexpr float largest = 3.4028235e38F;
};

/// Largest power of two <= x, for normal x > 0 (exponent arithmetic: exact on every machine).
SS_INNER double power_of_two_below(double x) {
  std::uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  bits &= 0x7ff0000000000000ULL;
  memcpy(&x, &bits, sizeof bits);
  return x;
}

/// Largest power of two <= 1 / sqrt(x), for normal x > 0, by the exponent only. It may differ from
/// power_of_two_below(1 / sqrt(x)): that root rounds down to 2^k for the number next above 4^k.
SS_INNER double inverse_root_power(double x) {
  std::uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  const std::int64_t exponent = std::int64_t(bits >> 52) - 1023, half = exponent >> 1;
  const bool exact = (exponent & 1) == 0 && (bits & 0xfffffffffffffULL) == 0;
  bits = std::uint64_t(1023 - half - (exact ? 0 : 1)) << 52;
  memcpy(&x, &bits, sizeof bits);
  return x;
}

/// 32 bits hashed from i and the seed; `offset` separates the uses.
SS_INNER std::uint32_t hashed_bits(int i, int seed, std::uint32_t offset) {
  std::uint32_t h = std::uint32_t(i) * 2654435761U + std::uint32_t(seed) * 40503U + offset;
  h = (h ^ (h >> 16)) * 0x7feb352dU;
  return (h ^ (h >> 15)) * 0x846ca68bU;
}

/// The upper 23 of 32 bits as a number in [0, 1).
SS_INNER double fraction_of(std::uint32_t bits) { return double(bits >> 9) * (1.0 / 8388608.0); }

/// A number in [1, 2), hashed from i and the seed: entries of Lemke's covering vector, different
/// for every attempt. Equal entries would cause ties between near-duplicate contacts.
SS_INNER double hashed_weight(int i, int seed) {
  const std::uint32_t h = hashed_bits(i, seed, 12345U);
  return 1.0 + fraction_of(h ^ (h >> 16));
}

/// Integers in the order of the numbers x >= 0, with NaN above all. The sign bit is dropped,
/// because processors give NaNs different signs.
SS_INNER std::int64_t order_bits(double x) {
  std::int64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits & INT64_MAX;
}
SS_INNER std::int32_t order_bits(float x) {
  std::int32_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits & INT32_MAX;
}
/// The number >= 0 with these bits.
template <class T, class Bits>
SS_INNER T number_of(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  T x = 0;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// The largest of some numbers.
template <class T>
struct Largest {
  int index;
  T value;
};

}  // namespace stickslip::kernels::inline SS_ISA
