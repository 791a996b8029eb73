// Allocations, and what the runtime knows of an address.
#include "runtime/memory.hpp"
#include "runtime/streams.hpp"

namespace gpu_emulator {
namespace {

cudaError_t allocate(void** memory, std::size_t bytes, Space space) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t error = unless_capturing(); error != cudaSuccess) return error;
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  *memory = Memory::get().allocate(bytes, space);
  return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t release(void* memory, Space space) {
  if (memory == nullptr) return cudaSuccess;
  if (const cudaError_t error = unless_capturing(); error != cudaSuccess) return error;
  const cudaError_t before = finish_all();
  if (!Memory::get().release(memory, space)) return cudaErrorInvalidValue;
  return before;
}

}  // namespace
}  // namespace gpu_emulator

using namespace gpu_emulator;

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  const Lock lock;
  return fail(allocate(memory, bytes, Space::device));
}
cudaError_t cudaFree(void* memory) {
  const Lock lock;
  return fail(release(memory, Space::device));
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  const Lock lock;
  return fail(allocate(memory, bytes, Space::pinned));
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return cudaMallocHost(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) {
  const Lock lock;
  return fail(release(memory, Space::pinned));
}
cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned) {
  const Lock lock;
  return fail(allocate(memory, bytes, Space::managed));
}
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) {
  const Lock lock;
  if (is_captured(stream)) return fail(cudaErrorNotSupported);
  return fail(allocate(memory, bytes, Space::device));
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  const Lock lock;
  return fail(enqueue(stream, [=] {
    return Memory::get().release(memory, Space::device) ? cudaSuccess : cudaErrorInvalidValue;
  }));
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  const Lock lock;
  if (memory == nullptr || bytes == 0) return fail(cudaErrorInvalidValue);
  const Allocation* a = Memory::get().find(memory);
  if (a != nullptr && a->holds(reinterpret_cast<std::uintptr_t>(memory), 1)) {
    return fail(cudaErrorHostMemoryAlreadyRegistered);
  }
  Memory::get().adopt(memory, bytes, Space::pinned);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* memory) {
  const Lock lock;
  const Allocation* a = Memory::get().find(memory);
  if (a == nullptr || a->owned || a->space != Space::pinned) {
    return fail(cudaErrorHostMemoryNotRegistered);
  }
  Memory::get().disown(memory);
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  const Lock lock;
  if (kind_of(host, 1) != Kind::pinned) return fail(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const Lock lock;
  *attributes = {};
  const Allocation* a = Memory::get().find(memory);
  if (a == nullptr || !a->holds(reinterpret_cast<std::uintptr_t>(memory), 1)) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;  // as cudaInvalidDeviceId
    attributes->hostPointer = const_cast<void*>(memory);
    return cudaSuccess;
  }
  const bool pinned = a->space == Space::pinned, managed = a->space == Space::managed;
  attributes->type = pinned    ? cudaMemoryTypeHost
                     : managed ? cudaMemoryTypeManaged
                               : cudaMemoryTypeDevice;
  attributes->devicePointer = const_cast<void*>(memory);
  if (pinned || managed) attributes->hostPointer = const_cast<void*>(memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  const Lock lock;
  *total = Memory::kBytes;
  *free_bytes = *total - Memory::get().used();
  return cudaSuccess;
}

}  // extern "C"
