// The device, errors and memory.
#include "support.cuh"
#include "tests.cuh"

void device_and_errors() {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(std::string(properties.name) == "emulated GPU" && properties.major == 9);
  GIVES(cudaSetDevice(1), cudaErrorInvalidDevice);
  GIVES(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  GIVES(cudaGetLastError(), cudaErrorInvalidDevice);
  OK(cudaGetLastError());
}

void memory() {
  char *d = nullptr, *h = nullptr;
  OK(cudaMalloc(&d, 100));
  OK(cudaMallocHost(&h, 100));
  EXPECT(reinterpret_cast<std::size_t>(d) % 256 == 0);
  OK(cudaMemcpy(h, d, 100, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == char(0xff) && h[99] == char(0xff));
  GIVES(cudaMemcpy(d, h, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(d + 50, h, 51, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(d, h, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  GIVES(cudaMemset(h, 0, 4), cudaErrorInvalidValue);
  OK(cudaMemset(d, 7, 100));
  OK(cudaMemcpy(h, d, 100, cudaMemcpyDefault));
  EXPECT(h[99] == 7);
  cudaPointerAttributes a;
  OK(cudaPointerGetAttributes(&a, d + 99));
  EXPECT(a.type == cudaMemoryTypeDevice && a.device == 0);
  OK(cudaPointerGetAttributes(&a, h));
  EXPECT(a.type == cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&a, &a));
  EXPECT(a.type == cudaMemoryTypeUnregistered);
  OK(cudaFree(d));
  GIVES(cudaFree(d), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  OK(cudaFreeHost(h));
  OK(cudaFree(nullptr));
  void* none = &a;
  OK(cudaMalloc(&none, 0));
  EXPECT(none == nullptr);
  GIVES(cudaMalloc(&none, std::size_t(81) << 30), cudaErrorMemoryAllocation);
  (void)cudaGetLastError();
}
