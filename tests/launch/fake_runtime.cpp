#include "tests/launch/fake_runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "tests/launch/capture.hpp"

namespace stickslip::fake {
namespace {

using Nodes = std::vector<std::function<void()>>;

struct Runtime {
  Calls calls;
  std::map<const unsigned char*, std::size_t> memory;  ///< allocations
  Nodes* nodes = nullptr;                              ///< of the capture
  std::set<cudaStream_t> captured;  ///< the stream that began it, and those that waited for it
  std::set<cudaEvent_t> events;     ///< recorded in one of these
  cudaError_t device_error = cudaSuccess;
  std::size_t free_memory = std::size_t(80) << 30;
};
Runtime& runtime() {
  static Runtime instance;
  return instance;
}

/// Runs the work now, or records it in the capture.
void enqueue(cudaStream_t stream, std::function<void()> work) {
  Runtime& r = runtime();
  if (r.nodes != nullptr && r.captured.count(stream) > 0) {
    r.nodes->push_back(std::move(work));
  } else {
    work();
  }
}

}  // namespace

Calls& calls() { return runtime().calls; }

void set_device_error(int error) { runtime().device_error = cudaError_t(error); }

void set_free_memory(std::size_t bytes) { runtime().free_memory = bytes; }

bool on_device(const void* memory, std::size_t bytes) {
  const auto* first = static_cast<const unsigned char*>(memory);
  auto after = runtime().memory.upper_bound(first);
  if (after == runtime().memory.begin()) return false;
  const auto& [base, size] = *--after;
  return first + bytes <= base + size;
}

}  // namespace stickslip::fake

namespace stickslip::support {

cuda::Stream stream(int number) {
  static unsigned char places[4];
  return reinterpret_cast<cuda::Stream>(&places[number]);
}

struct Capture::Impl {
  fake::Nodes nodes;
};
Capture::Capture(cuda::Stream stream) : impl_(std::make_unique<Impl>()) {
  fake::runtime().captured = {stream};
  fake::runtime().events.clear();
  fake::runtime().nodes = &impl_->nodes;
}
void Capture::end() { fake::runtime().nodes = nullptr; }
Capture::~Capture() { end(); }
void Capture::replay() const {
  for (const auto& node : impl_->nodes) node();
}

}  // namespace stickslip::support

using stickslip::fake::runtime;

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorStreamCaptureUnsupported ? "not allowed in a capture" : "an error";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return runtime().device_error;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidValue; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "fake");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 227 * 1024;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const bool device = stickslip::fake::on_device(memory, 1);
  *attributes = {device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = runtime().free_memory;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (runtime().nodes != nullptr) return cudaErrorStreamCaptureUnsupported;
  ++runtime().calls.allocations;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*memory, 0xff, bytes);  // fresh device memory holds anything: here, NaN
  runtime().memory[static_cast<unsigned char*>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  ++runtime().calls.allocations;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<char*>(stream);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new char);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<char*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (runtime().nodes != nullptr && runtime().captured.count(stream) > 0) {
    runtime().events.insert(event);
  }
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (runtime().events.count(event) > 0) runtime().captured.insert(stream);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1.0F;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (runtime().nodes != nullptr) return cudaErrorStreamCaptureUnsupported;
  ++runtime().calls.allocations;
  runtime().memory.erase(static_cast<unsigned char*>(memory));
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  ++runtime().calls.copies;
  const void* device = kind == cudaMemcpyHostToDevice ? to : from;
  if (bytes > 0 && !stickslip::fake::on_device(device, bytes)) return cudaErrorInvalidValue;
  stickslip::fake::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes > 0 && !stickslip::fake::on_device(memory, bytes)) return cudaErrorInvalidValue;
  stickslip::fake::enqueue(stream, [=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  ++runtime().calls.waits;
  return runtime().nodes != nullptr ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                          std::size_t) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** parameters,
                             std::size_t shared_bytes, cudaStream_t stream) {
  if (grid.x == 0 || block.x == 0 || shared_bytes > 227 * 1024) return cudaErrorInvalidValue;
  ++runtime().calls.launches;
  runtime().calls.streams.insert(stream);
  const auto* fake = static_cast<const stickslip::fake::Kernel*>(kernel);
  stickslip::fake::enqueue(stream,
                           fake->bind(parameters, {int(grid.x), int(block.x), shared_bytes}));
  return cudaSuccess;
}
