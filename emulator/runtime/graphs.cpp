// Captures of streams, and graphs of what was captured.
#include "runtime/streams.hpp"

using namespace gpu_emulator;

struct CUgraph_st {
  std::vector<Work> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<std::vector<Work>> nodes;
};

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Lock lock;
  if (streams().made.count(stream) == 0) return fail(cudaErrorStreamCaptureUnsupported);
  if (stream->capture != nullptr) return fail(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->mode = mode;
  stream->capture = capture;
  streams().captures.push_back(capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock;
  *graph = nullptr;
  if (streams().made.count(stream) == 0 || stream->capture == nullptr) {
    return fail(cudaErrorIllegalState);
  }
  const auto capture = stream->capture;
  if (capture->origin != stream) return fail(cudaErrorStreamCaptureUnmatched);
  for (const cudaStream_t other : streams().made) {
    if (other->capture == capture) other->capture.reset();
  }
  std::erase(streams().captures, capture);
  if (capture->invalid) return fail(cudaErrorStreamCaptureInvalidated);
  if (capture->joined > 0) return fail(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{capture->nodes};
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Lock lock;
  if (!is_stream(stream)) return fail(cudaErrorInvalidResourceHandle);
  const auto& capture = state(stream).capture;
  *status = capture == nullptr ? cudaStreamCaptureStatusNone
            : capture->invalid ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
  std::swap(own, *mode);
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (nodes != nullptr) return fail(cudaErrorNotSupported);
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  const Lock lock;
  if (graph == nullptr) return fail(cudaErrorInvalidValue);
  *exec = new CUgraphExec_st{std::make_shared<std::vector<Work>>(graph->nodes)};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const Lock lock;
  delete exec;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const Lock lock;
  if (exec == nullptr) return fail(cudaErrorInvalidValue);
  const auto nodes = exec->nodes;
  return fail(enqueue(stream, [nodes] {
    cudaError_t first = cudaSuccess;
    for (const Work& node : *nodes) {
      const cudaError_t error = node();
      if (first == cudaSuccess) first = error;
    }
    return first;
  }));
}

}  // extern "C"
