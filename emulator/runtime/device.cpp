// The device that this pretends to be.
#include <cstring>
#include <optional>
#include <string>

#include "runtime/memory.hpp"
#include "runtime/modules.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"

using namespace gpu_emulator;

namespace {

cudaError_t check_device(int device) {
  return fail(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

struct Attribute {
  cudaDeviceAttr attribute;
  int value;
};
/// An H100 PCIe/SXM of compute capability 9.0, as its data sheet and CUDA's tables have it.
constexpr Attribute kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 48 * 1024},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, int(kMostSharedPerBlock)},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, int(kSharedPerProcessor)},
    {cudaDevAttrReservedSharedMemoryPerBlock, int(kReservedShared)},
    {cudaDevAttrTotalConstantMemory, 64 * 1024},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrL2CacheSize, 50 * 1024 * 1024},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrCooperativeLaunch, 0},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrConcurrentManagedAccess, 0},
    {cudaDevAttrMemoryPoolsSupported, 0},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrEccEnabled, 0},
    {cudaDevAttrKernelExecTimeout, 0},
};

std::optional<int> attribute_of(cudaDeviceAttr attribute) {
  if (attribute == cudaDevAttrMultiProcessorCount) return settings().processors;
  if (attribute == cudaDevAttrComputeCapabilityMajor) return settings().architecture / 10;
  if (attribute == cudaDevAttrComputeCapabilityMinor) return settings().architecture % 10;
  for (const Attribute& a : kAttributes) {
    if (a.attribute == attribute) return a.value;
  }
  return std::nullopt;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return check_device(device); }
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return check_device(device); }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (const cudaError_t error = check_device(device); error != cudaSuccess) return error;
  const auto known = attribute_of(attribute);
  *value = known.value_or(0);
  if (!known) say("cudaDeviceGetAttribute: 0 for attribute " + std::to_string(int(attribute)));
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (const cudaError_t error = check_device(device); error != cudaSuccess) return error;
  const auto of = [](cudaDeviceAttr attribute) { return attribute_of(attribute).value_or(0); };
  *p = {};
  std::strcpy(p->name, "emulated GPU");
  p->totalGlobalMem = Memory::kBytes;
  p->sharedMemPerBlock = size_t(of(cudaDevAttrMaxSharedMemoryPerBlock));
  p->sharedMemPerBlockOptin = kMostSharedPerBlock;
  p->sharedMemPerMultiprocessor = kSharedPerProcessor;
  p->reservedSharedMemPerBlock = kReservedShared;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = 32;
  p->memPitch = 2147483647;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = of(cudaDevAttrMaxGridDimX);
  p->maxGridSize[1] = p->maxGridSize[2] = of(cudaDevAttrMaxGridDimY);
  p->totalConstMem = 64 * 1024;
  p->major = of(cudaDevAttrComputeCapabilityMajor);
  p->minor = of(cudaDevAttrComputeCapabilityMinor);
  p->textureAlignment = 512;
  p->multiProcessorCount = settings().processors;
  p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
  p->asyncEngineCount = 3;
  p->l2CacheSize = of(cudaDevAttrL2CacheSize);
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->hostNumaId = -1;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
