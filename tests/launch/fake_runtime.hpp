// What tests see of the runtime without a GPU.
#pragma once
#include <cstddef>
#include <functional>

namespace stickslip::fake {

/// Calls of the runtime since the last `reset`.
struct Calls {
  int allocations = 0, waits = 0, copies = 0, launches = 0;
};
Calls& calls();

struct LaunchShape {
  int blocks, threads;
  std::size_t shared_bytes;
};

/// A kernel: reads its parameters, as cudaLaunchKernel gets them, and returns what it will do.
struct Kernel {
  std::function<void()> (*bind)(void** parameters, const LaunchShape& shape);
};

/// Whether all of [memory, memory + bytes) is device memory.
bool on_device(const void* memory, std::size_t bytes);

}  // namespace stickslip::fake
