// kernels/group/{warp,block}_group.hpp on the CPU: the threads of a block are coroutines that run
// in turn, and CUDA's functions for warps and blocks are executed when all threads of the mask, or
// of the block, have reached them.
#pragma once
// g++ does not know `#pragma unroll` and would warn.
#pragma GCC system_header
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <vector>

namespace stickslip::emulated {

/// A block of `threads` (whole warps) whose warps form groups of `group_size`.
class Block {
 public:
  static constexpr std::size_t kStackBytes = 1 << 18;

  Block(int threads, int group_size)
      : places(std::size_t(threads)), group_size_(group_size), lanes_(std::size_t(threads)) {}

  /// Runs body() on every thread, one after another between barriers.
  void run(const std::function<void()>& body) {
    current = this;
    body_ = &body;
    std::vector<unsigned char> stacks(lanes_.size() * kStackBytes);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      getcontext(&lanes_[i].context);
      lanes_[i].context.uc_stack.ss_sp = stacks.data() + i * kStackBytes;
      lanes_[i].context.uc_stack.ss_size = kStackBytes;
      lanes_[i].context.uc_link = &scheduler_;
      makecontext(&lanes_[i].context, &Block::start, 0);
    }
    for (std::size_t done = 0; done < lanes_.size();) {
      done = 0;
      for (running_ = 0; running_ < lanes_.size(); ++running_) {
        if (!lanes_[running_].done) swapcontext(&scheduler_, &lanes_[running_].context);
        done += lanes_[running_].done ? 1 : 0;
      }
    }
  }

  int thread() const { return int(running_); }

  /// Waits for all threads of the group. The mask must contain them all; none may have returned.
  void meet(unsigned mask) {
    const int first = thread() / group_size_ * group_size_;
    const unsigned all = group_size_ == 32 ? ~0U : (1U << group_size_) - 1U;
    if (mask != all << first % 32) std::terminate();
    wait(&Lane::barriers, first, first + group_size_);
  }
  void meet_all() { wait(&Lane::block_barriers, 0, int(lanes_.size())); }

  std::vector<std::uint64_t> places;  ///< of exchanged values
  static inline Block* current = nullptr;

 private:
  struct Lane {
    ucontext_t context;
    int barriers = 0, block_barriers = 0;
    bool done = false;
  };
  void wait(int Lane::*count, int begin, int end) {
    const std::size_t lane = running_;
    const int turn = ++(lanes_[lane].*count);
    for (int i = begin; i < end; ++i) {
      while (lanes_[std::size_t(i)].*count < turn) {
        if (lanes_[std::size_t(i)].done) std::terminate();
        swapcontext(&lanes_[lane].context, &scheduler_);
      }
    }
  }
  static void start() {
    (*current->body_)();
    current->lanes_[current->running_].done = true;
  }

  int group_size_;
  std::size_t running_ = 0;
  const std::function<void()>* body_ = nullptr;
  ucontext_t scheduler_;
  std::vector<Lane> lanes_;
};

inline int thread() { return Block::current->thread(); }

/// Value of lane `source(own)` within each run of `width` lanes.
template <class T, class Source>
T exchange(unsigned mask, T value, int width, Source source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  Block& block = *Block::current;
  const int first = block.thread() / width * width;
  std::memcpy(&block.places[std::size_t(block.thread())], &value, sizeof value);
  block.meet(mask);
  std::memcpy(&value, &block.places[std::size_t(first + source(block.thread() - first))],
              sizeof value);
  block.meet(mask);
  return value;
}
template <class T>
T shuffle_xor(unsigned mask, T value, int offset, int width) {
  return exchange(mask, value, width, [&](int own) { return own ^ offset; });
}
template <class T>
T shuffle(unsigned mask, T value, int source, int width) {
  return exchange(mask, value, width, [&](int) { return source; });
}

inline bool any(unsigned mask, bool value) {
  const int width = __builtin_popcount(mask);
  for (int offset = 1; offset < width; offset *= 2) {
    value = shuffle_xor(mask, int(value), offset, width) != 0 || value;
  }
  return value;
}

template <class Op>
unsigned reduce(unsigned mask, unsigned value, Op op) {
  const int width = __builtin_popcount(mask);
  for (int offset = 1; offset < width; offset *= 2) {
    value = op(value, shuffle_xor(mask, value, offset, width));
  }
  return value;
}
inline unsigned largest(unsigned mask, unsigned value) {
  return reduce(mask, value, [](unsigned a, unsigned b) { return a < b ? b : a; });
}
inline unsigned least(unsigned mask, unsigned value) {
  return reduce(mask, value, [](unsigned a, unsigned b) { return b < a ? b : a; });
}
inline unsigned ballot(unsigned mask, bool value) {
  return reduce(mask, value ? 1U << thread() % 32 : 0U,
                [](unsigned a, unsigned b) { return a | b; });
}
inline int leading_zeros(int bits) { return bits == 0 ? 32 : __builtin_clz(unsigned(bits)); }

inline void sync(unsigned mask) { Block::current->meet(mask); }
inline void sync_block() { Block::current->meet_all(); }

inline int sync_block_or(int value) {
  Block& block = *Block::current;
  block.places[std::size_t(block.thread())] = value != 0 ? 1 : 0;
  block.meet_all();
  int found = 0;
  for (const std::uint64_t other : block.places) found |= int(other);
  block.meet_all();
  return found;
}

struct ThreadIndex {
  unsigned x;
};

}  // namespace stickslip::emulated

#define SS_EMULATED_WARP
#define __device__
#define __forceinline__ inline
#define threadIdx \
  ::stickslip::emulated::ThreadIndex { unsigned(::stickslip::emulated::thread()) }
#define __syncwarp ::stickslip::emulated::sync
#define __shfl_xor_sync ::stickslip::emulated::shuffle_xor
#define __shfl_sync ::stickslip::emulated::shuffle
#define __any_sync ::stickslip::emulated::any
#define __reduce_max_sync ::stickslip::emulated::largest
#define __reduce_min_sync ::stickslip::emulated::least
#define __ballot_sync ::stickslip::emulated::ballot
#define __popc __builtin_popcount
#define __clz ::stickslip::emulated::leading_zeros
#define __shared__ static
#define __syncthreads ::stickslip::emulated::sync_block
#define __syncthreads_or ::stickslip::emulated::sync_block_or
#include "kernels/group/block_group.hpp"
