// What the files of stickslip_gpu_speed share: its cases, a timer, batches in device memory.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/problems.hpp"
#include "src/cuda/check.hpp"
#include "src/cuda/workspace.hpp"
#include "tests/launch/on_device.hpp"

namespace stickslip::bench {

constexpr int kDistinct = 512;  ///< different problems, which a batch repeats

/// Whether only to try that everything runs, with tiny sizes.
inline bool dry() { return std::getenv("GPU_CHECK_DRY") != nullptr; }

inline double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Times work on the device by events.
class Timer {
 public:
  explicit Timer(cuda::Stream stream) : stream_(stream) {
    SS_CUDA(cudaEventCreate(&begin_));
    SS_CUDA(cudaEventCreate(&end_));
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  /// Microseconds of what f() enqueues.
  template <class F>
  double operator()(F&& f) {
    SS_CUDA(cudaEventRecord(begin_, stream_));
    f();
    SS_CUDA(cudaEventRecord(end_, stream_));
    SS_CUDA(cudaEventSynchronize(end_));
    float milliseconds = 0.0F;
    SS_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e3 * double(milliseconds);
  }

 private:
  cuda::Stream stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// A batch in device memory that repeats the problems of the host, and its results.
template <class Scalar>
struct Tiled {
  cuda::Stream stream = support::stream(0);
  std::vector<cuda::Buffer> memory;
  ProblemBatch<Scalar> problem;
  support::DeviceResults<Scalar> results;

  Tiled(const HostProblems<Scalar>& host, int envs)
      : problem(host.view()), results(envs, host.max_rows(), stream) {
    const int distinct = problem.num_envs;
    problem.num_envs = envs;
    tile(problem.counts, distinct, envs);
    tile(problem.dims, distinct, envs);
    for (auto* a : {&problem.W, &problem.b, &problem.mu, &problem.R, &problem.lo, &problem.hi}) {
      tile(*a, distinct, envs);
    }
    problem.warm_start = {};
    cuda::wait(stream);
  }

 private:
  template <class T>
  void tile(EnvArray<const T>& a, int distinct, int envs) {
    if (a.data == nullptr || a.stride == 0) return;
    const std::size_t slot = std::size_t(a.stride) * sizeof(T), total = slot * std::size_t(envs);
    memory.emplace_back(total);
    auto* const to = static_cast<char*>(memory.back().data());
    std::size_t done = slot * std::size_t(std::min(distinct, envs));
    memory.back().upload(a.data, done, stream);
    while (done < total) {  // doubles what is there
      const std::size_t more = std::min(done, total - done);
      SS_CUDA(cudaMemcpyAsync(to + done, to, more, cudaMemcpyDeviceToDevice, stream));
      done += more;
    }
    a.data = reinterpret_cast<const T*>(to);
  }
};

/// Environments whose bits differ from those of the CPU, in a batch that repeats `distinct`.
template <class Scalar>
int different(const support::PlainResults<Scalar>& gpu, const support::PlainResults<Scalar>& cpu,
              int envs, int distinct, int rows) {
  std::vector<std::uint64_t> expected;
  for (int env = 0; env < distinct; ++env) expected.push_back(cpu.hash(env, rows));
  int count = 0;
  for (int env = 0; env < envs; ++env) {
    count += gpu.hash(env, rows) != expected[std::size_t(env % distinct)] ? 1 : 0;
  }
  return count;
}

/// Prints the device, its kernels as the driver loaded them, and what first calls take.
int info(int rows);
/// Records the very first call of a process in a graph. Returns 1 if its bits are not the CPU's.
int capture();

}  // namespace stickslip::bench
