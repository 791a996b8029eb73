// Two streams with memory and events, for tests of their order.
#pragma once
#include "support.cuh"

struct StreamPair {
  static constexpr int kCount = 10;
  static constexpr std::size_t kBytes = kCount * sizeof(float);
  cudaStream_t stream, other;
  cudaEvent_t forked, joined;
  float *device = nullptr, *from = nullptr, *to = nullptr;

  StreamPair() {
    for (cudaStream_t* s : {&stream, &other}) {
      OK(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
    }
    for (cudaEvent_t* e : {&forked, &joined}) OK(cudaEventCreate(e));
    OK(cudaMalloc(&device, kBytes));
    OK(cudaMallocHost(&from, kBytes));
    OK(cudaMallocHost(&to, kBytes));
    for (int i = 0; i < kCount; ++i) from[i] = 1, to[i] = -1;
  }
  StreamPair(const StreamPair&) = delete;
  ~StreamPair() {
    for (const cudaEvent_t event : {forked, joined}) OK(cudaEventDestroy(event));
    for (const cudaStream_t s : {stream, other}) OK(cudaStreamDestroy(s));
    GIVES(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    (void)cudaGetLastError();
    OK(cudaFreeHost(from));
    OK(cudaFreeHost(to));
    OK(cudaFree(device));
  }
};
