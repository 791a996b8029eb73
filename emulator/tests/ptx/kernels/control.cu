// Branches.
#include "kernel.cuh"

KERNEL collatz(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = in[i];
  int steps = 0;
  while (x != 1) {
    if (x % 2)
      x = 3 * x + 1;
    else
      x /= 2;
    ++steps;
    if (steps > 400) break;
  }
  out[i] = steps;
}
KERNEL nested(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  int s = 0;
  for (int a = 0; a < in[i]; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((a ^ b ^ i) & 1) continue;
      if (b > 7 + i % 5) break;
      s += a * b + i;
    }
    if (s > 100000) {
      out[i] = -s;
      return;
    }
  }
  out[i] = s;
}
KERNEL switched(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = 0;
  switch (in[i] & 15) {
    case 0:
      r = in[i] * 3;
      break;
    case 1:
      r = in[i] + 17;
      break;
    case 2:
      r = in[i] / 7;
      break;
    case 3:
      r = -in[i];
      break;
    case 4:
      r = in[i] ^ 0x55;
      break;
    case 5:
      r = 99;
      break;
    case 6:
      r = in[i] << 3;
      break;
    case 7:
      r = in[i] % 13;
      break;
    case 8:
      r = 8 - in[i];
      break;
    default:
      r = 1;
  }
  out[i] = r;
}
// A guarded write keeps what was there; labels of braces are their own.
KERNEL guarded(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  int total = 0;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    int r;
    asm volatile(
        "{.reg .pred p,q; .reg .b32 t,u,v; setp.gt.s32 p,%2,%3; setp.gt.s32 q,%2,40; mov.b32 "
        "%0,%1; @q bra A; add.s32 t,%2,5;"
        "mul.lo.s32 u,t,t; xor.b32 v,u,t; bra B; A: mul.lo.s32 t,%2,7; add.s32 u,t,1; xor.b32 "
        "v,t,9; B: @p add.s32 %0,u,v;}"
        : "=r"(r)
        : "r"(1000 + i + k), "r"(in[i]), "r"(10 * k));
    total = total * 3 + r;
  }
  out[i] = total;
}
