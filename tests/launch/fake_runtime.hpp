// The interface of the runtime without a GPU for tests.
#pragma once
#include <cstddef>
#include <functional>
#include <set>

namespace stickslip::fake {

/// Calls of the runtime since the last `reset`.
struct Calls {
  int allocations = 0, waits = 0, copies = 0, launches = 0;
  std::set<const void*> streams;  ///< of launches
};
Calls& calls();

struct LaunchShape {
  int blocks, threads;
  std::size_t shared_bytes;
};

/// A kernel: reads its parameters as cudaLaunchKernel gets them, and returns the work to do.
struct Kernel {
  std::function<void()> (*bind)(void** parameters, const LaunchShape& shape);
};

/// Result of cudaGetDeviceCount from now on: cudaSuccess, with one device, or this error.
void set_device_error(int error);

/// What cudaMemGetInfo reports from now on; 80 GiB before.
void set_free_memory(std::size_t bytes);

/// Whether all of [memory, memory + bytes) is device memory.
bool on_device(const void* memory, std::size_t bytes);

}  // namespace stickslip::fake
