// Arithmetic of integers.
#include <algorithm>

#include "elements.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

void compared() {
  E2(i32, i32, i32, "i_lt", a < b);
  E2(i32, u32, u32, "i_hi", a > b);
  E2(i32, i64, i64, "l_ge", a >= b);
  E3(i32, i32, i32, i32, "i_setp_and", c > 0 ? 0 : a < b ? 1 : 2);
  E2(u32, i32, i32, "i_set", a <= b ? ~0U : 0U);
}

i32 clamped(i64 x) { return i32(std::clamp<i64>(x, INT32_MIN, INT32_MAX)); }
i64 low24(u32 x) { return i32(x << 8) >> 8; }

void words() {
  E2(u32, u32, u32, "i_add", a + b);
  E2(u32, u32, u32, "i_add_sat", u32(clamped(i64(i32(a)) + i32(b))));
  E2(u32, u32, u32, "i_sub", a - b);
  E2(u32, u32, u32, "i_mul_lo", a * b);
  E2(u32, u32, u32, "i_mul_hi_s", u32((i64(i32(a)) * i32(b)) >> 32));
  E2(u32, u32, u32, "i_mul_hi_u", u32((u64(a) * b) >> 32));
  E2(u32, u32, u32, "i_div_s", b == 0 ? ~0U : u32(i64(i32(a)) / i32(b)));
  E2(u32, u32, u32, "i_rem_s", b == 0 ? a : u32(i64(i32(a)) % i32(b)));
  E2(u32, u32, u32, "i_div_u", b == 0 ? ~0U : a / b);
  E2(u32, u32, u32, "i_min_s", u32(std::min(i32(a), i32(b))));
  E2(u32, u32, u32, "i_max_u", std::max(a, b));
  E2(u32, u32, u32, "i_mul24", u32(low24(a) * low24(b)));
  E3(u32, u32, u32, u32, "i_sad", c + (i32(a) < i32(b) ? b - a : a - b));
}

void wide() {
  E2(u64, u64, u64, "l_mul_lo", a * b);
  E2(u64, u64, u64, "l_mul_hi_s", u64((i128(i64(a)) * i64(b)) >> 64));
  E2(u64, u64, u64, "l_mul_hi_u", u64((u128(a) * b) >> 64));
  E2(u64, u64, u64, "l_div_s", b == 0 ? ~u64(0) : u64(i128(i64(a)) / i64(b)));
  E2(u64, u64, u64, "l_rem_u", b == 0 ? a : a % b);
  E2(u64, u64, u64, "l_min_s", u64(std::min(i64(a), i64(b))));
  E2(u64, u32, u32, "i_mul_wide_s", u64(i64(i32(a)) * i32(b)));
  E3(u64, u32, u32, u64, "i_mad_wide_u", u64(a) * b + c);
  E3(u32, u32, u32, u32, "i_mad_hi", u32((i64(i32(a)) * i32(b)) >> 32) + c);
}

u64 carry_product(u64 a, u64 b) {
  const u64 p = u64(u32(a)) * u32(b);
  const u64 low = (p & 0xffffffffU) + (a >> 32);
  const u32 high = u32((p >> 32) + (b >> 32) + (low >> 32));
  return u64(high) << 32 | u32(low);
}

}  // namespace

void integers() {
  compared();
  words();
  wide();
  E2(u64, u64, u64, "carry_add", a + b);
  E2(u64, u64, u64, "carry_sub", a - b);
  E2(u64, u64, u64, "carry_mad", carry_product(a, b));
}

}  // namespace gpu_emulator::tests
