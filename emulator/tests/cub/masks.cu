// What CUB asks of the device.
#include "support.cuh"
#include "tests.cuh"

namespace {

/// bmsk, with which CUB ranks: bits [thread, thread + block), clamped and wrapped.
__global__ void masks(unsigned* out) {
  unsigned clamped, wrapped;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(clamped) : "r"(threadIdx.x), "r"(blockIdx.x));
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(wrapped) : "r"(threadIdx.x), "r"(blockIdx.x));
  unsigned* const mine = out + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  mine[0] = clamped;
  mine[1] = wrapped;
}
}  // namespace

void instructions() {
  constexpr unsigned kMost = 70;
  Device<unsigned> out(2 * kMost * kMost);
  masks<<<kMost, kMost>>>(out.p);
  std::vector<unsigned> want(2 * kMost * kMost, 0);
  for (unsigned width = 0; width < kMost; ++width) {
    for (unsigned from = 0; from < kMost; ++from) {
      unsigned* const w = want.data() + 2 * (width * kMost + from);
      for (unsigned bit = 0; bit < 32; ++bit) {
        if (bit >= from && bit < from + width) w[0] |= 1U << bit;
        if (bit >= from % 32 && bit < from % 32 + width % 32) w[1] |= 1U << bit;
      }
    }
  }
  same("bmsk", int(kMost), out.host(), want);
  cudaFuncAttributes attributes{};
  CUDA(cudaFuncGetAttributes(&attributes, masks));
  same("version of the PTX", 1, std::vector<int>{attributes.ptxVersion}, {80});
}
