// Threads and scratch of CPU solves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/cpu/kernel_table.hpp"
#include "stickslip/solve.hpp"

namespace stickslip {

struct Workspace::Impl {
  std::int32_t max_rows, max_contacts;
  int threads;
  std::vector<std::int64_t> queue;  ///< environments that rung 0 left; grows to the largest batch

  /// What `threads` means as an argument: 0 stands for all cores.
  static int threads_or_all(int threads);

  /// Makes every thread's scratch at least `bytes` large; a no-op once it is.
  void reserve(std::size_t bytes);

  /// Memory of one thread.
  void* scratch(int thread) const { return scratch_[std::size_t(thread)].get(); }

  /// Calls f(begin, end, scratch) over chunks of [0, count), on all threads. Which thread runs
  /// which environment does not matter: no environment sees another. Chunks of 16 are small enough
  /// to balance uneven environments and large enough to amortise the scheduling.
  template <class F>
  void for_chunks(std::int64_t count, F&& f, std::int64_t largest_chunk = 16) {
    const std::int64_t chunk = std::min(largest_chunk, (count + threads - 1) / threads);
    const std::int64_t chunks = chunk == 0 ? 0 : (count + chunk - 1) / chunk;
    if (threads == 1 || chunks <= 1) {  // a parallel region of one would cost as much as a solve
      f(0, count, scratch(0));
      return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::int64_t c = 0; c < chunks; ++c) {
      f(c * chunk, std::min(count, (c + 1) * chunk), scratch(thread_index()));
    }
  }

 private:
  struct AlignedDelete {
    void operator()(unsigned char* p) const;
  };
  static int thread_index();
  std::vector<std::unique_ptr<unsigned char, AlignedDelete>> scratch_;
  std::size_t bytes_ = 0;
};

}  // namespace stickslip
