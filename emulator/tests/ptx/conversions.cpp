// Conversions between types.
#include "host_rounding.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

/// Exactly: by hand from the bits, for every rounding.
template <class D>
D from_integer(int mode, i128 v) {
  const bool negative = v < 0;
  const u128 m = negative ? -u128(v) : u128(v);
  if (m == 0) return D(0);
  constexpr int digits = std::numeric_limits<D>::digits;
  int e = 0;
  while ((m >> e) >> digits) ++e;
  u64 q = u64(m >> e);
  const u128 rest = m - (u128(q) << e), half = e != 0 ? u128(1) << (e - 1) : 0;
  bool up = false;
  if (mode == FE_TONEAREST) up = rest > half || (rest == half && rest != 0 && (q & 1));
  if (mode == FE_UPWARD) up = rest != 0 && !negative;
  if (mode == FE_DOWNWARD) up = rest != 0 && negative;
  q += up;
  const D r = std::ldexp(D(q), e);
  return negative ? -r : r;
}

template <class S>
S whole(int mode, S s) {
  if (mode == FE_TONEAREST) return canonical(std::rint(s));
  if (mode == FE_TOWARDZERO) return canonical(std::trunc(s));
  return canonical(mode == FE_DOWNWARD ? std::floor(s) : std::ceil(s));
}

/// Clamped; NaN as PTX ISA 9.0 says.
template <class D, class S>
D to_integer(int mode, S s) {
  if (s != s) return sizeof(S) == 8 || sizeof(D) == 8 ? D(u64(1) << (8 * sizeof(D) - 1)) : D(0);
  const long double r = whole(mode, static_cast<long double>(s));
  const long double lo = std::numeric_limits<D>::min(), hi = std::numeric_limits<D>::max();
  return r <= lo ? std::numeric_limits<D>::min() : r >= hi ? std::numeric_limits<D>::max() : D(r);
}

void to_integers(const Rounding& r) {
  const auto name = [&](const char* s) { return std::string(s) + r.name + "i"; };
  E1(i32, double, name("cvt_s32_f64"), (to_integer<i32>(r.mode, a)));
  E1(u32, double, name("cvt_u32_f64"), (to_integer<u32>(r.mode, a)));
  E1(i64, double, name("cvt_s64_f64"), (to_integer<i64>(r.mode, a)));
  E1(u64, double, name("cvt_u64_f64"), (to_integer<u64>(r.mode, a)));
  E1(i32, float, name("cvt_s32_f32"), (to_integer<i32>(r.mode, a)));
  E1(u32, float, name("cvt_u32_f32"), (to_integer<u32>(r.mode, a)));
  E1(i64, float, name("cvt_s64_f32"), (to_integer<i64>(r.mode, a)));
  E1(u64, float, name("cvt_u64_f32"), (to_integer<u64>(r.mode, a)));
  E1(double, double, name("cvt_f64_f64"), whole(r.mode, a));
  E1(float, float, name("cvt_f32_f32"), whole(r.mode, a));
}

void to_floats(const Rounding& r) {
  const auto name = [&](const char* s) { return std::string(s) + r.name; };
  E1(float, double, name("cvt_f32_f64"), (rounded_cast<float>(r.mode, a)));
  E1(float, i32, name("cvt_f32_s32"), (from_integer<float>(r.mode, a)));
  E1(float, u32, name("cvt_f32_u32"), (from_integer<float>(r.mode, a)));
  E1(float, i64, name("cvt_f32_s64"), (from_integer<float>(r.mode, a)));
  E1(float, u64, name("cvt_f32_u64"), (from_integer<float>(r.mode, a)));
  E1(double, i64, name("cvt_f64_s64"), (from_integer<double>(r.mode, a)));
  E1(double, u64, name("cvt_f64_u64"), (from_integer<double>(r.mode, a)));
}

void exact() {
  E1(double, float, "cvt_f64_f32", double(a));
  E1(double, i32, "cvt_f64_s32", double(a));
  E1(double, u32, "cvt_f64_u32", double(a));
  E1(i64, i32, "cvt_s64_s32", i64(a));
  E1(u64, u32, "cvt_u64_u32", u64(a));
  E1(u32, u64, "cvt_u32_u64", u32(a));
  E1(i32, i32, "cvt_s32_s8", i32(i8(a)));
  E1(u32, u32, "cvt_u32_u8", u32(u8(a)));
  E1(i32, i32, "cvt_s8_s32", i32(i8(a)));
  E1(i32, i32, "cvt_sat_u8_s32", a < 0 ? 0 : a > 255 ? 255 : a);
  E1(i32, i32, "cvt_sat_s16_s32", a < -32768 ? -32768 : a > 32767 ? 32767 : a);
}

}  // namespace

void conversions() {
  for (const Rounding& r : kRoundings) {
    to_floats(r);
    to_integers(r);
  }
  exact();
}

}  // namespace gpu_emulator::tests
