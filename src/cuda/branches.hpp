// Launches that may run at once: the size classes of a batch, so that the slowest environment of
// one class does not delay the next class.
#pragma once
#include <vector>

#include "src/cuda/check.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

/// Streams that leave the caller's stream and come back to it, also in a capture: what the caller
/// enqueued before comes before all of them, what it enqueues afterwards comes after all of them.
class Branches {
 public:
  explicit Branches(int count);
  ~Branches();
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;

  /// enqueue(c, stream) for c in [0, count), the last first: the first in the caller's stream, the
  /// others in streams of their own.
  template <class Enqueue>
  void run(int count, Stream stream, Enqueue&& enqueue) const {
    if (count > 1) SS_CUDA(cudaEventRecord(begin_, stream));
    for (int c = count - 1; c > 0; --c) {
      const Stream own = branches_[c - 1].stream;
      SS_CUDA(cudaStreamWaitEvent(own, begin_, 0));
      enqueue(c, own);
    }
    enqueue(0, stream);
    for (int c = 1; c < count; ++c) {
      const Branch& branch = branches_[c - 1];
      SS_CUDA(cudaEventRecord(branch.end, branch.stream));
      SS_CUDA(cudaStreamWaitEvent(stream, branch.end, 0));
    }
  }

 private:
  struct Branch {
    Stream stream = nullptr;
    cudaEvent_t end = nullptr;
  };
  cudaEvent_t begin_ = nullptr;
  std::vector<Branch> branches_;
};

}  // namespace stickslip::cuda
