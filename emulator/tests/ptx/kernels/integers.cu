// Arithmetic and bits of integers.
#include "elements.cuh"

OP2(i_lt, i32, "r", i32, "r", i32, "r", "{.reg .pred p; setp.lt.s32 p,%1,%2; selp.s32 %0,1,0,p;}")
OP2(i_hi, i32, "r", u32, "r", u32, "r", "{.reg .pred p; setp.hi.u32 p,%1,%2; selp.s32 %0,1,0,p;}")
OP2(l_ge, i32, "r", i64, "l", i64, "l", "{.reg .pred p; setp.ge.s64 p,%1,%2; selp.s32 %0,1,0,p;}")
OP3(i_setp_and, i32, "r", i32, "r", i32, "r", i32, "r",
    "{.reg .pred p,q,c; setp.gt.s32 c,%3,0; setp.lt.and.s32 p|q,%1,%2,!c; selp.s32 %0,1,0,p; @q "
    "add.s32 %0,%0,2;}")
OP2(i_set, u32, "r", i32, "r", i32, "r", "set.le.u32.s32 %0,%1,%2;")
#define I2(name, text) OP2(name, u32, "r", u32, "r", u32, "r", text)
#define L2(name, text) OP2(name, u64, "l", u64, "l", u64, "l", text)
I2(i_add, "add.s32 %0,%1,%2;")
I2(i_add_sat, "add.sat.s32 %0,%1,%2;")
I2(i_sub, "sub.s32 %0,%1,%2;")
I2(i_mul_lo, "mul.lo.s32 %0,%1,%2;")
I2(i_mul_hi_s, "mul.hi.s32 %0,%1,%2;")
I2(i_mul_hi_u, "mul.hi.u32 %0,%1,%2;")
I2(i_div_s, "div.s32 %0,%1,%2;")
I2(i_rem_s, "rem.s32 %0,%1,%2;")
I2(i_div_u, "div.u32 %0,%1,%2;")
I2(i_min_s, "min.s32 %0,%1,%2;")
I2(i_max_u, "max.u32 %0,%1,%2;")
I2(i_shl, "shl.b32 %0,%1,%2;")
I2(i_shr_s, "shr.s32 %0,%1,%2;")
I2(i_shr_u, "shr.u32 %0,%1,%2;")
I2(i_mul24, "mul24.lo.s32 %0,%1,%2;")
L2(l_mul_lo, "mul.lo.s64 %0,%1,%2;")
L2(l_mul_hi_s, "mul.hi.s64 %0,%1,%2;")
L2(l_mul_hi_u, "mul.hi.u64 %0,%1,%2;")
L2(l_div_s, "div.s64 %0,%1,%2;")
L2(l_rem_u, "rem.u64 %0,%1,%2;")
L2(l_min_s, "min.s64 %0,%1,%2;")
OP2(i_mul_wide_s, u64, "l", u32, "r", u32, "r", "mul.wide.s32 %0,%1,%2;")
OP3(i_mad_wide_u, u64, "l", u32, "r", u32, "r", u64, "l", "mad.wide.u32 %0,%1,%2,%3;")
OP3(i_mad_hi, u32, "r", u32, "r", u32, "r", u32, "r", "mad.hi.s32 %0,%1,%2,%3;")
OP3(i_shf_l, u32, "r", u32, "r", u32, "r", u32, "r", "shf.l.wrap.b32 %0,%1,%2,%3;")
OP3(i_shf_r, u32, "r", u32, "r", u32, "r", u32, "r", "shf.r.clamp.b32 %0,%1,%2,%3;")
OP3(i_prmt, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32 %0,%1,%2,%3;")
OP3(i_lop3, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0,%1,%2,%3,0x96;")
OP3(i_lop3b, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0,%1,%2,%3,0xe8;")
OP3(i_bfe_s, u32, "r", u32, "r", u32, "r", u32, "r",
    "{.reg .u32 x,y; and.b32 x,%2,63; and.b32 y,%3,63; bfe.s32 %0,%1,x,y;}")
OP3(i_bfe_u, u32, "r", u32, "r", u32, "r", u32, "r",
    "{.reg .u32 x,y; and.b32 x,%2,63; and.b32 y,%3,63; bfe.u32 %0,%1,x,y;}")
OP3(i_bfi, u32, "r", u32, "r", u32, "r", u32, "r",
    "{.reg .u32 x,y; and.b32 x,%3,31; shr.u32 y,%3,27; bfi.b32 %0,%1,%2,x,y;}")
OP1(i_popc, u32, "r", u32, "r", "popc.b32 %0,%1;")
OP1(l_popc, u32, "r", u64, "l", "popc.b64 %0,%1;")
OP1(i_clz, u32, "r", u32, "r", "clz.b32 %0,%1;")
OP1(l_clz, u32, "r", u64, "l", "clz.b64 %0,%1;")
OP1(i_brev, u32, "r", u32, "r", "brev.b32 %0,%1;")
OP1(l_bfind_s, u32, "r", u64, "l", "bfind.s64 %0,%1;")
OP1(i_bfind, u32, "r", u32, "r", "bfind.u32 %0,%1;")
OP3(i_slct, u32, "r", u32, "r", u32, "r", i32, "r", "slct.b32.s32 %0,%1,%2,%3;")
OP3(i_sad, u32, "r", u32, "r", u32, "r", u32, "r", "sad.s32 %0,%1,%2,%3;")
OP2(carry_add, u64, "l", u64, "l", u64, "l",
    "{.reg .b32 a,b,c,d,e,f; mov.b64 {a,b},%1; mov.b64 {c,d},%2; add.cc.u32 e,a,c; addc.u32 f,b,d; "
    "mov.b64 %0,{e,f};}")
OP2(carry_sub, u64, "l", u64, "l", u64, "l",
    "{.reg .b32 a,b,c,d,e,f; mov.b64 {a,b},%1; mov.b64 {c,d},%2; sub.cc.u32 e,a,c; subc.u32 f,b,d; "
    "mov.b64 %0,{e,f};}")
OP2(carry_mad, u64, "l", u64, "l", u64, "l",
    "{.reg .b32 a,b,c,d,e,f; mov.b64 {a,b},%1; mov.b64 {c,d},%2; mad.lo.cc.u32 e,a,c,b; "
    "madc.hi.u32 f,a,c,d; mov.b64 %0,{e,f};}")
