// Calls, variables, parameters, and what a thread knows of itself.
#include <cstdio>

#include "kernel.cuh"

struct Pair {
  double a;
  int b;
};
__device__ __noinline__ double depth(int n, double* p) {
  return n <= 1 ? p[0] : depth(n - 1, p) + n;
}
__device__ __noinline__ Pair swapped(Pair p) {
  Pair r;
  r.a = p.b;
  r.b = int(p.a);
  return r;
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ int (*table[2])(int) = {twice, square};
KERNEL calls(double* out, const int* in) {
  const int i = threadIdx.x;
  double local[2] = {double(i), 1.0};
  double r = depth(in[i], local);  // another depth in every lane
  const Pair p = swapped(Pair{r + 0.25, i});
  out[i] = p.a + 1000.0 * p.b + table[in[i] & 1](i);
}
KERNEL local_array(const int* index, int* out) {
  int a[32];
  for (int k = 0; k < 32; ++k) a[k] = k * k + threadIdx.x;
  for (int k = 0; k < 10; ++k) a[index[k] & 31] += a[index[k + 1] & 31];
  out[threadIdx.x] = a[index[threadIdx.x] & 31];
}
__constant__ int weights[4] = {3, 5, 7, 11};
__device__ double numbers[3] = {1.5, 2.5, -3.5};
__device__ double* addresses[2] = {numbers, numbers + 2};
KERNEL variables(double* out) {
  out[threadIdx.x] =
      weights[threadIdx.x & 3] + numbers[threadIdx.x % 3] + *addresses[threadIdx.x & 1];
}
struct Big {
  int n;
  double x[5];
  float y;
  unsigned char z[3];
};
__device__ __noinline__ double reads(const Big* b, int i) { return b->x[i]; }
KERNEL parameters(double* out, const __grid_constant__ Big big, unsigned char c, short s, float f) {
  const int i = threadIdx.x;
  out[i] = reads(&big, i % 5) + big.n + big.y + big.z[i % 3] + c + s + f;
}

KERNEL vectors(const float4* a, float4* b, const uchar4* c, int* d, const short2* e) {
  const int i = threadIdx.x;
  const float4 x = a[i];
  b[i] = make_float4(x.w, x.z, x.y, x.x);
  const uchar4 y = c[i];
  d[i] = y.x + 256 * y.y + 65536 * y.z + y.w * (e[i].x - e[i].y);
}
KERNEL indices(int* out) {
  u32 lt, le, eq, ge, gt, lane, warp;
  asm volatile("mov.u32 %0,%%lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0,%%lanemask_le;" : "=r"(le));
  asm volatile("mov.u32 %0,%%lanemask_eq;" : "=r"(eq));
  asm volatile("mov.u32 %0,%%lanemask_ge;" : "=r"(ge));
  asm volatile("mov.u32 %0,%%lanemask_gt;" : "=r"(gt));
  asm volatile("mov.u32 %0,%%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0,%%warpid;" : "=r"(warp));
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const bool ok = (lt | eq) == le && (gt | eq) == ge && (lt & ge) == 0 && lane == t % 32 &&
                  warp == t / 32 && eq == 1u << lane;
  out[block * blockDim.x * blockDim.y * blockDim.z + t] = ok ? t + 1000 * block : -1;
}
KERNEL printing(int x) { printf("%d %.2f %s %llx%%\n", x, 1.25, "text", 0x123456789abcull); }

// Parameters by generic addresses and by addresses that are computed.
KERNEL parameter_address(double* out, const __grid_constant__ Big big, int n) {
  const int i = threadIdx.x;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&big);
  out[i] = reads(&big, (i + n) % 5) + bytes[__builtin_offsetof(Big, z) + i % 3];
}
KERNEL parameter_indexed(float* out, Big big, int n) {  // ld.param of a register
  const int i = threadIdx.x;
  out[i] = float(big.x[(i + n) % 5]) + big.z[i % 3];
}
KERNEL parameter_spaces(int* out, const __grid_constant__ Big big) {
  u32 param, global;
  asm("{.reg .pred p; isspacep.param p,%1; selp.u32 %0,1,0,p;}" : "=r"(param) : "l"(&big));
  asm("{.reg .pred p; isspacep.global p,%1; selp.u32 %0,1,0,p;}" : "=r"(global) : "l"(&big));
  out[threadIdx.x] = int(param + 2 * global);
}
// Wrong: no parameter may be written, and none is there.
__device__ __noinline__ void writes(double* x, int i) { x[i] = 1; }
KERNEL parameter_written(double* out, const __grid_constant__ Big big, int n) {
  writes(const_cast<double*>(big.x), n);
}
KERNEL parameter_overrun(double* out, const __grid_constant__ Big big, int n) {
  out[threadIdx.x] = reads(&big, n);
}
