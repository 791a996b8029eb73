// L lanes of a CUDA warp run one environment; L is a power of two up to 32.
//
// Loops over items are not unrolled: n is rarely more than a few L, and unrolled bodies need more
// registers, which may make a kernel spill. Reductions end with the same value on all lanes: a
// butterfly adds the same pairs on both sides, and a + b has the same bits as b + a. Maxima compare
// the bits of numbers >= 0 as integers, which a whole warp reduces in one instruction. Parts of a
// warp would execute that one after the other (395 cycles for 8 lanes on an H200, an exchange 88),
// so these use butterflies.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

// A test defines SS_EMULATED_WARP and implements the few CUDA functions used here with threads.
#if defined(__CUDACC__) || defined(SS_EMULATED_WARP)
template <int L>
struct WarpGroup {
  static_assert(L >= 1 && L <= 32 && (L & (L - 1)) == 0);
  static constexpr int kLanes = L;
  static constexpr int kChunk = 1;
  static constexpr int kBits = L == 1 ? 0 : L == 2 ? 1 : L == 4 ? 2 : L == 8 ? 3 : L == 16 ? 4 : 5;
  static constexpr int kPartials = 32 / L;  ///< partial sums of this lane, of 32

  __device__ static int lane() { return int(threadIdx.x) % L; }
  __device__ static unsigned mask() {
    if constexpr (L == 32) {
      return 0xffffffffU;
    } else {
      return ((1U << L) - 1U) << ((threadIdx.x % 32) / L * L);
    }
  }
  __device__ static void sync() { __syncwarp(mask()); }

  /// Short rows share the lanes: a row of `cols` columns takes 2^row_bits.
  __device__ static int row_bits(int cols) {
    const int needed = 32 - __clz(cols - 1);
    return needed < kBits ? needed : kBits;
  }
  __device__ static int teams(int cols) { return L >> row_bits(cols); }

  template <class F>
  __device__ __forceinline__ void for_each(int n, F&& f) const {
    sync();
#pragma unroll 1
    for (int i = lane(); i < n; i += L) f(i);
    sync();
  }
  template <class F>
  __device__ __forceinline__ void for_each_2d(int rows, int cols, F&& f) const {
    for_rows(rows, cols, [&](int i, auto&& columns) { columns([&](int j) { f(i, j); }); });
  }
  template <class F>
  __device__ __forceinline__ void for_rows(int rows, int cols, F&& f) const {
    const int bits = row_bits(cols), width = 1 << bits, first = lane() & (width - 1);
    const auto columns = [&](auto&& entry) {
#pragma unroll 1
      for (int j = first; j < cols; j += width) entry(j);
    };
    sync();
#pragma unroll 1
    for (int i = lane() >> bits; i < rows; i += L >> bits) f(i, columns);
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
    using T = decltype(f(0));
    sync();
    T partial[kPartials] = {};
    // One copy of f for all partial sums: a large one takes room in the instruction cache.
#pragma unroll 1
    for (int i = lane(), turn = 0; i < n; i += L, ++turn) {
      const T value = f(i);
#pragma unroll
      for (int p = 0; p < kPartials; ++p) partial[p] += turn % kPartials == p ? value : T(0);
    }
#pragma unroll
    for (int half = kPartials / 2; half > 0; half /= 2) {
#pragma unroll
      for (int p = 0; p < half; ++p) partial[p] += partial[p + half];
    }
    T total = partial[0];
#pragma unroll 1
    for (int offset = L / 2; offset > 0; offset /= 2) {
      total += __shfl_xor_sync(mask(), total, offset, L);
    }
    sync();
    return total;
  }
  template <class F>
  __device__ __forceinline__ auto max(int n, F&& f) const {
    using T = decltype(f(0));
    sync();
    T best = T(0);
#pragma unroll 1
    for (int i = lane(); i < n; i += L) {
      const T value = f(i);
      best = value > best ? value : best;
    }
    best = number_of<T>(largest(order_bits(best)));
    sync();
    return best;
  }
  template <class F>
  __device__ __forceinline__ bool any(int n, F&& f) const {
    sync();
    bool found = false;
#pragma unroll 1
    for (int i = lane(); i < n; i += L) found = found || f(i);
    if constexpr (L < 32) {
      found = exchanged(unsigned(found), [](unsigned a, unsigned b) { return a > b; }) != 0U;
    } else {
      found = __any_sync(mask(), found);
    }
    sync();
    return found;
  }
  template <class F, class T>
  __device__ __forceinline__ int list(int n, F&& wanted, T&& take) const {
    const unsigned before = (1U << threadIdx.x % 32) - 1U;
    sync();
    int count = 0;
#pragma unroll 1
    for (int first = 0; first < n; first += L) {
      const int i = first + lane();
      const bool mine = i < n && wanted(i);
      const unsigned all = __ballot_sync(mask(), mine) & mask();
      if (mine) take(i, count + __popc(all & before));
      count += __popc(all);
    }
    sync();
    return count;
  }
  template <class F>
  __device__ __forceinline__ auto argmax(int n, F&& f) const {
    sync();
    using T = decltype(f(0));
    using Bits = decltype(order_bits(T(0)));
    Bits most = 0;
    int best = lane();  // if all of this lane's numbers are 0, or it has none
#pragma unroll 1
    for (int i = lane(); i < n; i += L) {
      const Bits value = order_bits(f(i));
      if (value > most) {
        most = value;
        best = i;
      }
    }
    const Bits top = largest(most);
    best = least(most == top ? unsigned(best) : ~0U);
    sync();
    return Largest<T>{best, number_of<T>(top)};
  }
  template <class F>
  __device__ __forceinline__ auto compute(F&& f) const {
    return f();
  }
  /// Returns the value of the first lane on all lanes.
  template <class T>
  __device__ __forceinline__ T share(T value) const {
    return __shfl_sync(mask(), value, 0, L);
  }

 private:
  /// The number of which `first(a, b)` holds against those of all other lanes.
  template <class T, class First>
  __device__ static T exchanged(T value, First&& first) {
#pragma unroll 1
    for (int offset = L / 2; offset > 0; offset /= 2) {
      const T other = __shfl_xor_sync(mask(), value, offset, L);
      value = first(other, value) ? other : value;
    }
    return value;
  }
  /// The largest of the lanes' numbers >= 0: their upper halves are compared first.
  template <class Bits>
  __device__ static Bits largest(Bits bits) {
    if constexpr (L < 32) {
      return exchanged(bits, [](Bits a, Bits b) { return a > b; });
    } else if constexpr (sizeof(Bits) == 4) {
      return Bits(__reduce_max_sync(mask(), unsigned(bits)));
    } else {
      const unsigned upper = unsigned(bits >> 32), most = __reduce_max_sync(mask(), upper);
      const unsigned lower = upper == most ? unsigned(bits) : 0U;
      return Bits(most) << 32 | __reduce_max_sync(mask(), lower);
    }
  }
  __device__ static int least(unsigned index) {
    if constexpr (L < 32) {
      return int(exchanged(index, [](unsigned a, unsigned b) { return a < b; }));
    } else {
      return int(__reduce_min_sync(mask(), index));
    }
  }
};
#endif

}  // namespace stickslip::kernels::inline SS_ISA
