// CUDA graphs, for tests: implemented twice, on the runtime without a GPU and on NVIDIA's.
#pragma once
#include <memory>

#include "stickslip/cuda.hpp"

namespace stickslip::support {

cuda::Stream stream(int number);  ///< 0 ... 3; different numbers, different streams

/// Records the work on a stream from construction to `end`, to be run later: a graph.
class Capture {
 public:
  explicit Capture(cuda::Stream stream);
  ~Capture();
  void end();
  void replay() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stickslip::support
