// Kernels that are wrong, each in its way, and their right twins.
#include "kernel.cuh"

KERNEL out_of_bounds(int* out, int n) { out[threadIdx.x + n] = 1; }
KERNEL out_of_shared(int* out, int n) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + n];
}
KERNEL out_of_local(const int* in, int* out) {
  int a[16];
  for (int k = 0; k < 16; ++k) a[k] = in[k];
  out[threadIdx.x] = a[in[16]];
}
KERNEL misaligned(char* p, int* out) { out[threadIdx.x] = *reinterpret_cast<int*>(p + 2); }
template <bool fixed>
__device__ void part_written(int* out) {
  __shared__ int s[64];
  if (fixed || threadIdx.x < 63) s[threadIdx.x] = 4;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
KERNEL unwritten(int* out) { part_written<false>(out); }
KERNEL unwritten_fixed(int* out) { part_written<true>(out); }
KERNEL unwritten_local(const int* in, int* out) {
  int a[16];
  a[in[0]] = 3;
  out[threadIdx.x] = a[in[1]];
}
KERNEL unwritten_copied(int* out) {
  asm volatile("{ .local .b32 q[2]; .reg .b32 r; ld.local.b32 r, [q]; st.local.b32 [q + 4], r; }");
  out[threadIdx.x] = 0;
}
KERNEL deadlock_warp(int* out) {  // lane 0 is waited for with another mask
  if (threadIdx.x < 16)
    __syncwarp(~0u);
  else
    __syncwarp(0xffff0001u);
  out[threadIdx.x] = 1;
}
KERNEL deadlock_block(int* out) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 128;" ::: "memory");
  else
    __syncthreads();
  out[threadIdx.x] = 1;
}
KERNEL wrong_mask(int* out) { out[threadIdx.x] = __shfl_sync(0xffffu, 3, 0); }
KERNEL hang(volatile int* flag) {
  while (*flag == 0) {
  }
}
KERNEL traps(int* out) {
  if (threadIdx.x == 5) __trap();
  out[threadIdx.x] = 1;
}
