// NEON, of every aarch64 (registers.hpp). Same order of operations as on x86: the bits are the
// same.
#pragma once
#include <arm_neon.h>

#include "kernels/group/registers.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr int kRegisterBytes = 16;

template <>
struct Register<double, 16> {
  float64x2_t v;
  SS_INNER static Register load(const double* p) { return {vld1q_f64(p)}; }
  SS_INNER static Register load(const float* p) { return {vcvt_f64_f32(vld1_f32(p))}; }
  SS_INNER static Register all(double x) { return {vdupq_n_f64(x)}; }
  SS_INNER void store(double* p) const { vst1q_f64(p, v); }
  SS_INNER void add(Register a, Register x) { v = vfmaq_f64(v, a.v, x.v); }
  SS_INNER void raise(float64x2_t a) { v = larger(v, a); }
  SS_INNER Register magnitude() const { return {vabsq_f64(v)}; }
};

template <>
struct Register<float, 16> {
  float32x4_t v;
  SS_INNER static Register load(const float* p) { return {vld1q_f32(p)}; }
  SS_INNER static Register all(float x) { return {vdupq_n_f32(x)}; }
  SS_INNER void store(float* p) const { vst1q_f32(p, v); }
  SS_INNER void add(Register a, Register x) { v = vfmaq_f32(v, a.v, x.v); }
  SS_INNER void raise(float32x4_t a) { v = larger(v, a); }
  SS_INNER Register magnitude() const { return {vabsq_f32(v)}; }
};

// min and max are those of x86: the second operand where one is NaN or both are zeros.
template <>
struct PackRegister<float> {
  using V = float32x4_t;
  using M = decltype(V{} < V{});
  using Bits __attribute__((vector_size(kRegisterBytes))) = std::int32_t;
  SS_INNER static V fma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
  SS_INNER static V sqrt(V a) { return vsqrtq_f32(a); }
  SS_INNER static V min(V a, V b) { return blend(a < b, a, b); }
  SS_INNER static V max(V a, V b) { return blend(b < a, a, b); }
  SS_INNER static M less(V a, V b) { return a < b; }
  SS_INNER static M less_equal(V a, V b) { return a <= b; }
  SS_INNER static M equal(V a, V b) { return a == b; }
  SS_INNER static V select(M m, V a, V b) { return blend(m, a, b); }
  SS_INNER static V load(const float* p, int count) {
    V r{};
    for (int l = 0; l < count; ++l) r[l] = p[l];
    return r;
  }
};
template <>
struct PackRegister<double> {
  using V = float64x2_t;
  using M = decltype(V{} < V{});
  using Bits __attribute__((vector_size(kRegisterBytes))) = std::int64_t;
  SS_INNER static V fma(V a, V b, V c) { return vfmaq_f64(c, a, b); }
  SS_INNER static V sqrt(V a) { return vsqrtq_f64(a); }
  SS_INNER static V min(V a, V b) { return blend(a < b, a, b); }
  SS_INNER static V max(V a, V b) { return blend(b < a, a, b); }
  SS_INNER static M less(V a, V b) { return a < b; }
  SS_INNER static M less_equal(V a, V b) { return a <= b; }
  SS_INNER static M equal(V a, V b) { return a == b; }
  SS_INNER static V select(M m, V a, V b) { return blend(m, a, b); }
  SS_INNER static V load(const double* p, int count) {
    V r{};
    for (int l = 0; l < count; ++l) r[l] = p[l];
    return r;
  }
};
template <int half>
SS_INNER float64x2_t widen(float32x4_t a) {
  return half == 0 ? vcvt_f64_f32(vget_low_f32(a)) : vcvt_high_f64_f32(a);
}
SS_INNER float32x4_t narrow(float64x2_t low, float64x2_t high) {
  return vcvt_high_f32_f64(vcvt_f32_f64(low), high);
}
/// Bit l: the mask value of lane l.
template <class M>
SS_INNER unsigned lane_bits(M m) {
  unsigned bits = 0;
  for (int l = 0; l < int(sizeof(m) / sizeof(m[0])); ++l) bits |= unsigned(m[l] != 0) << l;
  return bits;
}

}  // namespace stickslip::kernels::inline SS_ISA
