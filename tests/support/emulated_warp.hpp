// kernels/group/warp_group.hpp on the CPU: the 32 threads of a warp are coroutines that take turns,
// and what CUDA's warp functions do is done when all threads of the mask have come to them.
#pragma once
// g++ knows no `#pragma unroll` and would say so.
#pragma GCC system_header
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <vector>

namespace stickslip::emulated {

/// A warp whose threads form groups of `group_size`.
class Warp {
 public:
  static constexpr int kThreads = 32;
  static constexpr std::size_t kStackBytes = 1 << 18;

  explicit Warp(int group_size) : group_size_(group_size) {}

  /// Runs body() on every thread, one after the other between barriers.
  void run(const std::function<void()>& body) {
    current_warp = this;
    body_ = &body;
    std::vector<unsigned char> stacks(kThreads * kStackBytes);
    for (int i = 0; i < kThreads; ++i) {
      getcontext(&lanes_[i].context);
      lanes_[i].context.uc_stack.ss_sp = stacks.data() + std::size_t(i) * kStackBytes;
      lanes_[i].context.uc_stack.ss_size = kStackBytes;
      lanes_[i].context.uc_link = &scheduler_;
      makecontext(&lanes_[i].context, &Warp::start, 0);
    }
    for (int done = 0; done < kThreads;) {
      done = 0;
      for (running_ = 0; running_ < kThreads; ++running_) {
        if (!lanes_[running_].done) swapcontext(&scheduler_, &lanes_[running_].context);
        done += lanes_[running_].done ? 1 : 0;
      }
    }
  }

  int thread() const { return running_; }

  /// Waits for all threads of the group. The mask must name them all, and none may have returned.
  void meet(unsigned mask) {
    const int lane = running_, first = lane / group_size_ * group_size_;
    const unsigned all = group_size_ == 32 ? ~0U : (1U << group_size_) - 1U;
    if (mask != all << first) std::terminate();
    const int turn = ++lanes_[lane].barriers;
    for (int i = first; i < first + group_size_; ++i) {
      while (lanes_[i].barriers < turn) {
        if (lanes_[i].done) std::terminate();
        swapcontext(&lanes_[lane].context, &scheduler_);
      }
    }
  }

  std::uint64_t places[kThreads] = {};  ///< of shuffled values
  static inline Warp* current_warp = nullptr;

 private:
  struct Lane {
    ucontext_t context;
    int barriers = 0;
    bool done = false;
  };
  static void start() {
    (*current_warp->body_)();
    current_warp->lanes_[current_warp->running_].done = true;
  }

  int group_size_;
  int running_ = 0;
  const std::function<void()>* body_ = nullptr;
  ucontext_t scheduler_;
  Lane lanes_[kThreads];
};

inline int thread() { return Warp::current_warp->thread(); }

/// Value of lane `own ^ offset` within each run of `width` lanes.
template <class T>
T shuffle_xor(unsigned mask, T value, int offset, int width) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  Warp& warp = *Warp::current_warp;
  std::memcpy(&warp.places[warp.thread()], &value, sizeof value);
  warp.meet(mask);
  const int first = warp.thread() / width * width;
  std::memcpy(&value, &warp.places[first + ((warp.thread() - first) ^ offset)], sizeof value);
  warp.meet(mask);
  return value;
}

inline bool any(unsigned mask, bool value) {
  const int width = __builtin_popcount(mask);
  for (int offset = 1; offset < width; offset *= 2) {
    value = shuffle_xor(mask, int(value), offset, width) != 0 || value;
  }
  return value;
}

inline void sync(unsigned mask) { Warp::current_warp->meet(mask); }

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
#define __any_sync ::stickslip::emulated::any
#include "kernels/group/warp_group.hpp"
