// Whether groups of lanes that share a warp run together after the primitives that the kernels use.
#pragma once
#include "gpu_probe.cuh"

namespace probe {

enum Primitive { barrier, butterfly, reduction, vote, all_of_them };

struct GroupMemory {
  double* out;
  int* together;
  long long* cycles;
};

/// Lanes that run together right after a primitive of groups of L lanes, and the cycles of a step
/// of 16 multiply-adds and the primitive, all groups of a warp beginning together. If the groups of
/// a warp are taken apart by it, fewer than 32 lanes run together, and a step takes 32 / L as long.
template <int L, Primitive kWhat>
__global__ void group_kernel(GroupMemory m, int steps, double a) {
  const unsigned mask =
      L == 32 ? 0xffffffffU : ((1U << (L & 31)) - 1U) << (threadIdx.x % 32 / L * L);
  double x = 1.0 + threadIdx.x;
  int least = 32;
  __syncwarp();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) x = fma(a, x, 1.0);
    if (kWhat == barrier || kWhat == all_of_them) __syncwarp(mask);
    if (kWhat == butterfly || kWhat == all_of_them) x += __shfl_xor_sync(mask, x, L / 2, L);
    if (kWhat == reduction || kWhat == all_of_them) {
      x += double(__reduce_max_sync(mask, unsigned(i) ^ threadIdx.x));
    }
    if (kWhat == vote || kWhat == all_of_them) x += __any_sync(mask, x > 1e300) ? 1.0 : 0.0;
    least = min(least, __popc(__activemask()));
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *m.cycles = end - start;
  m.together[threadIdx.x] = least;
  m.out[threadIdx.x] = x;
}

template <int L, Primitive kWhat>
void group(const GroupMemory& m, const char* name, const char* after) {
  const int steps = dry() ? 3 : 2000;
  for (int i = 0; i < 2; ++i) {  // the first loads the code
    group_kernel<L, kWhat><<<1, 32>>>(m, steps, 0.999);
    check(cudaDeviceSynchronize(), "group_kernel");
  }
  int together[32];
  long long cycles = 0;
  check(cudaMemcpy(together, m.together, sizeof together, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemcpy(&cycles, m.cycles, sizeof cycles, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::printf("    \"%s_%d\": {\"lanes_together\": %d, \"cycles\": %.1f}%s\n", name, L,
              *std::min_element(together, together + 32), double(cycles) / steps, after);
}

template <int L>
void groups(const GroupMemory& m, const char* after) {
  group<L, barrier>(m, "syncwarp", ",");
  group<L, butterfly>(m, "shfl_xor", ",");
  group<L, reduction>(m, "reduce_max", ",");
  group<L, vote>(m, "any", ",");
  group<L, all_of_them>(m, "all", after);
}

}  // namespace probe
