// Events: places in the work of a stream.
#include "runtime/streams.hpp"

using namespace gpu_emulator;

struct CUevent_st {
  unsigned flags = 0;
  struct Record {
    cudaStream_t stream;
    std::size_t position;  // the stream's `done` when it is reached
    bool reached = false;
    std::chrono::steady_clock::time_point time;
  };
  std::shared_ptr<Record> record;
  std::shared_ptr<Capture> capture;  // of which it is a part
};

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const Lock lock;
  *event = new CUevent_st;
  (*event)->flags = flags;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock;
  if (event == nullptr) return fail(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  const Lock lock;
  if (event == nullptr || !is_stream(stream)) return fail(cudaErrorInvalidResourceHandle);
  CUstream_st& s = state(stream);
  event->capture = s.capture;
  event->record.reset();
  if (s.capture != nullptr) return cudaSuccess;  // orders the capture alone
  const auto record = std::make_shared<CUevent_st::Record>();
  record->stream = stream;
  record->position = s.done + s.todo.size() + 1;
  event->record = record;
  return fail(enqueue(stream, [record] {
    record->reached = true;
    record->time = std::chrono::steady_clock::now();
    return cudaSuccess;
  }));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Lock lock;
  if (event == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return fail(cudaErrorCapturedEvent);
  const auto record = event->record;
  if (record == nullptr || record->reached) return cudaSuccess;
  return fail(state(record->stream).run_to(record->position));
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Lock lock;
  if (event == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return fail(cudaErrorCapturedEvent);
  if (event->record == nullptr || event->record->reached) return cudaSuccess;
  const cudaError_t error = cudaEventSynchronize(event);
  return error != cudaSuccess ? error : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Lock lock;
  for (const cudaEvent_t event : {start, end}) {
    if (event == nullptr || event->record == nullptr || (event->flags & cudaEventDisableTiming)) {
      return fail(cudaErrorInvalidResourceHandle);
    }
    if (!event->record->reached) return cudaErrorNotReady;
  }
  const std::chrono::duration<float, std::milli> elapsed = end->record->time - start->record->time;
  *milliseconds = elapsed.count();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Lock lock;
  if (event == nullptr || !is_stream(stream)) return fail(cudaErrorInvalidResourceHandle);
  CUstream_st& s = state(stream);
  if (event->capture != nullptr) {  // the stream joins the capture, or comes back to it
    if (s.capture != nullptr && s.capture != event->capture) {
      return fail(cudaErrorStreamCaptureMerge);
    }
    if (s.capture == nullptr) ++event->capture->joined;
    if (stream == event->capture->origin) event->capture->joined = 0;
    s.capture = event->capture;
    return cudaSuccess;
  }
  if (s.capture != nullptr) return fail(cudaErrorStreamCaptureIsolation);
  const auto record = event->record;
  if (record == nullptr || record->reached) return cudaSuccess;
  return fail(enqueue(stream, [record] {
    return record->reached ? cudaSuccess : state(record->stream).run_to(record->position);
  }));
}

}  // extern "C"
