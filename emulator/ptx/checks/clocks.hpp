// What each thread of a block knows of the others' progress: vector clocks. A barrier of the whole
// block begins an epoch, in which nobody knows anything yet.
#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx {

class Clocks {
 public:
  explicit Clocks(u32 threads)
      : threads_(threads), clocks_(std::size_t(threads) * threads), row_epoch_(threads) {}

  u32 threads() const { return threads_; }
  u32 epoch() const { return epoch_; }
  void restart() {
    epoch_ = 1;
    crossed_ = false;
    std::fill(row_epoch_.begin(), row_epoch_.end(), 0);
  }
  void new_epoch() {
    ++epoch_;
    crossed_ = false;
  }
  u32 now(u32 t) { return row(t)[t]; }
  /// What thread t knows of another in this epoch.
  u32 known(u32 t, u32 other) { return row(t)[other]; }
  bool before(u32 epoch, u32 thread, u32 clock, u32 t) {
    return epoch != epoch_ || thread == t || known(t, thread) >= clock;
  }

  /// A barrier among these lanes of a warp.
  void order(u32 warp, u32 mask);
  /// A barrier of a part of the block: what those that arrive know, and what those that leave do.
  void arrive(std::vector<u32>& joined, u32 t, bool goes_on);
  void leave(const std::vector<u32>& joined, u32 t);
  /// Clocks of other warps matter from here on in this epoch.
  void cross() { crossed_ = true; }

 private:
  u32* row(u32 t) {
    u32* r = &clocks_[std::size_t(t) * threads_];
    if (row_epoch_[t] != epoch_) {
      row_epoch_[t] = epoch_;
      std::fill(r, r + threads_, 0);
      r[t] = 1;
    }
    return r;
  }

  u32 threads_, epoch_ = 1;
  bool crossed_ = false;
  std::vector<u32> clocks_, row_epoch_;
};

}  // namespace gpu_emulator::ptx
