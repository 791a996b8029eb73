// Conversions between types.
#include "elements.cuh"

#define TO_INT(r)                                                             \
  OP1(cvt_s32_f64_##r, i32, "r", double, "d", "cvt." #r ".s32.f64 %0,%1;")    \
  OP1(cvt_u32_f64_##r, u32, "r", double, "d", "cvt." #r ".u32.f64 %0,%1;")    \
  OP1(cvt_s64_f64_##r, i64, "l", double, "d", "cvt." #r ".s64.f64 %0,%1;")    \
  OP1(cvt_u64_f64_##r, u64, "l", double, "d", "cvt." #r ".u64.f64 %0,%1;")    \
  OP1(cvt_s32_f32_##r, i32, "r", float, "f", "cvt." #r ".s32.f32 %0,%1;")     \
  OP1(cvt_u32_f32_##r, u32, "r", float, "f", "cvt." #r ".u32.f32 %0,%1;")     \
  OP1(cvt_s64_f32_##r, i64, "l", float, "f", "cvt." #r ".s64.f32 %0,%1;")     \
  OP1(cvt_u64_f32_##r, u64, "l", float, "f", "cvt." #r ".u64.f32 %0,%1;")     \
  OP1(cvt_f64_f64_##r, double, "d", double, "d", "cvt." #r ".f64.f64 %0,%1;") \
  OP1(cvt_f32_f32_##r, float, "f", float, "f", "cvt." #r ".f32.f32 %0,%1;")
TO_INT(rni)
TO_INT(rzi)
TO_INT(rmi)
TO_INT(rpi)
OP1(cvt_f64_f32, double, "d", float, "f", "cvt.f64.f32 %0,%1;")
OP1(cvt_f64_s32, double, "d", i32, "r", "cvt.rn.f64.s32 %0,%1;")
OP1(cvt_f64_u32, double, "d", u32, "r", "cvt.rn.f64.u32 %0,%1;")
OP1(cvt_s64_s32, i64, "l", i32, "r", "cvt.s64.s32 %0,%1;")
OP1(cvt_u64_u32, u64, "l", u32, "r", "cvt.u64.u32 %0,%1;")
OP1(cvt_u32_u64, u32, "r", u64, "l", "cvt.u32.u64 %0,%1;")
OP1(cvt_s32_s8, i32, "r", i32, "r", "cvt.s32.s8 %0,%1;")
OP1(cvt_u32_u8, u32, "r", u32, "r", "cvt.u32.u8 %0,%1;")
OP1(cvt_s8_s32, i32, "r", i32, "r", "{.reg .s16 t; cvt.s8.s32 t,%1; cvt.s32.s16 %0,t;}")
OP1(cvt_sat_u8_s32, i32, "r", i32, "r", "{.reg .u16 t; cvt.sat.u8.s32 t,%1; cvt.u32.u16 %0,t;}")
OP1(cvt_sat_s16_s32, i32, "r", i32, "r", "{.reg .s16 t; cvt.sat.s16.s32 t,%1; cvt.s32.s16 %0,t;}")
