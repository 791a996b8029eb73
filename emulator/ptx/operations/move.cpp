// mov, selp, slct, and parts of registers.
#include <cstring>

#include "ptx/operations/each_lane.hpp"
#include "ptx/operations/operations.hpp"

namespace gpu_emulator::ptx {
namespace {

template <class T>
void copy_register(Lanes& c, u32 m, T* d, const T* a) {
  if (m == kAll)
    std::memmove(d, a, 32 * sizeof(T));
  else if (d != a)
    blend(c, m, d, a);
}

template <class T>
void mov(Lanes& c, const Instruction& ins, u32 m) {
  copy_register(c, m, at<T>(c, ins.o[0]), at<T>(c, ins.o[1]));
}
struct Same {
  static inline u32 f(u32 a) { return a; }
};

template <class T>
void selp(Lanes& c, const Instruction& ins, u32 m) {  // d, a, b, p
  T* d = at<T>(c, ins.o[0]);
  const T *a = at<T>(c, ins.o[1]), *b = at<T>(c, ins.o[2]);
  const u32 p = *at<u32>(c, ins.o[3]);
  if ((p & m) == m) return copy_register(c, m, d, a);
  if ((p & m) == 0) return copy_register(c, m, d, b);
  using Wide = std::conditional_t<sizeof(T) == 8, u64, u32>;  // as wide as a lane: it vectorises
  const Wide q = p;
  alignas(64) T r[32];
  for (Wide l = 0; l < 32; ++l) r[l] = (q >> l) & 1 ? a[l] : b[l];
  if (m == kAll)
    std::memcpy(d, r, sizeof r);
  else
    blend(c, m, d, r);
}

template <class T, class C>
void slct(Lanes& c, const Instruction& ins, u32 m) {  // d, a, b, c
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const bool first = at<C>(c, ins.o[3])[l] >= C(0);
    at<T>(c, ins.o[0])[l] = first ? at<T>(c, ins.o[1])[l] : at<T>(c, ins.o[2])[l];
  }
}
template <class C>
Handler slct_of(unsigned bytes) {
  return bytes == 2 ? &slct<u16, C> : bytes == 4 ? &slct<u32, C> : &slct<u64, C>;
}

template <class D, class S>
void pack(Lanes& c, const Instruction& ins, u32 m) {
  constexpr int n = sizeof(D) / sizeof(S);
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    D r = 0;
    for (int k = 0; k < n; ++k) r |= D(at<S>(c, ins.o[1 + k])[l]) << (8 * sizeof(S) * k);
    at<D>(c, ins.o[0])[l] = r;
  }
}

template <class D, class S>
void unpack(Lanes& c, const Instruction& ins, u32 m) {
  constexpr int n = sizeof(D) / sizeof(S);
  const D* from = at<D>(c, ins.o[n]);
  if (m == kAll && n == 2) {
    S *d0 = at<S>(c, ins.o[0]), *d1 = at<S>(c, ins.o[1]);
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) {
      d0[l] = S(from[l]);
      d1[l] = S(from[l] >> (8 * sizeof(S)));
    }
    return;
  }
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const D v = from[l];
    for (int k = 0; k < n; ++k) at<S>(c, ins.o[k])[l] = S(v >> (8 * sizeof(S) * k));
  }
}

template <class D, class S>
Handler pack_of(bool to_one) {
  return to_one ? &pack<D, S> : &unpack<D, S>;
}

}  // namespace

Handler pick_mov(Register r) {
  switch (r) {
    case Register::pred:
      return &unary_predicate<Same>;
    case Register::half:
      return &mov<u16>;
    case Register::word:
      return &mov<u32>;
    default:
      return &mov<u64>;
  }
}

Handler pick_selp(Register r) {
  return r == Register::half ? &selp<u16> : r == Register::word ? &selp<u32> : &selp<u64>;
}

Handler pick_slct(const Opcode& op) {
  const unsigned bytes = width(op.type[0]);
  if (op.type[1] == Type::s32) return slct_of<i32>(bytes);
  return op.type[1] == Type::f32 ? slct_of<float>(bytes) : nullptr;
}

Handler pick_pack(Register whole, Register part, bool to_one) {
  if (whole == Register::wide && part == Register::word) return pack_of<u64, u32>(to_one);
  if (whole == Register::wide && part == Register::half) return pack_of<u64, u16>(to_one);
  if (whole == Register::word && part == Register::half) return pack_of<u32, u16>(to_one);
  return nullptr;
}

}  // namespace gpu_emulator::ptx
