// What the files of stickslip_gpu_probe share. It needs nothing of the project.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace probe {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "stickslip_gpu_probe: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Whether only to try that everything runs, with tiny sizes.
inline bool dry() { return std::getenv("GPU_CHECK_DRY") != nullptr; }

template <class T>
T* allocate(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  return memory;
}

/// The least time of five runs of f(), after one that loads the code.
template <class F>
double milliseconds(F&& f) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  f();
  double least = 1e30;
  for (int i = 0; i < 5; ++i) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    f();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "a kernel");
    check(cudaGetLastError(), "a launch");
    float taken = 0.0F;
    check(cudaEventElapsedTime(&taken, begin, end), "cudaEventElapsedTime");
    least = std::min(least, double(taken));
  }
  return least;
}

}  // namespace probe
