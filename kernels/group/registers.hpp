// One vector register of the CPU for which a kernel is compiled. Two forms: `Register`, for runs of
// numbers of one environment (lanes.hpp), and `PackRegister`, one number of each of some
// environments (pack.hpp), with the operations that the compiler's vector types do not have.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/group/math.hpp"

// Code outside the kernels is compiled for any x86-64 and has none of them, nor have kernels of a
// GPU.
#if !defined(__CUDACC__) && (defined(__AVX2__) || defined(__aarch64__))
#define SS_REGISTERS

namespace stickslip::kernels::inline SS_ISA {

/// max(v, |a|), entry by entry, for any of the compiler's vector types.
template <class Vector>
SS_INNER Vector larger(Vector v, Vector a) {
  const Vector size = a < Vector{} ? -a : a;
  return v < size ? size : v;
}

/// One vector register of `bytes` bytes: load, store, and fused multiply-add.
template <class Real, int bytes>
struct Register;

template <class T>
struct PackRegister;

/// m ? a : b, for the compiler's vector types.
template <class V, class M>
SS_INNER V blend(M m, V a, V b) {
  return m ? a : b;
}

}  // namespace stickslip::kernels::inline SS_ISA

#if defined(__aarch64__)
#include "kernels/group/registers_neon.hpp"
#else
#include "kernels/group/registers_x86.hpp"
#endif

namespace stickslip::kernels::inline SS_ISA {

/// The mask of a register of T in which lane l is bit l.
template <class T>
SS_INNER auto lanes_of(unsigned bits) {
  using M = typename PackRegister<T>::M;
  if constexpr (std::is_integral_v<M>) {
    return M(bits);
  } else {
    typename PackRegister<T>::Bits own;
    for (int l = 0; l < kRegisterBytes / int(sizeof(T)); ++l) own[l] = 1 << l;
    return (own & int(bits)) != 0;
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
#endif
