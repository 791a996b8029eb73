// A run of C consecutive numbers that one lane of a group handles together: one number on a GPU, 16
// in vector registers on a CPU. Written with explicit vector registers, because compilers do not
// vectorise short loops inside larger ones.
#pragma once
// Host code outside the kernels is compiled for any x86-64 and reads only constants of this header.
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Two consecutive numbers, which a GPU loads together.
template <class Real>
struct alignas(2 * sizeof(Real)) Couple {
  Real first, second;
};
/// The two at p, an even number of entries from the begin of an array.
template <class Real>
SS_INNER Couple<Real> pair_at(const Real* p) {
  return *reinterpret_cast<const Couple<Real>*>(p);
}

#if defined(__AVX2__) && !defined(__CUDACC__)
/// max(v, |a|), entry by entry, for any of the compiler's vector types.
template <class Vector>
SS_INNER Vector larger(Vector v, Vector a) {
  const Vector size = a < Vector{} ? -a : a;
  return v < size ? size : v;
}

/// One vector register of `bytes` bytes: load, store, and fused multiply-add.
template <class Real, int bytes>
struct Register;

template <>
struct Register<double, 32> {
  __m256d v;
  SS_INNER static Register load(const double* p) { return {_mm256_loadu_pd(p)}; }
  SS_INNER static Register load(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
  SS_INNER static Register all(double x) { return {_mm256_set1_pd(x)}; }
  SS_INNER void store(double* p) const { _mm256_storeu_pd(p, v); }
  SS_INNER void add(Register a, Register x) { v = _mm256_fmadd_pd(a.v, x.v, v); }
  SS_INNER void raise(__m256d a) { v = larger(v, a); }
  SS_INNER Register magnitude() const { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), v)}; }
};

template <>
struct Register<float, 32> {
  __m256 v;
  SS_INNER static Register load(const float* p) { return {_mm256_loadu_ps(p)}; }
  SS_INNER static Register all(float x) { return {_mm256_set1_ps(x)}; }
  SS_INNER void store(float* p) const { _mm256_storeu_ps(p, v); }
  SS_INNER void add(Register a, Register x) { v = _mm256_fmadd_ps(a.v, x.v, v); }
  SS_INNER void raise(__m256 a) { v = larger(v, a); }
  SS_INNER Register magnitude() const { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0F), v)}; }
};

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;

template <>
struct Register<double, 64> {
  __m512d v;
  SS_INNER static Register load(const double* p) { return {_mm512_loadu_pd(p)}; }
  SS_INNER static Register load(const float* p) {
    return {__builtin_convertvector(_mm256_loadu_ps(p), __m512d)};
  }
  SS_INNER static Register all(double x) { return {_mm512_set1_pd(x)}; }
  SS_INNER void store(double* p) const { _mm512_storeu_pd(p, v); }
  SS_INNER void add(Register a, Register x) { v = _mm512_fmadd_pd(a.v, x.v, v); }
  SS_INNER void raise(__m512d a) { v = larger(v, a); }
  SS_INNER Register magnitude() const { return {_mm512_abs_pd(v)}; }
};

template <>
struct Register<float, 64> {
  __m512 v;
  SS_INNER static Register load(const float* p) { return {_mm512_loadu_ps(p)}; }
  SS_INNER static Register all(float x) { return {_mm512_set1_ps(x)}; }
  SS_INNER void store(float* p) const { _mm512_storeu_ps(p, v); }
  SS_INNER void add(Register a, Register x) { v = _mm512_fmadd_ps(a.v, x.v, v); }
  SS_INNER void raise(__m512 a) { v = larger(v, a); }
  SS_INNER Register magnitude() const { return {_mm512_abs_ps(v)}; }
};
#else
inline constexpr int kRegisterBytes = 32;
#endif

template <class Real, int C>
struct Lanes {
  static constexpr int kBytes = min(C * int(sizeof(Real)), kRegisterBytes);
  static constexpr int kWidth = kBytes / int(sizeof(Real)), kRegisters = C / kWidth;
  using Vector = Register<Real, kBytes>;
  Vector v[kRegisters];

  template <class A>
  SS_INNER static Lanes load(const A* p) {
    Lanes r;
    for (int k = 0; k < kRegisters; ++k) r.v[k] = Vector::load(p + k * kWidth);
    return r;
  }
  SS_INNER static Lanes all(Real x) {
    Lanes r;
    for (int k = 0; k < kRegisters; ++k) r.v[k] = Vector::all(x);
    return r;
  }
  SS_INNER void store(Real* p) const {
    for (int k = 0; k < kRegisters; ++k) v[k].store(p + k * kWidth);
  }
  /// this += a * x
  SS_INNER void add(const Lanes& a, Real x) {
    const Vector factor = Vector::all(x);
    for (int k = 0; k < kRegisters; ++k) v[k].add(a.v[k], factor);
  }
  /// this = max(this, |a|), entry by entry
  SS_INNER void raise(const Lanes& a) {
    for (int k = 0; k < kRegisters; ++k) v[k].raise(a.v[k].v);
  }
  /// |this|, entry by entry
  SS_INNER Lanes magnitude() const {
    Lanes r;
    for (int k = 0; k < kRegisters; ++k) r.v[k] = v[k].magnitude();
    return r;
  }
  /// Largest entry
  SS_INNER Real max() const {
    Vector top = v[0];
    for (int k = 1; k < kRegisters; ++k) top.raise(v[k].v);
    Real part[kWidth];
    top.store(part);
    for (int half = kWidth / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) part[l] = kernels::max(part[l], part[l + half]);
    }
    return part[0];
  }
};
#else
template <class Real, int C>
struct Lanes;
#endif

template <class Real>
struct Lanes<Real, 1> {
  Real v;

  template <class A>
  SS_INNER static Lanes load(const A* p) {
    return {Real(*p)};
  }
  SS_INNER static Lanes all(Real x) { return {x}; }
  SS_INNER void store(Real* p) const { *p = v; }
  SS_INNER void add(const Lanes& a, Real x) { v = fma(a.v, x, v); }
  SS_INNER void raise(const Lanes& a) { v = kernels::max(v, abs(a.v)); }
  SS_INNER Lanes magnitude() const { return {abs(v)}; }
  SS_INNER Real max() const { return v; }
};

}  // namespace stickslip::kernels::inline SS_ISA
