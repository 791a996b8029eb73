// Comparisons: setp, set.
#include <immintrin.h>

#include <type_traits>

#include "ptx/operations/float_values.hpp"
#include "ptx/operations/operations.hpp"
#include "ptx/program/lanes.hpp"

namespace gpu_emulator::ptx {
namespace {

/// Bits of 32 comparisons.
template <class T, class F>
inline u32 compare(const T* a, const T* b, F f) {
  u32 r = 0;
  if constexpr (sizeof(T) == 8) {
    alignas(64) i64 t[32];
    for (int l = 0; l < 32; ++l) t[l] = f(a[l], b[l]) ? -1 : 0;
    for (int k = 0; k < 8; ++k) {
      const auto* four = reinterpret_cast<const double*>(t + 4 * k);
      r |= u32(_mm256_movemask_pd(_mm256_load_pd(four))) << (4 * k);
    }
  } else if constexpr (sizeof(T) == 4) {
    alignas(64) i32 t[32];
    for (int l = 0; l < 32; ++l) t[l] = f(a[l], b[l]) ? -1 : 0;
    for (int k = 0; k < 4; ++k) {
      const auto* eight = reinterpret_cast<const float*>(t + 8 * k);
      r |= u32(_mm256_movemask_ps(_mm256_load_ps(eight))) << (8 * k);
    }
  } else {
    for (int l = 0; l < 32; ++l) r |= u32(f(a[l], b[l]) ? 1 : 0) << l;
  }
  return r;
}

template <class T, Compare k>
inline bool holds(T a, T b) {
  // Not short-circuit: these vectorise.
  if constexpr (k == Compare::eq) return a == b;
  if constexpr (k == Compare::ne) {
    return std::is_floating_point_v<T> ? (a < b) | (a > b) : a != b;
  }
  if constexpr (k == Compare::lt) return a < b;
  if constexpr (k == Compare::le) return a <= b;
  if constexpr (k == Compare::gt) return a > b;
  if constexpr (k == Compare::ge) return a >= b;
  if constexpr (k == Compare::equ) return !((a < b) | (a > b));
  if constexpr (k == Compare::neu) return a != b;
  if constexpr (k == Compare::ltu) return !(a >= b);
  if constexpr (k == Compare::leu) return !(a > b);
  if constexpr (k == Compare::gtu) return !(a <= b);
  if constexpr (k == Compare::geu) return !(a < b);
  if constexpr (k == Compare::num) return (a == a) & (b == b);
  if constexpr (k == Compare::nan) return (a != a) | (b != b);
}

inline u32 combined(u32 a, u32 b, u8 how) {
  return how == kCombineAnd ? a & b : how == kCombineOr ? a | b : a ^ b;
}

/// Operands: p, perhaps q, a, b, perhaps the predicate that both are combined with.
template <class T, Compare k, bool flushes>
void setp(Lanes& c, const Instruction& ins, u32 m) {
  const int s = ins.ndst;
  u32 p = compare(at<T>(c, ins.o[s]), at<T>(c, ins.o[s + 1]), [](T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return holds<T, k>(argument<flushes>(a), argument<flushes>(b));
    } else {
      return holds<T, k>(a, b);
    }
  });
  u32 q = ~p;
  if (const u8 how = ins.mode & kCombine; how != 0) {
    u32 e = *at<u32>(c, ins.o[s + 2]);
    if (ins.mode & kNegated) e = ~e;
    p = combined(p, e, how);
    q = combined(q, e, how);
  }
  u32& d = *at<u32>(c, ins.o[0]);
  d = (d & ~m) | (p & m);
  if (ins.mode & kSecondResult) {
    u32& d2 = *at<u32>(c, ins.o[1]);
    d2 = (d2 & ~m) | (q & m);
  }
}

template <class T, bool flushes>
Handler setp_of(Compare k) {
  constexpr Handler kAny[] = {&setp<T, Compare::eq, flushes>, &setp<T, Compare::ne, flushes>,
                              &setp<T, Compare::lt, flushes>, &setp<T, Compare::le, flushes>,
                              &setp<T, Compare::gt, flushes>, &setp<T, Compare::ge, flushes>};
  const auto index = std::size_t(k);
  if (k <= Compare::ge) return kAny[index];
  if constexpr (std::is_floating_point_v<T>) {
    constexpr Handler kFloats[] = {
        &setp<T, Compare::equ, flushes>, &setp<T, Compare::neu, flushes>,
        &setp<T, Compare::ltu, flushes>, &setp<T, Compare::leu, flushes>,
        &setp<T, Compare::gtu, flushes>, &setp<T, Compare::geu, flushes>,
        &setp<T, Compare::num, flushes>, &setp<T, Compare::nan, flushes>};
    return kFloats[index - std::size_t(Compare::equ)];
  }
  return nullptr;
}

/// From a predicate. mode: 1.0, or all bits.
void set_value(Lanes& c, const Instruction& ins, u32 m) {
  const u32 p = *at<u32>(c, ins.o[1]);
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    at<u32>(c, ins.o[0])[l] = (p >> l) & 1 ? (ins.mode != 0 ? 0x3f800000U : kAll) : 0;
  }
}

}  // namespace

Handler pick_setp(Type t, Compare k, bool ftz) {
  switch (t) {
    case Type::s16:
      return setp_of<i16, false>(k);
    case Type::u16:
    case Type::b16:
      return setp_of<u16, false>(k);
    case Type::s32:
      return setp_of<i32, false>(k);
    case Type::u32:
    case Type::b32:
      return setp_of<u32, false>(k);
    case Type::s64:
      return setp_of<i64, false>(k);
    case Type::u64:
    case Type::b64:
      return setp_of<u64, false>(k);
    case Type::f32:
      return ftz ? setp_of<float, true>(k) : setp_of<float, false>(k);
    case Type::f64:
      return setp_of<double, false>(k);
    default:
      return nullptr;
  }
}

Handler pick_set_value(Type t, Instruction& ins) {
  ins.mode = t == Type::f32;
  return &set_value;
}

}  // namespace gpu_emulator::ptx
