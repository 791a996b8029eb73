// A whole CUDA block of N lanes runs one environment: for problems so large that few of them fit in
// the shared memory of a multiprocessor, where single warps would leave most of it idle.
//
// As in a warp, every call begins and ends with a barrier, and reductions end with the same value
// on all lanes. Sums always have 32 partials (host_group.hpp), so the first warp adds.
#pragma once
#include "kernels/group/warp_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

#if defined(__CUDACC__) || defined(SS_EMULATED_WARP)
template <int N>
struct BlockGroup {
  static_assert(N > 32 && N <= 1024 && N % 32 == 0);
  static constexpr int kLanes = N;
  static constexpr int kChunk = 1;
  static constexpr int kWarps = N / 32;

  __device__ static int lane() { return int(threadIdx.x); }
  __device__ static void sync() { __syncthreads(); }

  template <class F>
  __device__ __forceinline__ void for_each(int n, F&& f) const {
    sync();
#pragma unroll 1
    for (int i = lane(); i < n; i += N) f(i);
    sync();
  }
  template <class F>
  __device__ __forceinline__ void for_each_2d(int rows, int cols, F&& f) const {
    sync();
    // One warp per row, so that neighbouring lanes have neighbouring columns.
#pragma unroll 1
    for (int i = lane() / 32; i < rows; i += kWarps) {
#pragma unroll 1
      for (int j = lane() % 32; j < cols; j += 32) f(i, j);
    }
    sync();
  }
  template <class F>
  __device__ __forceinline__ void once(F&& f) const {
    sync();
    if (lane() == 0) f();
    sync();
  }
  template <class F>
  __device__ __forceinline__ auto sum(int n, F&& f) const {
    decltype(f(0)) total = 0;
    sync();
    if (warp() == 0) total = WarpGroup<32>{}.sum(n, f);
    return share(total);
  }
  template <class F>
  __device__ __forceinline__ auto max(int n, F&& f) const {
    using T = decltype(f(0));
    sync();
    const Part part(n);
    T best = WarpGroup<32>{}.max(part.size, [&](int i) { return f(part.first + i); });
    T* const of_warp = places<T>();
    if (lane() % 32 == 0) of_warp[warp()] = best;
    sync();
    best = of_warp[0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) best = of_warp[w] > best ? of_warp[w] : best;
    sync();
    return best;
  }
  template <class F>
  __device__ __forceinline__ bool any(int n, F&& f) const {
    bool found = false;
    sync();
#pragma unroll 1
    for (int i = lane(); i < n; i += N) found = found || f(i);
    return __syncthreads_or(found ? 1 : 0) != 0;
  }
  template <class F>
  __device__ __forceinline__ int argmax(int n, F&& f) const {
    sync();
    const Part part(n);
    const int mine = WarpGroup<32>{}.argmax(part.size, [&](int i) { return f(part.first + i); });
    int* const of_warp = places<int>();
    if (lane() % 32 == 0) of_warp[warp()] = mine < 0 ? -1 : part.first + mine;
    sync();
    int best = of_warp[0];  // the first part is never empty
    auto most = order_bits(f(best));
#pragma unroll 1
    for (int w = 1; w < kWarps && of_warp[w] >= 0; ++w) {
      const auto value = order_bits(f(of_warp[w]));
      if (value > most) {
        most = value;
        best = of_warp[w];
      }
    }
    sync();
    return best;
  }
  /// Returns the value of the first lane on all lanes.
  template <class T>
  __device__ __forceinline__ T share(T value) const {
    T* const place = places<T>();
    if (lane() == 0) *place = value;
    sync();
    value = *place;
    sync();
    return value;
  }

 private:
  __device__ static int warp() { return int(threadIdx.x) / 32; }

  /// A warp's part of n items: a run of consecutive items, so that of equal items the first belongs
  /// to the first warp.
  struct Part {
    int first, size;
    __device__ explicit Part(int n) {
      const int most = (n + kWarps - 1) / kWarps;
      first = warp() * most;
      size = n - first < most ? n - first : most;
    }
  };

  /// One value per warp, in shared memory.
  template <class T>
  __device__ static T* places() {
    __shared__ T memory[kWarps];
    return memory;
  }
};
#endif

}  // namespace stickslip::kernels::inline SS_ISA
