// Lanes of a warp with one another.
#include "kernel.cuh"

KERNEL shuffles(const int* in, int* out) {
  const int i = threadIdx.x;
  const int v = in[i];
  out[i] = __shfl_sync(~0u, v, i * 7 + 3);
  out[32 + i] = __shfl_up_sync(~0u, v, 3);
  out[64 + i] = __shfl_down_sync(~0u, v, 5);
  out[96 + i] = __shfl_xor_sync(~0u, v, 9);
  out[128 + i] = __shfl_sync(~0u, v, i + 2, 8);
  out[160 + i] = __shfl_up_sync(~0u, v, 3, 8);
  out[192 + i] = __shfl_down_sync(~0u, v, 5, 16);
  out[224 + i] = __shfl_xor_sync(~0u, v, 5, 8);
  u32 p;
  asm volatile(
      "{.reg .pred p; .reg .b32 t; shfl.sync.down.b32 t|p,%1,4,0x1f,-1; selp.u32 %0,1,0,p;}"
      : "=r"(p)
      : "r"(v));
  out[256 + i] = p;
}
// Groups of 8 lanes, each with a loop of its own length, and sums with masks of their own.
KERNEL groups(const double* in, double* out, const int* length) {
  const int lane = threadIdx.x % 8, g = threadIdx.x / 8;
  const unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
  double total = 0;
  for (int k = 0; k < length[g]; ++k) {
    double v = in[(g * 8 + lane + k) % 64];
    for (int o = 4; o > 0; o /= 2) v += __shfl_xor_sync(mask, v, o, 8);
    total += v * (k + 1);
    __syncwarp(mask);
  }
  out[threadIdx.x] = total;
}
KERNEL votes(const int* in, u32* out) {
  const int i = threadIdx.x;
  const bool p = in[i] > 0;
  out[i] = __ballot_sync(~0u, p);
  out[32 + i] = __any_sync(~0u, in[i] == 12345678);
  out[64 + i] = __all_sync(~0u, in[i] != 12345678);
  out[96 + i] = __uni_sync(~0u, p);
  if (i % 2)
    out[128 + i] = __ballot_sync(0xaaaaaaaau, p);
  else
    out[128 + i] = __ballot_sync(0x55555555u, !p);
  out[160 + i] = __match_any_sync(~0u, in[i] & 3);
  int pred = 0;
  const u32 all = __match_all_sync(~0u, 5LL, &pred);
  out[192 + i] = all + (pred ? 0 : 1);
  out[224 + i] = __reduce_add_sync(~0u, u32(in[i]));
  out[256 + i] = u32(__reduce_min_sync(~0u, in[i]));
  out[288 + i] = i < 10 ? __activemask() != 0 : 1;
}
// Half the lanes exit; the mask still names them.
KERNEL exited(int* out) {
  const int i = threadIdx.x;
  out[i] = -1;
  if (i >= 16) return;
  __syncwarp(~0u);
  out[i] = __popc(__ballot_sync(~0u, true));
}
// Lanes meet from two places of the program.
KERNEL two_places(int* out) {
  const int i = threadIdx.x;
  int r;
  if (i & 1) {
    asm volatile("{bar.warp.sync -1; shfl.sync.idx.b32 %0,%1,0,0x1f,-1;}" : "=r"(r) : "r"(i + 100));
  } else {
    asm volatile("{bar.warp.sync -1; shfl.sync.idx.b32 %0,%1,0,0x1f,-1;}" : "=r"(r) : "r"(i + 200));
    r += 5;
  }
  out[i] = r;
}
