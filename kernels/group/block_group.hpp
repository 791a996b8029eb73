// A whole CUDA block of N lanes runs one environment: for problems so large that few of them fit in
// the shared memory of a multiprocessor, where single warps would leave most of it idle.
//
// As in a warp, every call begins and ends with a barrier, and reductions end with the same value
// on all lanes. The first warp reduces alone: to combine what several warps find costs more than it
// saves, and sums always have 32 partials (host_group.hpp).
#pragma once
#include "kernels/group/warp_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

#if defined(__CUDACC__) || defined(SS_EMULATED_WARP)
template <int N>
struct BlockGroup {
  static_assert(N > 32 && N <= 1024 && N % 32 == 0);
  static constexpr int kLanes = N;
  static constexpr int kChunk = 1;
  using Warp = WarpGroup<32>;

  __device__ static int lane() { return int(threadIdx.x); }
  __device__ static void sync() { __syncthreads(); }
  __device__ static int teams(int cols) { return N >> Warp::row_bits(cols); }

  template <class F>
  __device__ __forceinline__ void for_each(int n, F&& f) const {
    sync();
#pragma unroll 1
    for (int i = lane(); i < n; i += N) f(i);
    sync();
  }
  template <class F>
  __device__ __forceinline__ void for_each_2d(int rows, int cols, F&& f) const {
    for_rows(rows, cols, [&](int i, auto&& columns) { columns([&](int j) { f(i, j); }); });
  }
  template <class F>
  __device__ __forceinline__ void for_rows(int rows, int cols, F&& f) const {
    const int bits = Warp::row_bits(cols), width = 1 << bits, first = lane() & (width - 1);
    const auto columns = [&](auto&& entry) {
#pragma unroll 1
      for (int j = first; j < cols; j += width) entry(j);
    };
    sync();
#pragma unroll 1
    for (int i = lane() >> bits; i < rows; i += N >> bits) f(i, columns);
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
    if (warp() == 0) total = Warp{}.sum(n, f);
    return publish(total);
  }
  template <class F>
  __device__ __forceinline__ auto max(int n, F&& f) const {
    decltype(f(0)) best = 0;
    sync();
    if (warp() == 0) best = Warp{}.max(n, f);
    return publish(best);
  }
  template <class F>
  __device__ __forceinline__ bool any(int n, F&& f) const {
    bool found = false;
    sync();
#pragma unroll 1
    for (int i = lane(); i < n; i += N) found = found || f(i);
    return __syncthreads_or(found ? 1 : 0) != 0;
  }
  template <class F, class T>
  __device__ __forceinline__ int list(int n, F&& wanted, T&& take) const {
    int count = 0;
    sync();
    if (warp() == 0) count = Warp{}.list(n, wanted, take);
    return publish(count);
  }
  template <class F>
  __device__ __forceinline__ auto argmax(int n, F&& f) const {
    Largest<decltype(f(0))> best{};
    sync();
    if (warp() == 0) best = Warp{}.argmax(n, f);
    return publish(best);
  }
  template <class F>
  __device__ __forceinline__ auto compute(F&& f) const {
    decltype(f()) value{};
    sync();
    if (warp() == 0) value = f();
    return publish(value);
  }
  /// Returns the value of the first lane on all lanes.
  template <class T>
  __device__ __forceinline__ T share(T value) const {
    sync();
    return publish(value);
  }

 private:
  __device__ static int warp() { return int(threadIdx.x) / 32; }

  /// The same after a barrier, which separates this value from the one before.
  template <class T>
  __device__ __forceinline__ static T publish(T value) {
    if (lane() == 0) *place<T>() = value;
    sync();
    return *place<T>();
  }
  /// A value in shared memory.
  template <class T>
  __device__ static T* place() {
    __shared__ T memory;
    return &memory;
  }
};
#endif

}  // namespace stickslip::kernels::inline SS_ISA
