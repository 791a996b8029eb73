// What this GPU can do, and whether groups of lanes that share a warp run together: the numbers
// that the predictions of the solver's times assume. Prints one JSON object. GPU_CHECK_DRY=1: tiny
// sizes. Ends with 3 if no GPU answers.
#include "gpu_probe.cuh"
#include "gpu_probe_bits.cuh"
#include "gpu_probe_groups.cuh"

namespace probe {
namespace {

/// 8 independent chains of fused multiply-adds: the peak of the unit for T.
template <class T>
__global__ void fma_kernel(T* out, int steps, T a, T b) {
  T x[8];
  for (int k = 0; k < 8; ++k) x[k] = T(threadIdx.x + k);
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = fma(a, x[k], b);
  }
  T sum = 0;
  for (int k = 0; k < 8; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// One dependent chain: cycles from one multiply-add to the next.
__global__ void latency_kernel(double* out, long long* cycles, int steps, double a, double b) {
  double x = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) x = fma(a, x, b);
  }
  if (threadIdx.x == 0) *cycles = clock64() - start;
  out[threadIdx.x] = x;
}

/// Loads of 8 bytes from shared memory, neighbouring lanes `stride` doubles apart.
__global__ void shared_kernel(double* out, int steps, int stride) {
  extern __shared__ double memory[];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) memory[i] = i;
  __syncthreads();
  double sum[4] = {};
  int at = threadIdx.x * stride & 4095;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) sum[k] += memory[(at + k * 32) & 4095];
    at = (at + 128) & 4095;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

/// The device; returns its number of multiprocessors.
int print_device() {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0, clock = 0, optin = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
        "cudaDeviceGetAttribute");
  const int processors = dry() ? 1 : p.multiProcessorCount;
  std::printf("{\n  \"name\": \"%s\", \"capability\": \"%d.%d\", \"multiprocessors\": %d,\n",
              p.name, p.major, p.minor, processors);
  std::printf("  \"clock_mhz\": %.0f, \"l2_mb\": %.1f, \"shared_per_block\": %d,\n", clock / 1e3,
              p.l2CacheSize / 1048576.0, optin);
  std::printf("  \"memory_gb\": %.1f, \"driver\": %d, \"runtime\": %d,\n", p.totalGlobalMem / 1e9,
              driver, runtime);
  return processors;
}

/// 1e12 operations per second of T, a multiply-add counted as two.
template <class T>
double peak(double* out, int processors, int steps) {
  constexpr int kThreads = 512, kBlocks = 4;
  const double ms = milliseconds([&] {
    fma_kernel<T>
        <<<processors * kBlocks, kThreads>>>(reinterpret_cast<T*>(out), steps, T(0.5), T(1));
  });
  return 2.0 * 8.0 * steps * double(processors) * kBlocks * kThreads / (1e-3 * ms) / 1e12;
}

void print_arithmetic(const GroupMemory& m, int processors) {
  const double fp64 = peak<double>(m.out, processors, dry() ? 2 : 20000);
  const double fp32 = peak<float>(m.out, processors, dry() ? 2 : 40000);
  std::printf("  \"fp64_tflops\": %.2f, \"fp32_tflops\": %.2f,\n", fp64, fp32);
  std::printf("  \"clock_from_fp64_mhz\": %.0f,\n", fp64 * 1e12 / (2.0 * 64 * processors) / 1e6);
  const int steps = dry() ? 5 : 1000;
  for (int i = 0; i < 2; ++i) {  // the first loads the code
    latency_kernel<<<1, 32>>>(m.out, m.cycles, steps, 0.5, 1.0);
  }
  long long cycles = 0;
  check(cudaMemcpy(&cycles, m.cycles, sizeof cycles, cudaMemcpyDeviceToHost), "latency_kernel");
  std::printf("  \"dfma_latency_cycles\": %.2f,\n", double(cycles) / (16.0 * steps));
  const double launches = milliseconds([&] {
    for (int i = 0; i < 100; ++i) latency_kernel<<<1, 32>>>(m.out, m.cycles, 1, 0.5, 1.0);
  });
  std::printf("  \"launch_us\": %.2f,\n", 10.0 * launches);
}

void print_memory(const GroupMemory& m, int processors) {
  for (const int stride : {1, 2, 4, 3}) {
    const int steps = dry() ? 2 : 4000;
    const double ms = milliseconds([&] {
      shared_kernel<<<processors * 4, 256, 4096 * sizeof(double)>>>(m.out, steps, stride);
    });
    const double accesses = 4.0 * steps * 4 * (256 / 32);  // of warps, per multiprocessor
    std::printf("  \"shared_loads_per_us_stride_%d\": %.1f,\n", stride, accesses / (1e3 * ms));
  }
  const std::size_t bytes = dry() ? std::size_t(1) << 20 : std::size_t(2) << 30;
  char *from = allocate<char>(bytes), *to = allocate<char>(bytes);
  check(cudaMemset(from, 1, bytes), "cudaMemset");
  const double copy = milliseconds([&] {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr), "cudaMemcpyAsync");
  });
  std::printf("  \"copy_tb_per_s\": %.3f,\n", 2.0 * double(bytes) / (1e-3 * copy) / 1e12);
  check(cudaFree(from), "cudaFree");
  check(cudaFree(to), "cudaFree");
}

}  // namespace
}  // namespace probe

int main() {
  using namespace probe;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    std::fprintf(stderr, "stickslip_gpu_probe: no GPU: %s\n", cudaGetErrorString(error));
    return 3;
  }
  const int processors = print_device();
  const GroupMemory m{allocate<double>(std::size_t(processors) * 8 * 1024), allocate<int>(32),
                      allocate<long long>(1)};
  print_arithmetic(m, processors);
  print_memory(m, processors);
  std::printf("  \"operations_that_differ_from_the_cpu\": {\n");
  compare_operations<double, std::uint64_t>("double", ",");
  compare_operations<float, std::uint32_t>("float", "");
  std::printf("  },\n  \"groups\": {\n");
  groups<8>(m, ",");
  groups<16>(m, ",");
  groups<32>(m, "");
  std::printf("  }\n}\n");
  return 0;
}
