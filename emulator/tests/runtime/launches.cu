// Launches: results, and what is refused.
#include "scale.cuh"
#include "support.cuh"
#include "tests.cuh"

namespace {

__device__ int counter;
__constant__ float table[4] = {1, 2, 3, 4};

struct Launcher {
  void** arguments;
  cudaError_t operator()(const void* symbol, unsigned grid, unsigned block,
                         std::size_t shared) const {
    return cudaLaunchKernel(symbol, dim3(grid), dim3(block), arguments, shared, nullptr);
  }
};

void refused(const Launcher& launch, const void* kernel) {
  GIVES(launch(kernel, 0, 64, 256), cudaErrorInvalidConfiguration);
  GIVES(launch(kernel, 1, 0, 256), cudaErrorInvalidConfiguration);
  GIVES(launch(kernel, 1, 1025, 256), cudaErrorInvalidConfiguration);
  GIVES(launch(kernel, 1, 128, 256), cudaErrorInvalidValue);  // launch bounds
  GIVES(launch(kernel, 1, 64, 48 * 1024 + 1), cudaErrorInvalidValue);
  GIVES(launch(&failures, 1, 64, 256), cudaErrorInvalidDeviceFunction);
}

void most_shared_memory(const Launcher& launch, const void* kernel) {
  constexpr std::size_t kMost = 227 * 1024;
  const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  GIVES(cudaFuncSetAttribute(kernel, most, kMost + 1), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(kernel, most, kMost));
  OK(launch(kernel, 1, 64, kMost));
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 100 * 1024));
  EXPECT(blocks == 2);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, kMost));
  EXPECT(blocks == 1);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, kMost + 1));
  EXPECT(blocks == 0);
  (void)cudaGetLastError();
}

}  // namespace

__global__ void __launch_bounds__(64) scale(float* p, const __grid_constant__ Scale s, int n) {
  extern __shared__ float neighbours[];
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  neighbours[threadIdx.x] = table[threadIdx.x % 4];
  __syncthreads();
  if (i >= n) return;
  p[i] = float(p[i] * s.factor) + float(s.shift) + neighbours[threadIdx.x ^ 1];
  atomicAdd(&counter, 1);
}

int times_scaled() {
  int times = 0;
  OK(cudaMemcpyFromSymbol(&times, counter, sizeof times));
  return times;
}

void launches() {
  float* d = nullptr;
  float h[100];
  OK(cudaMalloc(&d, sizeof h));
  for (int i = 0; i < 100; ++i) h[i] = float(i);
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  scale<<<2, 64, 256>>>(d, Scale{2.0, 10}, 100);
  OK(cudaGetLastError());
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 12 && h[1] == 13 && h[99] == 2 * 99 + 10 + 3);
  EXPECT(times_scaled() == 100);
  const auto* kernel = reinterpret_cast<const void*>(&scale);
  Scale s{1.0, 0};
  int n = 100;
  void* arguments[] = {&d, &s, &n};
  refused({arguments}, kernel);
  most_shared_memory({arguments}, kernel);
  OK(cudaFree(d));
}

// A kernel hands the address of its parameter to a function that knows no space. It is not in the
// unnamed namespace: nvcc would hand over what lies there.
struct Words {
  int word[4];
};
__device__ __noinline__ int word_of(const Words* words, int i) { return words->word[i % 4]; }
__global__ void by_address(int* out, const __grid_constant__ Words words) {
  out[threadIdx.x] = word_of(&words, int(threadIdx.x));
}

void parameters() {
  int* d = nullptr;
  int h[32];
  OK(cudaMalloc(&d, sizeof h));
  by_address<<<1, 32>>>(d, Words{{2, 3, 5, 7}});
  OK(cudaGetLastError());
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 2 && h[1] == 3 && h[30] == 5 && h[31] == 7);
  OK(cudaFree(d));
}
