// Streams, and work that they are given: one lock for all of the runtime.
#pragma once
#include <cuda_runtime_api.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace gpu_emulator {

/// One host thread at a time is in the runtime.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

/// Notes an error for cudaGetLastError; returns what it is given.
cudaError_t fail(cudaError_t error);

/// What a stream does, one after the other.
using Work = std::function<cudaError_t()>;

/// Work that a stream was given while it was captured.
struct Capture {
  std::vector<Work> nodes;
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalid = false;
  int joined = 0;  ///< other streams that take part
};

}  // namespace gpu_emulator

struct CUstream_st {
  bool blocking = true;  ///< waits for the legacy stream, and is waited for
  std::deque<gpu_emulator::Work> todo;
  std::size_t done = 0;  ///< of all that it was ever given
  std::shared_ptr<gpu_emulator::Capture> capture;

  /// Does the first `position` things that it was ever given. The first error of it.
  cudaError_t run_to(std::size_t position);
  cudaError_t run_all() { return run_to(done + todo.size()); }
};

namespace gpu_emulator {

struct Streams {
  CUstream_st legacy;
  std::set<cudaStream_t> made;
  std::vector<std::shared_ptr<Capture>> captures;  // under way
};
Streams& streams();
CUstream_st& state(cudaStream_t stream);

/// Gives work to a stream: done now, or when it is waited for, or noted in a capture.
cudaError_t enqueue(cudaStream_t stream, Work work);
/// Finishes what a stream, or every stream, was given. The first error of it.
cudaError_t finish(cudaStream_t stream);
cudaError_t finish_all();
bool is_stream(cudaStream_t stream);
bool is_captured(cudaStream_t stream);

/// For calls that may not be made while a capture forbids them. It is invalid then.
cudaError_t unless_capturing();

}  // namespace gpu_emulator
