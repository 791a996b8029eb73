// Comparisons of floats.
#include "elements.cuh"

#define CMP(k)                                                       \
  OP2(d_##k, i32, "r", double, "d", double, "d",                     \
      "{.reg .pred p; setp." #k ".f64 p,%1,%2; selp.s32 %0,1,0,p;}") \
  OP2(f_##k, i32, "r", float, "f", float, "f",                       \
      "{.reg .pred p; setp." #k ".f32 p,%1,%2; selp.s32 %0,1,0,p;}")
CMP(eq)
CMP(ne)
CMP(lt)
CMP(le)
CMP(gt)
CMP(ge)
CMP(equ)
CMP(neu)
CMP(ltu)
CMP(leu)
CMP(gtu)
CMP(geu)
CMP(num)
CMP(nan)
#define TESTP(k)                                                                                  \
  OP1(td_##k, i32, "r", double, "d", "{.reg .pred p; testp." #k ".f64 p,%1; selp.s32 %0,1,0,p;}") \
  OP1(tf_##k, i32, "r", float, "f", "{.reg .pred p; testp." #k ".f32 p,%1; selp.s32 %0,1,0,p;}")
TESTP(finite)
TESTP(infinite)
TESTP(number)
TESTP(notanumber)
TESTP(normal)
TESTP(subnormal)
