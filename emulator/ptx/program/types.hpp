// The types of PTX, and how registers are stored.
#pragma once
#include <cstdint>

namespace gpu_emulator::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

constexpr u32 kAll = 0xffffffffU;   // every lane
constexpr u32 kNone = 0xffffffffU;  // no such index

// Generic addresses: global ones are the host's own (below 2^47), the others lie in windows.
constexpr u64 kSharedWindow = u64(1) << 48;
constexpr u64 kLocalWindow = u64(1) << 49;
constexpr u64 kWindowSize = u64(1) << 32;

// In the order of their widths.
enum class Type : u8 {
  none,
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  f16,
  bf16,
  b32,
  u32,
  s32,
  f32,
  f16x2,
  b64,
  u64,
  s64,
  f64,
  b128
};
inline unsigned width(Type t) {
  if (t == Type::none || t == Type::pred) return 0;
  if (t <= Type::s8) return 1;
  if (t <= Type::bf16) return 2;
  if (t <= Type::f16x2) return 4;
  return t == Type::b128 ? 16 : 8;
}
inline bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
inline bool is_float(Type t) {
  return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::bf16;
}

enum class Space : u8 { generic, global, shared, local, param, constant };
enum class Round : u8 { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };
enum class Compare : u8 { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Atomic : u8 { none, add, min, max, inc, dec, cas, exch, and_, or_, xor_ };

/// Registers of a function, per warp: 32 lanes side by side. A predicate is one word, a bit per
/// lane; the others have 2, 4 or 8 bytes per lane.
enum class Register : u8 { pred, half, word, wide };
inline unsigned slot_bytes(Register r) {
  switch (r) {
    case Register::pred:
      return 4;
    case Register::half:
      return 64;
    case Register::word:
      return 128;
    default:
      return 256;
  }
}
inline unsigned lane_bytes(Register r) { return r == Register::pred ? 0 : slot_bytes(r) / 32; }
inline Register register_of(Type t) {
  const unsigned bytes = width(t);
  if (bytes == 0) return Register::pred;
  return bytes <= 2 ? Register::half : bytes == 4 ? Register::word : Register::wide;
}

/// Registers that the machine sets, and addresses that it knows only when a block runs.
enum class Special : u8 {
  none,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  smid,
  nsmid,
  gridid,
  dynamic_smem_size,
  total_smem_size,
  dynamic_shared,
  local_base,
  param_base,
  cluster_one,
  cluster_zero
};

inline u64 align_up(u64 x, u64 to) { return (x + to - 1) / to * to; }

}  // namespace gpu_emulator::ptx
