// AVX2 and AVX-512 (registers.hpp).
#pragma once
#include <immintrin.h>

#include "kernels/group/registers.hpp"

namespace stickslip::kernels::inline SS_ISA {

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

// Masked with all lanes: g++ 12 warns of uninitialised values in its own unmasked forms.
// Conversions are intrinsics too: g++ splits __builtin_convertvector into two of half the width and
// joins the results.
template <>
struct PackRegister<float> {
  using V = __m512;
  using M = __mmask16;
  using Bits __attribute__((vector_size(kRegisterBytes))) = std::int32_t;
  SS_INNER static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  SS_INNER static V sqrt(V a) { return _mm512_maskz_sqrt_ps(__mmask16(-1), a); }
  SS_INNER static V min(V a, V b) { return _mm512_maskz_min_ps(__mmask16(-1), a, b); }
  SS_INNER static V max(V a, V b) { return _mm512_maskz_max_ps(__mmask16(-1), a, b); }
  SS_INNER static M less(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  SS_INNER static M less_equal(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
  SS_INNER static M equal(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  SS_INNER static V select(M m, V a, V b) { return _mm512_mask_blend_ps(m, b, a); }
  SS_INNER static V load(const float* p, int count) {
    return _mm512_maskz_loadu_ps(__mmask16((1U << count) - 1U), p);
  }
};
template <>
struct PackRegister<double> {
  using V = __m512d;
  using M = __mmask8;
  using Bits __attribute__((vector_size(kRegisterBytes))) = std::int64_t;
  SS_INNER static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  SS_INNER static V sqrt(V a) { return _mm512_maskz_sqrt_pd(__mmask8(-1), a); }
  SS_INNER static V min(V a, V b) { return _mm512_maskz_min_pd(__mmask8(-1), a, b); }
  SS_INNER static V max(V a, V b) { return _mm512_maskz_max_pd(__mmask8(-1), a, b); }
  SS_INNER static M less(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  SS_INNER static M less_equal(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
  SS_INNER static M equal(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
  SS_INNER static V select(M m, V a, V b) { return _mm512_mask_blend_pd(m, b, a); }
  SS_INNER static V load(const double* p, int count) {
    return _mm512_maskz_loadu_pd(__mmask8((1U << count) - 1U), p);
  }
};
template <int half>
SS_INNER __m512d widen(__m512 a) {
  constexpr int o = 8 * half;
  const __m256 part =
      __builtin_shufflevector(a, a, o, o + 1, o + 2, o + 3, o + 4, o + 5, o + 6, o + 7);
  return _mm512_maskz_cvtps_pd(__mmask8(-1), part);
}
SS_INNER __m512 narrow(__m512d low, __m512d high) {
  const __m256 a = _mm512_maskz_cvtpd_ps(__mmask8(-1), low);
  const __m256 b = _mm512_maskz_cvtpd_ps(__mmask8(-1), high);
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/// Bit l: the mask value of lane l.
SS_INNER unsigned lane_bits(__mmask16 m) { return m; }
SS_INNER unsigned lane_bits(__mmask8 m) { return m; }
#else
inline constexpr int kRegisterBytes = 32;

template <>
struct PackRegister<float> {
  using V = __m256;
  using M = decltype(V{} < V{});
  using Bits __attribute__((vector_size(kRegisterBytes))) = std::int32_t;
  SS_INNER static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  SS_INNER static V sqrt(V a) { return _mm256_sqrt_ps(a); }
  SS_INNER static V min(V a, V b) { return _mm256_min_ps(a, b); }
  SS_INNER static V max(V a, V b) { return _mm256_max_ps(a, b); }
  SS_INNER static M less(V a, V b) { return a < b; }
  SS_INNER static M less_equal(V a, V b) { return a <= b; }
  SS_INNER static M equal(V a, V b) { return a == b; }
  SS_INNER static V select(M m, V a, V b) { return blend(m, a, b); }
  SS_INNER static V load(const float* p, int count) {
    const Bits lane{0, 1, 2, 3, 4, 5, 6, 7};
    return _mm256_maskload_ps(p, (__m256i)(lane < count));
  }
};
template <>
struct PackRegister<double> {
  using V = __m256d;
  using M = decltype(V{} < V{});
  using Bits __attribute__((vector_size(kRegisterBytes))) = std::int64_t;
  SS_INNER static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  SS_INNER static V sqrt(V a) { return _mm256_sqrt_pd(a); }
  SS_INNER static V min(V a, V b) { return _mm256_min_pd(a, b); }
  SS_INNER static V max(V a, V b) { return _mm256_max_pd(a, b); }
  SS_INNER static M less(V a, V b) { return a < b; }
  SS_INNER static M less_equal(V a, V b) { return a <= b; }
  SS_INNER static M equal(V a, V b) { return a == b; }
  SS_INNER static V select(M m, V a, V b) { return blend(m, a, b); }
  SS_INNER static V load(const double* p, int count) {
    const Bits lane{0, 1, 2, 3};
    return _mm256_maskload_pd(p, (__m256i)(lane < count));
  }
};
template <int half>
SS_INNER __m256d widen(__m256 a) {
  return _mm256_cvtps_pd(half == 0 ? _mm256_castps256_ps128(a) : _mm256_extractf128_ps(a, 1));
}
SS_INNER __m256 narrow(__m256d low, __m256d high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
SS_INNER unsigned lane_bits(PackRegister<float>::M m) {
  return unsigned(_mm256_movemask_ps((__m256)m));
}
SS_INNER unsigned lane_bits(PackRegister<double>::M m) {
  return unsigned(_mm256_movemask_pd((__m256d)m));
}
#endif

}  // namespace stickslip::kernels::inline SS_ISA
