// Arithmetic of floats.
#include "elements.cuh"

#define ALL_ROUNDINGS(r)                                                     \
  F2(f_add_##r, "add." #r ".f32 %0,%1,%2;")                                  \
  F2(f_sub_##r, "sub." #r ".f32 %0,%1,%2;")                                  \
  F2(f_mul_##r, "mul." #r ".f32 %0,%1,%2;")                                  \
  F2(f_div_##r, "div." #r ".f32 %0,%1,%2;")                                  \
  F3(f_fma_##r, "fma." #r ".f32 %0,%1,%2,%3;")                               \
  F1(f_sqrt_##r, "sqrt." #r ".f32 %0,%1;")                                   \
  F1(f_rcp_##r, "rcp." #r ".f32 %0,%1;")                                     \
  D2(d_add_##r, "add." #r ".f64 %0,%1,%2;")                                  \
  D2(d_sub_##r, "sub." #r ".f64 %0,%1,%2;")                                  \
  D2(d_mul_##r, "mul." #r ".f64 %0,%1,%2;")                                  \
  D2(d_div_##r, "div." #r ".f64 %0,%1,%2;")                                  \
  D3(d_fma_##r, "fma." #r ".f64 %0,%1,%2,%3;")                               \
  D1(d_sqrt_##r, "sqrt." #r ".f64 %0,%1;")                                   \
  D1(d_rcp_##r, "rcp." #r ".f64 %0,%1;")                                     \
  OP1(cvt_f32_f64_##r, float, "f", double, "d", "cvt." #r ".f32.f64 %0,%1;") \
  OP1(cvt_f32_s32_##r, float, "f", i32, "r", "cvt." #r ".f32.s32 %0,%1;")    \
  OP1(cvt_f32_u32_##r, float, "f", u32, "r", "cvt." #r ".f32.u32 %0,%1;")    \
  OP1(cvt_f32_s64_##r, float, "f", i64, "l", "cvt." #r ".f32.s64 %0,%1;")    \
  OP1(cvt_f32_u64_##r, float, "f", u64, "l", "cvt." #r ".f32.u64 %0,%1;")    \
  OP1(cvt_f64_s64_##r, double, "d", i64, "l", "cvt." #r ".f64.s64 %0,%1;")   \
  OP1(cvt_f64_u64_##r, double, "d", u64, "l", "cvt." #r ".f64.u64 %0,%1;")
ALL_ROUNDINGS(rn)
ALL_ROUNDINGS(rz)
ALL_ROUNDINGS(rm)
ALL_ROUNDINGS(rp)
F2(f_add_ftz, "add.rn.ftz.f32 %0,%1,%2;")
F2(f_mul_ftz, "mul.rn.ftz.f32 %0,%1,%2;")
F2(f_div_ftz, "div.rn.ftz.f32 %0,%1,%2;")
F3(f_fma_ftz, "fma.rn.ftz.f32 %0,%1,%2,%3;")
F2(f_add_sat, "add.rn.sat.f32 %0,%1,%2;")
F3(f_fma_sat, "fma.rn.sat.f32 %0,%1,%2,%3;")
F2(f_min, "min.f32 %0,%1,%2;")
F2(f_max, "max.f32 %0,%1,%2;")
F2(f_min_nan, "min.NaN.f32 %0,%1,%2;")
F2(f_max_nan, "max.NaN.f32 %0,%1,%2;")
D2(d_min, "min.f64 %0,%1,%2;")
D2(d_max, "max.f64 %0,%1,%2;")
F1(f_neg, "neg.f32 %0,%1;")
F1(f_abs, "abs.f32 %0,%1;")
D1(d_neg, "neg.f64 %0,%1;")
D1(d_abs, "abs.f64 %0,%1;")
F2(f_copysign, "copysign.f32 %0,%1,%2;")
D2(d_copysign, "copysign.f64 %0,%1,%2;")
F1(f_approx, "sqrt.approx.f32 %0,%1;")
