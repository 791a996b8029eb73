// Functions of numbers, applied to the lanes of a warp at once. Lanes that are masked off are
// computed too, and not written. A function is a struct with a static member `f`.
#pragma once
#include <bit>

#include "ptx/program/lanes.hpp"

namespace gpu_emulator::ptx {

template <class D>
inline void blend(Lanes& c, u32 m, D* __restrict d, const D* r) {
  c.expand(m);
  if constexpr (sizeof(D) == 8) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) d[l] = c.mask64[l] ? r[l] : d[l];
  } else {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) d[l] = c.mask32[l] ? r[l] : d[l];
  }
}

// The lanes of all registers lie side by side: a lane's result may overwrite its own sources.

template <class F, class D, class A>
void unary(Lanes& c, const Instruction& ins, u32 m) {
  D* d = at<D>(c, ins.o[0]);
  const A* a = at<A>(c, ins.o[1]);
  if (m == kAll) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) d[l] = F::f(a[l]);
  } else {
    alignas(64) D r[32];
    for (int l = 0; l < 32; ++l) r[l] = F::f(a[l]);
    blend(c, m, d, r);
  }
}

template <class F, class D, class A, class B>
void binary(Lanes& c, const Instruction& ins, u32 m) {
  D* d = at<D>(c, ins.o[0]);
  const A* a = at<A>(c, ins.o[1]);
  const B* b = at<B>(c, ins.o[2]);
  if (m == kAll) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) d[l] = F::f(a[l], b[l]);
  } else {
    alignas(64) D r[32];
    for (int l = 0; l < 32; ++l) r[l] = F::f(a[l], b[l]);
    blend(c, m, d, r);
  }
}

template <class F, class D, class A, class B, class C>
void ternary(Lanes& c, const Instruction& ins, u32 m) {
  D* d = at<D>(c, ins.o[0]);
  const A* a = at<A>(c, ins.o[1]);
  const B* b = at<B>(c, ins.o[2]);
  const C* e = at<C>(c, ins.o[3]);
  if (m == kAll) {
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) d[l] = F::f(a[l], b[l], e[l]);
  } else {
    alignas(64) D r[32];
    for (int l = 0; l < 32; ++l) r[l] = F::f(a[l], b[l], e[l]);
    blend(c, m, d, r);
  }
}

/// Active lanes alone: what does not vectorise, or may trap.
template <class F, class D, class A, class B>
void binary_by_lane(Lanes& c, const Instruction& ins, u32 m) {
  D* d = at<D>(c, ins.o[0]);
  const A* a = at<A>(c, ins.o[1]);
  const B* b = at<B>(c, ins.o[2]);
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    d[l] = F::f(a[l], b[l]);
  }
}

/// Bits of predicates.
template <class F>
void unary_predicate(Lanes& c, const Instruction& ins, u32 m) {
  u32& d = *at<u32>(c, ins.o[0]);
  d = (d & ~m) | (F::f(*at<u32>(c, ins.o[1])) & m);
}
template <class F>
void binary_predicate(Lanes& c, const Instruction& ins, u32 m) {
  u32& d = *at<u32>(c, ins.o[0]);
  d = (d & ~m) | (F::f(*at<u32>(c, ins.o[1]), *at<u32>(c, ins.o[2])) & m);
}

template <class F, class T, int sources>
Handler handler_of() {
  if constexpr (sources == 1) return &unary<F, T, T>;
  if constexpr (sources == 2) return &binary<F, T, T, T>;
  if constexpr (sources == 3) return &ternary<F, T, T, T, T>;
}

}  // namespace gpu_emulator::ptx
