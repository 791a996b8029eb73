#include "ptx/machine/block_queue.hpp"

#include <algorithm>
#include <tuple>

namespace gpu_emulator::ptx {
namespace {

// Blocks that wait before the others come in order of their index.
constexpr std::size_t kAside = 64;
constexpr u64 kMostUnchanged = 1000;  // rounds in which nothing was written
constexpr u64 kMostShuffled = u64(1) << 20;

}  // namespace

BlockQueue::BlockQueue(Machine& machine, u64 blocks)
    : machine_(machine), blocks_(blocks), left_(blocks) {
  if (!machine.shuffled || blocks > kMostShuffled) return;
  order_.resize(blocks);
  for (u32 i = 0; i < blocks; ++i) order_[i] = i;
  machine.random.shuffle(order_);
}

void BlockQueue::run() {
  while (left_ != 0 || !waiting_.empty()) {
    if (left_ == 0) {
      resume_all();
      if (unchanged_ >= kMostUnchanged) hang();
    } else if (waiting_.size() < kAside) {
      begin(next_in_order());
    } else if (!resume_all()) {
      begin_lowest();
    }
  }
}

u64 BlockQueue::next_in_order() {
  while (!started_.empty() && started_[in_order(next_)]) ++next_;
  return in_order(next_++);
}

/// Perhaps those that wait do so for the first ones, which a GPU would begin with.
void BlockQueue::begin_lowest() {
  for (std::size_t n = 0; n < kAside / 4 && left_ != 0; ++n) {
    while (started_[lowest_]) ++lowest_;
    begin(lowest_);
  }
}

void BlockQueue::begin(u64 index) {
  --left_;
  if (!started_.empty()) started_[index] = true;
  machine_.start_block(index);
  if (machine_.run_block(left_ == 0 && waiting_.empty())) return;
  if (started_.empty()) {
    started_.assign(blocks_, false);
    for (u64 i = 0; i < next_; ++i) started_[in_order(i)] = true;
  }
  put_aside();
}

void BlockQueue::put_aside() {
  waiting_.push_back(std::move(machine_.block));
  if (spare_.empty()) spare_.push_back(std::make_unique<Block>());
  machine_.activate(std::move(spare_.back()));
  spare_.pop_back();
}

/// A chain of those that wait is done in one round, forwards or backwards. Returns whether one has
/// ended.
bool BlockQueue::resume_all() {
  bool ended = false;
  const bool forwards = rounds_++ % 2 == 0;
  std::sort(waiting_.begin(), waiting_.end(), [&](const auto& a, const auto& b) {
    const auto x = std::tie(a->index.z, a->index.y, a->index.x);
    const auto y = std::tie(b->index.z, b->index.y, b->index.x);
    return forwards ? x < y : y < x;
  });
  for (std::size_t n = waiting_.size(); n > 0; --n) {
    spare_.push_back(std::move(machine_.block));
    machine_.activate(std::move(waiting_.front()));
    waiting_.pop_front();
    if (machine_.run_block(waiting_.empty() && left_ == 0)) {
      ended = true;
    } else {
      put_aside();
    }
  }
  unchanged_ = ended || machine_.changes != changes_before_ ? 0 : unchanged_ + 1;
  changes_before_ = machine_.changes;
  return ended;
}

void BlockQueue::hang() {
  const std::size_t n = waiting_.size();
  machine_.activate(std::move(waiting_.front()));
  const Messages& messages = machine_.messages;
  std::string s = messages.context() + ": taken for a hang: " + std::to_string(n) +
                  " blocks wait for one another";
  for (const auto& w : machine_.block->warps) {
    if (w->count == 0 || w->polls == 0) continue;
    const Function& f = *w->first().frame->function;
    s += "; warp " + std::to_string(w->index) + " at " + messages.where(f, f.code[w->first().pc]);
    break;
  }
  machine_.messages.stop(s);
}

}  // namespace gpu_emulator::ptx
