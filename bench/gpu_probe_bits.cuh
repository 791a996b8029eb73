// What equal bits rest on: IEEE operations, also of subnormal numbers, and the forms of `max` that
// compilers turn into one instruction, of zeros of both signs and NaN.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu_probe.cuh"

namespace probe {

constexpr int kOperations = 9;
const char* const kNames[kOperations] = {"multiply", "add", "divide",
                                         "root",     "fma", "positive part",
                                         "max",      "min", "positive part, turned"};

template <class T>
__host__ __device__ void operate(T a, T b, T c, T* out) {
  out[0] = a * b;
  out[1] = a + b;
  out[2] = a / b;
#if defined(__CUDA_ARCH__)
  out[3] = sqrt(fabs(a));
#else
  out[3] = std::sqrt(std::fabs(a));
#endif
  out[4] = fma(a, b, c);
  out[5] = a > T(0) ? a : T(0);
  out[6] = a < b ? b : a;
  out[7] = b < a ? b : a;
  out[8] = T(0) < a ? a : T(0);
}

template <class T>
__global__ void operate_kernel(const T* in, int count, T* out) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) operate(in[3 * i], in[3 * i + 1], in[3 * i + 2], out + kOperations * i);
}

/// Triples: all of some special numbers, then random bits and neighbours of 1.
template <class T, class Bits>
std::vector<T> operands() {
  const T tiny = sizeof(T) == 8 ? T(4.9e-324) : T(1.4e-45F);
  const T small = sizeof(T) == 8 ? T(2.3e-308) : T(1.2e-38F);
  const T special[] = {T(0),  -T(0),     T(1),    T(-1),    T(1) / T(3), T(3),         tiny,  -tiny,
                       small, small / 3, T(1e30), T(-1e30), T(HUGE_VAL), -T(HUGE_VAL), T(NAN)};
  std::vector<T> in;
  for (const T a : special) {
    for (const T b : special) {
      for (const T c : {T(0), -T(0), tiny, T(-1)}) in.insert(in.end(), {a, b, c});
    }
  }
  std::uint64_t state = 1;
  const std::size_t wanted = 3 * (dry() ? 2000 : 200000);
  while (in.size() < wanted) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const Bits bits = Bits(state >> (sizeof(T) == 8 ? 0 : 32));
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (in.size() % 2 == 1) value = T(1) + T(double(state >> 40) * 1e-7);
    in.push_back(value);
  }
  return in;
}

/// Prints how many results of each operation differ from the CPU's. A NaN equals any other.
template <class T, class Bits>
void compare_operations(const char* name, const char* after) {
  const std::vector<T> in = operands<T, Bits>();
  const int count = int(in.size() / 3);
  std::vector<T> out(std::size_t(count) * kOperations);
  T *from = allocate<T>(in.size()), *to = allocate<T>(out.size());
  check(cudaMemcpy(from, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  operate_kernel<<<(count + 127) / 128, 128>>>(from, count, to);
  check(cudaGetLastError(), "operate_kernel");
  check(cudaMemcpy(out.data(), to, out.size() * sizeof(T), cudaMemcpyDeviceToHost),
        "operate_kernel");
  int differ[kOperations] = {};
  for (int i = 0; i < count; ++i) {
    T expected[kOperations];
    operate(in[3 * i], in[3 * i + 1], in[3 * i + 2], expected);
    for (int k = 0; k < kOperations; ++k) {
      const T got = out[std::size_t(i * kOperations + k)];
      const bool same = std::memcmp(&got, &expected[k], sizeof got) == 0;
      differ[k] += same || (std::isnan(got) && std::isnan(expected[k])) ? 0 : 1;
    }
  }
  std::printf("    \"%s\": {", name);
  for (int k = 0; k < kOperations; ++k) {
    std::printf("%s\"%s\": %d", k > 0 ? ", " : "", kNames[k], differ[k]);
  }
  std::printf("}%s\n", after);
  check(cudaFree(from), "cudaFree");
  check(cudaFree(to), "cudaFree");
}

}  // namespace probe
