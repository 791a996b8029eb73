// Bits of integers.
#include "elements.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

u32 lowest(u64 x, u32 n) { return n >= 32 ? u32(x) : u32(x & ((u64(1) << n) - 1)); }

u32 permuted(u32 a, u32 b, u32 selector) {
  u8 bytes[8];
  std::memcpy(bytes, &a, 4);
  std::memcpy(bytes + 4, &b, 4);
  u32 r = 0;
  for (int k = 0; k < 4; ++k) {
    const u32 s = selector >> (4 * k) & 15;
    const u32 v = s & 8 ? (bytes[s & 7] >> 7 ? 255 : 0) : bytes[s & 7];
    r |= v << (8 * k);
  }
  return r;
}

u32 extracted(u32 a, u32 pos, u32 len) {
  if (len == 0) return 0;
  const i64 wide = i64(i32(a));  // sign beyond the top bit
  return u32(i64(u64(wide >> pos) << (64 - len)) >> (64 - len));
}

u32 inserted(u32 a, u32 b, u32 pos, u32 len) {
  const u32 m = u32(((u64(1) << len) - 1) << pos);
  return (b & ~m) | (u32(u64(a) << pos) & m);
}

u32 reversed(u32 a) {
  u32 r = 0;
  for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
  return r;
}

u32 found(u64 a) {
  const u64 v = i64(a) < 0 ? ~a : a;
  return v != 0 ? 63 - u32(std::countl_zero(v)) : ~0U;
}

}  // namespace

void bits() {
  E2(u32, u32, u32, "i_shl", b > 31 ? 0 : a << b);
  E2(u32, u32, u32, "i_shr_s", u32(i32(a) >> (b > 31 ? 31 : b)));
  E2(u32, u32, u32, "i_shr_u", b > 31 ? 0 : a >> b);
  E3(u32, u32, u32, u32, "i_shf_l", u32(((u64(b) << 32 | a) << (c & 31)) >> 32));
  E3(u32, u32, u32, u32, "i_shf_r", c >= 32 ? b : u32((u64(b) << 32 | a) >> c));
  E3(u32, u32, u32, u32, "i_prmt", permuted(a, b, c));
  E3(u32, u32, u32, u32, "i_lop3", a ^ b ^ c);
  E3(u32, u32, u32, u32, "i_lop3b", (a & b) | (a & c) | (b & c));
  E3(u32, u32, u32, u32, "i_bfe_u", (b & 63) > 31 ? 0 : lowest(a >> (b & 63), c & 63));
  E3(u32, u32, u32, u32, "i_bfe_s", extracted(a, b & 63, c & 63));
  E3(u32, u32, u32, u32, "i_bfi", inserted(a, b, c & 31, c >> 27));
  E1(u32, u32, "i_popc", u32(std::popcount(a)));
  E1(u32, u64, "l_popc", u32(std::popcount(a)));
  E1(u32, u32, "i_clz", u32(std::countl_zero(a)));
  E1(u32, u64, "l_clz", u32(std::countl_zero(a)));
  E1(u32, u32, "i_brev", reversed(a));
  E1(u32, u32, "i_bfind", a != 0 ? 31 - u32(std::countl_zero(a)) : ~0U);
  E1(u32, u64, "l_bfind_s", found(a));
  E3(u32, u32, u32, i32, "i_slct", c >= 0 ? a : b);
}

}  // namespace gpu_emulator::tests
