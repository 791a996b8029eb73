// Streams and events.
#include <cstdlib>
#include <cstring>

#include "stream_pair.cuh"
#include "support.cuh"
#include "tests.cuh"

void events() {
  StreamPair p;
  OK(cudaEventRecord(p.forked, p.stream));
  OK(cudaEventRecord(p.joined, p.stream));
  OK(cudaEventSynchronize(p.joined));
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, p.forked, p.joined));
  EXPECT(milliseconds >= 0);
}

/// What is late is not there before somebody waits; what is eager is.
void streams() {
  const char* mode = std::getenv("GPU_EMULATOR_STREAMS");
  const bool late = mode != nullptr && std::strcmp(mode, "late") == 0;
  StreamPair p;
  p.from[0] = 8;
  OK(cudaMemcpyAsync(p.device, p.from, StreamPair::kBytes, cudaMemcpyHostToDevice, p.stream));
  OK(cudaMemcpyAsync(p.to, p.device, StreamPair::kBytes, cudaMemcpyDeviceToHost, p.stream));
  EXPECT(p.to[0] == (late ? -1.0F : 8.0F));
  OK(cudaStreamWaitEvent(p.other, p.forked, 0));
  OK(cudaEventRecord(p.joined, p.stream));
  OK(cudaStreamWaitEvent(p.other, p.joined, 0));
  OK(cudaStreamSynchronize(p.other));
  EXPECT(p.to[0] == 8);
}
