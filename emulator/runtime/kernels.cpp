// Attributes of kernels, and how many blocks of them a multiprocessor holds.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/modules.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"

namespace gpu_emulator {
namespace {

/// The architecture that the PTX was made for.
int target_of(const std::string& text) {
  const std::size_t found = text.find(".target sm_");
  const int target =
      found == text.npos ? 0 : std::atoi(text.c_str() + found + std::strlen(".target sm_"));
  return target != 0 ? target : settings().architecture;
}

}  // namespace

/// A guess: ptxas uses at most 255, or what the launch bounds leave, and fewer than PTX has.
int Function::registers() const {
  const int warps = int(kernel->max_threads + 31) / 32;
  const int bound = 65536 / (warps * 32 * least_blocks) / 8 * 8;
  const int needed = int(std::min<std::uint32_t>(kernel->registers, 255) + 7) / 8 * 8;
  return std::clamp(std::min(needed, bound), 16, 255);
}

int resident_blocks(const Function& f, int threads, std::size_t dynamic_shared) {
  constexpr int kMostWarps = 64, kMostBlocks = 32, kRegisterUnit = 256;
  if (threads < 1 || threads > int(f.kernel->max_threads)) return 0;
  const std::size_t own = f.kernel->static_shared_bytes + dynamic_shared;
  if (own > kMostSharedPerBlock) return 0;
  const std::size_t shared = (own + kReservedShared + 127) / 128 * 128;
  const int warps = (threads + 31) / 32;
  const int per_warp = (f.registers() * 32 + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  const int by_registers = 65536 / per_warp / 4 * 4 / warps;  // four schedulers share the warps
  return std::min(
      {kMostBlocks, kMostWarps / warps, by_registers, int(kSharedPerProcessor / shared)});
}

}  // namespace gpu_emulator

using namespace gpu_emulator;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* symbol) {
  const Lock lock;
  Function* f = nullptr;
  if (const cudaError_t error = find_function(symbol, f); error != cudaSuccess) return fail(error);
  *attributes = {};
  attributes->sharedSizeBytes = f->kernel->static_shared_bytes;
  attributes->localSizeBytes = f->kernel->local_bytes;
  attributes->maxThreadsPerBlock = int(f->kernel->max_threads);
  attributes->numRegs = f->registers();
  attributes->ptxVersion = target_of(f->binary->text);  // libraries choose their tuning by it
  attributes->binaryVersion = settings().architecture;
  attributes->maxDynamicSharedSizeBytes = int(f->most_dynamic_shared);
  attributes->preferredShmemCarveout = -1;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* symbol, cudaFuncAttribute attribute, int value) {
  const Lock lock;
  Function* f = nullptr;
  if (const cudaError_t error = find_function(symbol, f); error != cudaSuccess) return fail(error);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;  // hints
  const bool fits =
      value >= 0 && std::size_t(value) + f->kernel->static_shared_bytes <= kMostSharedPerBlock;
  if (!fits) return fail(cudaErrorInvalidValue);
  f->most_dynamic_shared = std::size_t(value);
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* symbol,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
  const Lock lock;
  Function* f = nullptr;
  if (const cudaError_t error = find_function(symbol, f); error != cudaSuccess) return fail(error);
  if (threads < 1) return fail(cudaErrorInvalidValue);
  *blocks = resident_blocks(*f, threads, shared);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol,
                                                          int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, symbol, threads, shared, 0);
}

}  // extern "C"
