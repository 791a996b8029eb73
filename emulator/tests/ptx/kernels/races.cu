// Hazards: each wrong kernel has a right twin.
#include "kernel.cuh"

template <bool fixed>
__device__ void reverse_in_shared(int* out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
  if (fixed) __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
}
KERNEL race_block(int* out) { reverse_in_shared<false>(out); }
KERNEL race_block_fixed(int* out) { reverse_in_shared<true>(out); }
template <bool fixed>
__device__ void reuse(int* out) {  // the second barrier is missing: read, then written again
  __shared__ int s[64];
  for (int k = 0; k < 3; ++k) {
    s[threadIdx.x] = threadIdx.x + k;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
    if (fixed) __syncthreads();
  }
}
KERNEL race_reuse(int* out) { reuse<false>(out); }
KERNEL race_reuse_fixed(int* out) { reuse<true>(out); }
// Lanes of a warp rely on being in step: no barrier between them.
template <bool fixed>
__device__ void warp_synchronous(int* out) {
  __shared__ volatile int s[64];
  const int i = threadIdx.x;
  s[i] = i + 1;
  s[32 + i] = 0;
  if (fixed) __syncwarp();
  for (int o = 16; o > 0; o /= 2) {
    const int v = s[i + o];
    if (fixed) __syncwarp();
    s[i] = s[i] + v;
    if (fixed) __syncwarp();
  }
  out[i] = s[0];
}
KERNEL race_warp(int* out) { warp_synchronous<false>(out); }
KERNEL race_warp_fixed(int* out) { warp_synchronous<true>(out); }
// A shuffle orders no memory.
KERNEL race_shuffle(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  const int v = __shfl_sync(~0u, 3, 0);
  out[threadIdx.x] = s[31 - threadIdx.x] + v;
}
// Groups of 8 lanes need only their own barrier; 16 lanes' data with barriers of 8 is a race.
template <int group>
__device__ void eights(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp(0xffu << (threadIdx.x / 8 * 8));
  out[threadIdx.x] = s[threadIdx.x ^ (group - 1)];
}
KERNEL race_groups(int* out) { eights<16>(out); }
KERNEL race_groups_fixed(int* out) { eights<8>(out); }
KERNEL race_same_write(int* out) {
  __shared__ volatile int s;
  s = 3;
  __syncthreads();
  out[threadIdx.x] = s;
}
KERNEL race_bytes_fixed(int* out) {  // neighbouring bytes of a word are no race
  __shared__ unsigned char s[64];
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x] = s[threadIdx.x] + 1;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
KERNEL race_atomic_fixed(int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  __syncthreads();
  out[threadIdx.x] = s;
}
KERNEL race_atomic(int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  out[threadIdx.x] = s;
}
KERNEL race_atomic_write(int* out) {
  __shared__ int s;
  if (threadIdx.x == 40) s = 0;
  atomicAdd(&s, 1);
  __syncthreads();
  out[threadIdx.x] = s;
}
KERNEL race_global(int* out, int* scratch) {
  scratch[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = scratch[63 - threadIdx.x];
}
KERNEL race_global_fixed(int* out, int* scratch) {
  scratch[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = scratch[63 - threadIdx.x];
}
