// Blocks that wait for one another.
#include "support.cuh"
#include "tests.cuh"

namespace {

/// Block b waits for block b + 1, with each kind of load that a program may wait with.
__global__ void chain(int* flags, int kind) {
  __shared__ int got;
  const int next = int(blockIdx.x) + 1;
  if (threadIdx.x == 0) {
    got = 0;
    if (next < int(gridDim.x)) {
      if (kind == 0) {
        while (*static_cast<volatile int*>(flags + next) == 0) {
        }
      } else if (kind == 1) {
        while (atomicAdd(flags + next, 0) == 0) {
        }
      } else if (kind == 2) {
        while (atomicCAS(flags + next, 1 << 30, 0) == 0) __nanosleep(20);
      } else {
        int v = 0;
        do
          asm volatile("ld.acquire.gpu.global.b32 %0, [%1];"
                       : "=r"(v)
                       : "l"(flags + next)
                       : "memory");
        while (v == 0);
      }
      got = kind == 0 ? *static_cast<volatile int*>(flags + next) : atomicAdd(flags + next, 0);
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) atomicExch(flags + blockIdx.x, got + 1);
}

/// Everybody waits for the next one, the last for the first.
__global__ void circle(volatile int* flags) {
  while (flags[(blockIdx.x + 1) % gridDim.x] == 0) {
  }
  flags[blockIdx.x] = 1;
}
}  // namespace

void hang() {
  Device<int> flags(5);
  CUDA(cudaMemset(flags.p, 0, sizeof(int) * 5));
  circle<<<5, 64>>>(flags.p);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess && cudaGetLastError() == cudaSuccess) ++failures;
}

void waiting() {
  for (int kind = 0; kind < 4; ++kind) {
    const int blocks = 200;
    Device<int> flags(blocks);
    CUDA(cudaMemset(flags.p, 0, sizeof(int) * blocks));
    chain<<<blocks, 64>>>(flags.p, kind);
    CUDA(cudaDeviceSynchronize());
    std::vector<int> want(blocks);
    for (int i = 0; i < blocks; ++i) want[i] = blocks - i;
    same("chain of blocks", kind, flags.host(), want);
  }
}
