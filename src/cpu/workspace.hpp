// Threads and scratch of CPU solves.
#pragma once
#include <algorithm>
#include <atomic>
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
  /// which environment does not matter: no environment sees another. A chunk is a quarter of an
  /// equal share of what remains, so that nobody is left alone with hard environments at the end;
  /// chunks of 16 amortise the scheduling (measured: `stickslip_bench`, scaling).
  template <class F>
  void for_chunks(std::int64_t count, F&& f, std::int64_t largest_chunk = 16) {
    if (threads == 1 || count <= 1) {  // a parallel region of one would cost as much as a solve
      f(0, count, scratch(0));
      return;
    }
    std::atomic<std::int64_t> next{0};
    const auto chunk_at = [&](std::int64_t begin) {
      return std::clamp<std::int64_t>((count - begin) / (4 * threads), 1, largest_chunk);
    };
#pragma omp parallel num_threads(int(std::min <std::int64_t>(threads, count)))
    for (std::int64_t begin = next; begin < count; begin = next) {
      const std::int64_t end = begin + chunk_at(begin);
      if (next.compare_exchange_strong(begin, end)) f(begin, end, scratch(thread_index()));
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
