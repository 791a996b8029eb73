// Threads and scratch of CPU solves.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "src/api/check.hpp"
#include "src/api/exclusive_use.hpp"
#include "src/api/impl.hpp"
#include "src/cpu/kernel_table.hpp"
#include "src/cpu/thread_pool.hpp"
#include "stickslip/solve.hpp"

namespace stickslip {

struct Workspace::Impl {
  std::int32_t max_rows, max_contacts;
  int threads;
  std::vector<double> impulses;     ///< of solves in double of arrays in float
  std::vector<std::int64_t> queue;  ///< what rung 0 left unsolved; grows to the largest batch
  ExclusiveUse caller{"Workspace"};
  std::function<bool()> go_on;  ///< see Workspace::watch

  /// `threads`: 0 means all cores.
  Impl(std::int32_t max_rows, std::int32_t max_contacts, int threads);

  /// Makes every thread's scratch at least `bytes` large; no effect if it already is. Throws
  /// std::invalid_argument if the machine does not have this much memory.
  void reserve(std::size_t bytes);
  std::size_t bytes() const { return bytes_ * scratch_.size(); }

  /// The ladder of the options; built again only if neither of the last two calls had them, because
  /// simulations alternate between two kinds of solves.
  const kernels::Ladder& ladder_of(const SolveOptions& options);

  /// Memory of one thread.
  void* scratch(int thread) const { return scratch_[std::size_t(thread)].get(); }

  /// Work of an environment; the unit is about 30 ns of one core.
  static double work_of(std::int32_t rows) { return 10.0 + double(rows) * rows; }

  /// Calls f(begin, end, scratch) over chunks of [0, count), on all threads, or only on the
  /// caller's if the work is too small to wake others. The assignment to threads has no effect on
  /// the results, because environments are independent. Chunks of 16 amortise the scheduling
  /// (measured: `stickslip_bench`, scaling); for large environments they are smaller. Throws
  /// Interrupted.
  template <class F>
  void for_chunks(std::int64_t count, double work, F&& f, std::int64_t largest = 16) {
    constexpr double kTooLittle = 5000.0, kLarge = 128.0 * 128.0;
    const bool alone = double(count) * work < kTooLittle;
    const auto chunk = std::int64_t(double(largest) * std::min(1.0, kLarge / work));
    static const std::function<bool()> nobody;
    CancellationToken token(alone ? nobody : go_on, work > kLarge);
    for_chunks_on_threads(
        alone ? 1 : threads, count, std::max<std::int64_t>(1, chunk), token,
        [&](std::int64_t begin, std::int64_t end, int thread) { f(begin, end, scratch(thread)); });
    token.finish();
  }

 private:
  struct AlignedDelete {
    void operator()(unsigned char* p) const;
  };
  std::vector<std::unique_ptr<unsigned char, AlignedDelete>> scratch_;
  std::size_t bytes_ = 0;
  kernels::Ladder ladders_[2] = {SolveOptions{}, SolveOptions{}};
  int last_ladder_ = 0;
};

/// Refuses a workspace that is too small.
template <class Scalar>
void check_workspace(const ProblemBatch<Scalar>& problem, const Workspace& workspace) {
  require(workspace.max_rows() >= problem.max_rows, "workspace.max_rows",
          "at least problem.max_rows", workspace.max_rows());
  require(workspace.max_contacts() >= problem.max_contacts, "workspace.max_contacts",
          "at least problem.max_contacts", workspace.max_contacts());
}

}  // namespace stickslip
