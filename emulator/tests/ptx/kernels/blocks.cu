// Threads of a block with one another.
#include "kernel.cuh"

KERNEL block_sum(const double* in, double* out, int n) {
  __shared__ double part[8];
  double s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += in[i];
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) s += part[w];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
KERNEL block_votes(const int* in, int* out) {
  const int i = threadIdx.x;
  out[i] = __syncthreads_or(in[i] == 7);
  out[blockDim.x + i] = __syncthreads_and(in[i] >= 0);
  out[2 * blockDim.x + i] = __syncthreads_count(in[i] & 1);
}
// Threads that have exited count as arrived.
KERNEL early(int* out) {
  __shared__ int s[128];
  if (threadIdx.x >= 70) return;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[69 - threadIdx.x];
}
// Named barriers: warps 0 and 1 by one, 2 and 3 by another.
KERNEL named(int* out) {
  __shared__ int s[128];
  const int half = threadIdx.x / 64;
  s[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  out[threadIdx.x] = s[half * 64 + 63 - threadIdx.x % 64];
}
KERNEL producer(int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = 5 * threadIdx.x;
    asm volatile("bar.arrive 3, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 3, 64;" ::: "memory");
    out[threadIdx.x - 32] = s[63 - threadIdx.x];
  }
}
KERNEL dynamic(const int* in, int* out, int n) {
  extern __shared__ int memory[];
  __shared__ int fixed[4];
  if (threadIdx.x < 4) fixed[threadIdx.x] = 100 * threadIdx.x;
  int* const p = n > 5 ? memory : fixed;  // generic
  memory[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = p[(threadIdx.x + 1) % n] + fixed[threadIdx.x & 3];
}
KERNEL atomics(u32* o, u64* l, float* f, double* d, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ u32 s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(o, 1u);
  atomicMax(reinterpret_cast<int*>(o) + 1, in[i]);
  atomicMin(o + 2, u32(in[i]));
  atomicAnd(o + 3, ~(1u << (i & 31)));
  atomicOr(o + 4, 1u << (i & 31));
  atomicXor(o + 5, u32(in[i]));
  atomicInc(o + 6, 9);
  atomicDec(o + 7, 9);
  atomicAdd(l, u64(in[i]) << 20);
  atomicMax(l + 1, u64(u32(in[i])));
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  for (u32 old = atomicAdd(o + 8, 0u);;) {  // a product by compare and swap
    const u32 seen = atomicCAS(o + 8, old, old * 3);
    if (seen == old) break;
    old = seen;
  }
  atomicExch(o + 9, 77u);
  atomicAdd(&s[i & 3], 2u);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(o + 10 + threadIdx.x, s[threadIdx.x]);
}
KERNEL spin(int* lock, int* value,
            int* out) {  // a lock that every lane takes: needs independent lanes
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *reinterpret_cast<volatile int*>(value) = *reinterpret_cast<volatile int*>(value) + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
  out[threadIdx.x] = 1;
}
KERNEL copy_async(const int4* in, int* out) {
  __shared__ int4 s[32];
  const u32 to = u32(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x)
               : "memory");
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x].z;
}
