// wrong_test NAME: does one thing that a check is to find. Exits with 0 if an error came of it.
#include "support.cuh"

namespace {

__global__ void past_the_end(float* p) { p[threadIdx.x + 1] = 1; }
__global__ void racy(int* out) {
  __shared__ int place[64];
  place[threadIdx.x] = int(threadIdx.x);
  out[threadIdx.x] = place[63 - threadIdx.x];
}
__global__ void racy_in_a_warp(int* out) {
  __shared__ int place[32];
  place[threadIdx.x] = int(threadIdx.x);
  out[threadIdx.x] = place[31 - threadIdx.x];
}
__global__ void nobody_wrote(int* out) {
  __shared__ int place[32];
  if (threadIdx.x < 16) place[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = place[threadIdx.x];
}
__global__ void reads(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void never_ends(volatile int* p) {
  while (*p == 0) {
  }
}

/// A kernel's parameters may be read by address, but not written.
struct Pair {
  int a, b;
};
__device__ __noinline__ void write(int* p) { *p = 1; }
__global__ void writes_parameter(const __grid_constant__ Pair pair) {
  write(const_cast<int*>(&pair.b));
}

void launch(const std::string& name, int* in, int* out) {
  if (name == "past_the_end") past_the_end<<<1, 64>>>(reinterpret_cast<float*>(out));
  if (name == "racy") racy<<<1, 64>>>(out);
  if (name == "racy_in_a_warp") racy_in_a_warp<<<1, 32>>>(out);
  if (name == "nobody_wrote") nobody_wrote<<<1, 32>>>(out);
  if (name == "nobody_copied") reads<<<1, 32>>>(in, out);
  if (name == "never_ends") {
    OK(cudaMemset(in, 0, 4));
    never_ends<<<1, 32>>>(in);
  }
  if (name == "host_memory") reads<<<1, 32>>>(new int[64](), out);
  if (name == "freed") {
    OK(cudaFree(in));
    reads<<<1, 32>>>(in, out);
  }
  if (name == "host_reads") std::printf("%d\n", out[0]);
  if (name == "writes_parameter") writes_parameter<<<1, 32>>>(Pair{1, 2});
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  int *in = nullptr, *out = nullptr;
  OK(cudaMalloc(&in, 64 * sizeof(int)));
  OK(cudaMalloc(&out, 64 * sizeof(int)));
  launch(arguments[1], in, out);
  const cudaError_t waited = cudaDeviceSynchronize(), launched = cudaGetLastError();
  const cudaError_t error = launched != cudaSuccess ? launched : waited;
  std::printf("%s: %s\n", arguments[1], cudaGetErrorName(error));
  return failures != 0 || error == cudaSuccess;
}
