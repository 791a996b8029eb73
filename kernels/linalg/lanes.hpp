// A run of C consecutive numbers that one lane of a group handles together: one number on a GPU,
// 16 in vector registers on a CPU. Written with the compiler's vector types, because its loop
// vectoriser gives up on short loops inside larger ones.
#pragma once
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real, int C>
struct Lanes;

template <class Real>
struct Lanes<Real, 1> {
  Real v;
  SS_HD static Lanes load(const Real* p) { return {*p}; }
  SS_HD static Lanes zero() { return {Real(0)}; }
  SS_HD void store(Real* p) const { *p = v; }
  /// this += a * x
  template <class A>
  SS_HD void add(const A* a, Real x) {
    v = fma(Real(*a), x, v);
  }
};

#if !defined(__CUDACC__)
template <class Real, int C>
struct Lanes {
  static constexpr int kWidth = C * sizeof(Real) > 64 ? 64 / sizeof(Real) : C;
  static constexpr int kVectors = C / kWidth;
  typedef Real Vector
      __attribute__((vector_size(kWidth * sizeof(Real)), aligned(sizeof(Real)), may_alias));
  Vector v[kVectors];

  SS_HD static Lanes load(const Real* p) {
    Lanes r;
    for (int k = 0; k < kVectors; ++k) r.v[k] = *reinterpret_cast<const Vector*>(p + k * kWidth);
    return r;
  }
  SS_HD static Lanes zero() {
    Lanes r;
    for (int k = 0; k < kVectors; ++k) r.v[k] = Vector{};
    return r;
  }
  SS_HD void store(Real* p) const {
    for (int k = 0; k < kVectors; ++k) *reinterpret_cast<Vector*>(p + k * kWidth) = v[k];
  }
  template <class A>
  SS_HD void add(const A* a, Real x) {
    for (int k = 0; k < kVectors; ++k) {
      Vector sum;
      for (int l = 0; l < kWidth; ++l) sum[l] = fma(Real(a[k * kWidth + l]), x, v[k][l]);
      v[k] = sum;
    }
  }
};
#endif

}  // namespace stickslip::kernels::inline SS_ISA
