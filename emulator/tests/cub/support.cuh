// Memory of the device, and comparison of lists with those of the host.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

inline int failures = 0;

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(error));
  ++failures;
}
#define CUDA(call) check(call, #call)

template <class T>
struct Device {
  T* p = nullptr;
  size_t n;
  explicit Device(size_t count) : n(count) {
    CUDA(cudaMalloc(&p, std::max<size_t>(1, n * sizeof(T))));
  }
  explicit Device(const std::vector<T>& v) : Device(v.size()) {
    CUDA(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  Device(const Device&) = delete;
  ~Device() { CUDA(cudaFree(p)); }
  std::vector<T> host(size_t count) const {
    std::vector<T> v(count);
    CUDA(cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
  std::vector<T> host() const { return host(n); }
};

template <class T>
void same(const char* name, int n, const std::vector<T>& got, const std::vector<T>& want) {
  size_t wrong = got.size() != want.size();
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) wrong += !(got[i] == want[i]);
  if (wrong == 0) return;
  std::printf("FAILED %s of %d: %zu wrong of %zu\n", name, n, wrong, want.size());
  ++failures;
}

/// Size query, then the work.
template <class Call>
void with_storage(const char* name, Call&& call, cudaStream_t stream = nullptr) {
  size_t bytes = 0;
  check(call(nullptr, bytes, stream), name);
  Device<char> storage(bytes);
  check(call(storage.p, bytes, stream), name);
  check(cudaStreamSynchronize(stream), name);
}

struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

/// Numbers, and zeros and ones.
struct Lists {
  std::vector<int> x, flags;
  explicit Lists(int n) : x(n), flags(n) {
    std::mt19937 random{unsigned(n)};
    for (int& v : x) v = int(random() % 97u);
    for (int& f : flags) f = int(random() % 3u == 0);
  }
};
