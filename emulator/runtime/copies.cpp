// Copies and memset.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory.hpp"
#include "runtime/modules.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"

namespace gpu_emulator {
namespace {

bool on_device(Kind kind) { return kind == Kind::device; }
bool on_host(Kind kind, const void* p) {
  const Allocation* a = Memory::get().find(p);
  return kind == Kind::host || kind == Kind::pinned ||
         (kind == Kind::device && a->space == Space::managed);
}

/// What is wrong with a copy, in words; empty: nothing.
std::string complaint_of(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Kind source = kind_of(from, bytes), target = kind_of(to, bytes);
  const auto where = [](const void* p) {
    return Memory::get().describe(reinterpret_cast<std::uintptr_t>(p));
  };
  if (source == Kind::wrong) return "source: " + where(from);
  if (target == Kind::wrong) return "target: " + where(to);
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault) return {};
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return "unknown kind";
  if (from_device ? !on_device(source) : !on_host(source, from)) return "source of the wrong kind";
  if (to_device ? !on_device(target) : !on_host(target, to)) return "target of the wrong kind";
  return {};
}

cudaError_t move_bytes(void* to, const void* from, std::size_t bytes) {
  const std::string complaint = complaint_of(to, from, bytes, cudaMemcpyDefault);
  if (!complaint.empty()) {  // freed since
    say("copy of " + std::to_string(bytes) + " bytes: " + complaint);
    return cudaErrorIllegalAddress;
  }
  const Memory::Access access;
  std::memmove(to, from, bytes);
  Memory::get().mark_written(to, bytes);
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait) {
  if (bytes == 0) return cudaSuccess;
  const std::string complaint = complaint_of(to, from, bytes, kind);
  if (!complaint.empty()) {
    say("cudaMemcpy of " + std::to_string(bytes) + " bytes: " + complaint);
    return cudaErrorInvalidValue;
  }
  const bool captured = is_captured(stream);
  const bool pageable_source = kind_of(from, bytes) == Kind::host;
  const bool pageable_target = kind_of(to, bytes) == Kind::host;
  if (pageable_source && !captured) {  // CUDA takes a copy of it before the call returns
    const auto* first = static_cast<const unsigned char*>(from);
    const auto bytes_now = std::make_shared<std::vector<unsigned char>>(first, first + bytes);
    const cudaError_t error =
        enqueue(stream, [=] { return move_bytes(to, bytes_now->data(), bytes); });
    if (error != cudaSuccess) return error;
  } else {
    const cudaError_t error = enqueue(stream, [=] { return move_bytes(to, from, bytes); });
    if (error != cudaSuccess) return error;
  }
  // To pageable memory it returns when all is done.
  return (wait || pageable_target) && !captured ? finish(stream) : cudaSuccess;
}

cudaError_t set(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!on_device(kind_of(memory, bytes))) {
    say("cudaMemset of " + std::to_string(bytes) +
        " bytes: " + Memory::get().describe(reinterpret_cast<std::uintptr_t>(memory)));
    return cudaErrorInvalidValue;
  }
  return enqueue(stream, [=] {
    if (!on_device(kind_of(memory, bytes))) return cudaErrorIllegalAddress;
    const Memory::Access access;
    std::memset(memory, value, bytes);
    Memory::get().mark_written(memory, bytes);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace gpu_emulator

using namespace gpu_emulator;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const Lock lock;
  if (const cudaError_t error = unless_capturing(); error != cudaSuccess) return fail(error);
  return fail(copy(to, from, bytes, kind, nullptr, true));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Lock lock;
  return fail(copy(to, from, bytes, kind, stream, false));
}

/// Rows are copied one by one; a pitch below the width is an error.
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  const Lock lock;
  if (to_pitch < width || from_pitch < width) return fail(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error =
        copy(static_cast<char*>(to) + row * to_pitch,
             static_cast<const char*>(from) + row * from_pitch, width, kind, stream, false);
    if (error != cudaSuccess) return fail(error);
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  const cudaError_t error =
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  const Lock lock;
  if (const cudaError_t error = unless_capturing(); error != cudaSuccess) return fail(error);
  return fail(set(memory, value, bytes, nullptr));
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  const Lock lock;
  return fail(set(memory, value, bytes, stream));
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  const Lock lock;
  void* memory = nullptr;
  std::size_t room = 0;
  const cudaError_t error = find_variable(symbol, memory, room);
  if (error != cudaSuccess) return fail(error);
  return fail(copy(static_cast<char*>(memory) + offset, from, bytes, kind, stream, false));
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  const Lock lock;
  void* memory = nullptr;
  std::size_t room = 0;
  const cudaError_t error = find_variable(symbol, memory, room);
  if (error != cudaSuccess) return fail(error);
  return fail(copy(to, static_cast<char*>(memory) + offset, bytes, kind, stream, false));
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}

}  // extern "C"
