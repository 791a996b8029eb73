// Warps of a block that run one environment each and meet before each step of a long search. They
// then run through the same code at the same time, and fetch it once: on a GPU, fetching the
// instructions of a large body takes longer than executing them (docs/performance.md).
#pragma once
#include "kernels/group/warp_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

#if defined(__CUDACC__)
struct MeetingWarp : WarpGroup<32> {
  static constexpr int kTogether = 4;  ///< warps of a block

  /// Waits for the other warps of the block, each of which comes here or has `left`.
  __device__ __forceinline__ void meet() const { __syncthreads_or(1); }
  /// Waits until all of them have left.
  __device__ __forceinline__ static void leave() {
    while (__syncthreads_or(0) != 0) {
    }
  }
};
#endif

/// Lets the groups that meet do so.
template <class G>
SS_HD void meet(const G& g) {
  if constexpr (requires { g.meet(); }) g.meet();
}

}  // namespace stickslip::kernels::inline SS_ISA
