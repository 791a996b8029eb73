#include "runtime/streams.hpp"

#include "runtime/settings.hpp"

cudaError_t CUstream_st::run_to(std::size_t position) {
  cudaError_t first = cudaSuccess;
  while (done < position && !todo.empty()) {
    const gpu_emulator::Work work = std::move(todo.front());
    todo.pop_front();
    const cudaError_t error = work();
    ++done;
    if (first == cudaSuccess) first = error;
  }
  return first;
}

namespace gpu_emulator {

Streams& streams() {
  static Streams* const instance = new Streams;
  return *instance;
}

CUstream_st& state(cudaStream_t stream) {
  const bool legacy =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return legacy ? streams().legacy : *stream;
}

namespace {

bool blocking_capture() {
  for (const cudaStream_t stream : streams().made) {
    if (stream->capture != nullptr && stream->blocking) return true;
  }
  return false;
}

/// The legacy stream waits for the blocking ones, and they for it.
cudaError_t keep_legacy_order(CUstream_st& s) {
  if (&s != &streams().legacy) return s.blocking ? streams().legacy.run_all() : cudaSuccess;
  cudaError_t first = cudaSuccess;
  for (const cudaStream_t other : streams().made) {
    if (!other->blocking) continue;
    const cudaError_t error = other->run_all();
    if (first == cudaSuccess) first = error;
  }
  return first;
}

}  // namespace

bool is_stream(cudaStream_t stream) {
  return &state(stream) == &streams().legacy || streams().made.count(stream) != 0;
}
bool is_captured(cudaStream_t stream) { return state(stream).capture != nullptr; }

cudaError_t enqueue(cudaStream_t stream, Work work) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  CUstream_st& s = state(stream);
  if (s.capture != nullptr) {
    if (s.capture->invalid) return cudaErrorStreamCaptureInvalidated;
    s.capture->nodes.push_back(std::move(work));
    return cudaSuccess;
  }
  if (&s == &streams().legacy && blocking_capture()) {
    for (const cudaStream_t other : streams().made) {
      if (other->capture != nullptr && other->blocking) other->capture->invalid = true;
    }
    return cudaErrorStreamCaptureImplicit;
  }
  const cudaError_t before = keep_legacy_order(s);
  s.todo.push_back(std::move(work));
  const cudaError_t now = settings().late ? cudaSuccess : s.run_all();
  return before != cudaSuccess ? before : now;
}

cudaError_t finish(cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  CUstream_st& s = state(stream);
  const cudaError_t before = keep_legacy_order(s);
  const cudaError_t now = s.run_all();
  return before != cudaSuccess ? before : now;
}

cudaError_t finish_all() {
  cudaError_t first = streams().legacy.run_all();
  for (const cudaStream_t stream : streams().made) {
    const cudaError_t error = stream->run_all();
    if (first == cudaSuccess) first = error;
  }
  return first;
}

cudaError_t unless_capturing() {
  bool forbidden = false;
  for (const auto& capture : streams().captures) {
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    capture->invalid = true;
    forbidden = true;
  }
  return forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

}  // namespace gpu_emulator

using namespace gpu_emulator;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Lock lock;
  if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) {
    return fail(cudaErrorInvalidValue);
  }
  *stream = new CUstream_st;
  (*stream)->blocking = flags == cudaStreamDefault;
  streams().made.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

/// What it was given is still done; here at once.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock;
  if (streams().made.count(stream) == 0) return fail(cudaErrorInvalidResourceHandle);
  const cudaError_t error = stream->run_all();
  streams().made.erase(stream);
  delete stream;
  return fail(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock;
  if (is_stream(stream) && is_captured(stream)) {
    state(stream).capture->invalid = true;
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  return fail(finish(stream));
}

/// Answers "not yet" once for work that is late, and does it.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Lock lock;
  if (!is_stream(stream)) return fail(cudaErrorInvalidResourceHandle);
  if (is_captured(stream)) return fail(cudaErrorStreamCaptureUnsupported);
  if (state(stream).todo.empty()) return cudaSuccess;
  const cudaError_t error = finish(stream);
  return error != cudaSuccess ? fail(error) : cudaErrorNotReady;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  const Lock lock;
  if (!is_stream(stream)) return fail(cudaErrorInvalidResourceHandle);
  *flags = state(stream).blocking ? cudaStreamDefault : cudaStreamNonBlocking;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const Lock lock;
  return fail(enqueue(stream, [=] {
    function(data);
    return cudaSuccess;
  }));
}

cudaError_t cudaDeviceSynchronize() {
  const Lock lock;
  if (const cudaError_t error = unless_capturing(); error != cudaSuccess) return fail(error);
  return fail(finish_all());
}

}  // extern "C"
