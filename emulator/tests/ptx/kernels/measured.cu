// What is measured: exposure of lockstep, transactions, speed.
#include "kernel.cuh"

// Right only where all lanes run in step; no race checker needed: some schedule shows it.
KERNEL in_step(int* out) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = -1;
  __syncwarp();
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[31 - threadIdx.x];
}
KERNEL in_step_fixed(int* out) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = -1;
  __syncwarp();
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
KERNEL conflicts(int* out, int stride) {
  __shared__ volatile double d[1024];
  __shared__ volatile int s[1024];
  s[threadIdx.x * stride] = threadIdx.x;
  d[threadIdx.x * stride] = threadIdx.x;
  out[threadIdx.x * stride] = 1;
}
KERNEL speed_double(double* out, int n) {
  double a = threadIdx.x, b = 1.0000001, c = 0.5, d = 0.25;
  for (int i = 0; i < n; ++i) {
    a = __fma_rn(a, b, c);
    d = __fma_rn(d, b, a);
    c = __dadd_rn(c, d);
    b = __dmul_rn(b, 0.999999);
  }
  out[threadIdx.x] = a + b + c + d;
}
KERNEL speed_shared(float* out, int n) {
  __shared__ float s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  float x = 0;
  for (int i = 0; i < n; ++i) x = __fadd_rn(x, s[(threadIdx.x + i) & 31]);
  out[threadIdx.x] = x;
}
