// The order of blocks. Where one waits for another, it is put aside and others run.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {

class BlockQueue {
 public:
  BlockQueue(Machine& machine, u64 blocks);
  void run();

 private:
  u64 in_order(u64 k) const { return order_.empty() ? k : order_[k]; }
  u64 next_in_order();
  void begin(u64 index);
  void put_aside();
  bool resume_all();
  void begin_lowest();
  [[noreturn]] void hang();

  Machine& machine_;
  const u64 blocks_;
  std::vector<u32> order_;     // empty: by index
  std::vector<bool> started_;  // known once blocks wait
  std::deque<std::unique_ptr<Block>> waiting_;
  std::vector<std::unique_ptr<Block>> spare_;  // memory of blocks that have ended, or none yet
  u64 next_ = 0, left_, lowest_ = 0, rounds_ = 0, changes_before_ = 0, unchanged_ = 0;
};

}  // namespace gpu_emulator::ptx
