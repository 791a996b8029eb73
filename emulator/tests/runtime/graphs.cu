// Captures and graphs.
#include "scale.cuh"
#include "stream_pair.cuh"
#include "support.cuh"
#include "tests.cuh"

/// A graph keeps what the arguments were, and reads memory when it runs.
void graphs() {
  StreamPair p;
  OK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
  float factor = 3;
  OK(cudaMemcpyAsync(p.device, p.from, StreamPair::kBytes, cudaMemcpyHostToDevice, p.stream));
  scale<<<1, 64, 256, p.stream>>>(p.device, Scale{factor, 0}, StreamPair::kCount);
  OK(cudaMemcpyAsync(p.to, p.device, StreamPair::kBytes, cudaMemcpyDeviceToHost, p.stream));
  factor = 100;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  OK(cudaStreamEndCapture(p.stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  EXPECT(p.to[0] == -1);
  for (const float value : {1.0F, 5.0F}) {
    p.from[0] = value;
    OK(cudaGraphLaunch(exec, p.stream));
    OK(cudaStreamSynchronize(p.stream));
    EXPECT(p.to[0] == 3 * value + 2);
  }
  OK(cudaGraphExecDestroy(exec));
}

void captures() {
  StreamPair p;
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
  void* none = nullptr;
  GIVES(cudaMalloc(&none, 8), cudaErrorStreamCaptureUnsupported);
  GIVES(cudaStreamEndCapture(p.stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
  GIVES(cudaStreamSynchronize(p.stream), cudaErrorStreamCaptureUnsupported);
  GIVES(cudaStreamEndCapture(p.stream, &graph), cudaErrorStreamCaptureInvalidated);
  GIVES(cudaStreamEndCapture(p.stream, &graph), cudaErrorIllegalState);
  (void)cudaGetLastError();
}

/// Another stream joins the capture by an event, and has to come back.
void joined_captures() {
  StreamPair p;
  cudaGraph_t graph;
  for (const bool comes_back : {false, true}) {
    OK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(p.forked, p.stream));
    OK(cudaStreamWaitEvent(p.other, p.forked, 0));
    OK(cudaMemsetAsync(p.device, 0, StreamPair::kBytes, p.other));
    OK(cudaEventRecord(p.joined, p.other));
    if (comes_back) OK(cudaStreamWaitEvent(p.stream, p.joined, 0));
    GIVES(cudaStreamEndCapture(p.stream, &graph),
          comes_back ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
  }
  OK(cudaGraphDestroy(graph));
  float milliseconds = -1;  // events of a capture have no time
  GIVES(cudaEventElapsedTime(&milliseconds, p.forked, p.joined), cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
}
