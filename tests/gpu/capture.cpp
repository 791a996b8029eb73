#include "tests/launch/capture.hpp"

#include <cuda_runtime_api.h>

#include "src/cuda/check.hpp"

namespace stickslip::support {

cuda::Stream stream(int number) {
  static cudaStream_t streams[4] = {};
  if (streams[number] == nullptr) {
    SS_CUDA(cudaStreamCreateWithFlags(&streams[number], cudaStreamNonBlocking));
  }
  return streams[number];
}

struct Capture::Impl {
  cudaStream_t stream;
  cudaGraphExec_t graph = nullptr;
};
Capture::Capture(cuda::Stream stream) : impl_(std::make_unique<Impl>()) {
  impl_->stream = stream;
  SS_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}
void Capture::end() {
  cudaGraph_t graph = nullptr;
  SS_CUDA(cudaStreamEndCapture(impl_->stream, &graph));
  SS_CUDA(cudaGraphInstantiate(&impl_->graph, graph, 0));
  SS_CUDA(cudaGraphDestroy(graph));
}
Capture::~Capture() {
  if (impl_->graph != nullptr) cudaGraphExecDestroy(impl_->graph);
}
void Capture::replay() const { SS_CUDA(cudaGraphLaunch(impl_->graph, impl_->stream)); }

}  // namespace stickslip::support
