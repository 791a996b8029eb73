// One thread runs all lanes of an environment, one after the other: the CPU backend.
// is_group.hpp says what a group is.
#pragma once
#include "kernels/group/math.hpp"
#include "kernels/group/stop.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct HostGroup {
  /// Rows computed together, so that the compiler keeps them in vector registers.
  static constexpr int kChunk = 16;

  const Stop* stop = current_stop;
  bool stopped() const { return stop != nullptr && stop->ask(stop->whom); }

  SS_INNER static int teams(int /*cols*/) { return 1; }

  template <class F>
  SS_INNER void for_each(int n, F&& f) const {
#pragma GCC ivdep
    for (int i = 0; i < n; ++i) f(i);
  }
  template <class F>
  SS_INNER void for_each_2d(int rows, int cols, F&& f) const {
    for (int i = 0; i < rows; ++i) {
#pragma GCC ivdep
      for (int j = 0; j < cols; ++j) f(i, j);
    }
  }
  template <class F>
  SS_INNER void for_rows(int rows, int cols, F&& f) const {
    for (int i = 0; i < rows; ++i) {
      f(i, [&](auto&& entry) SS_INLINE {
#pragma GCC ivdep
        for (int j = 0; j < cols; ++j) entry(j);
      });
    }
  }
  template <class F>
  SS_INNER void once(F&& f) const {
    f();
  }
  template <class F>
  SS_INNER auto compute(F&& f) const {
    return f();
  }
  template <class F>
  SS_INNER auto sum(int n, F&& f) const {
    using T = decltype(f(0));
    T partial[32];
    // Partials beyond n are +0 and adding them changes no bit, so start with the halves in use.
    int half = 1;
    while (2 * half < n && half < 16) half *= 2;
    for (int i = 0; i < 2 * half; ++i) partial[i] = T(0);
    for (int i = 0; i < n; ++i) partial[i & 31] += f(i);
    for (; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) partial[i] += partial[i + half];
    }
    return partial[0];
  }
  template <class F>
  SS_INNER auto max(int n, F&& f) const {
    using T = decltype(f(0));
    constexpr int kWidth = 8;  // together, in vector registers if f allows
    T best[kWidth] = {};
    int i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      for (int l = 0; l < kWidth; ++l) {
        const T value = f(i + l);
        best[l] = value > best[l] ? value : best[l];
      }
    }
    for (; i < n; ++i) {
      const T value = f(i);
      best[0] = value > best[0] ? value : best[0];
    }
    for (int half = kWidth / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) best[l] = best[l + half] > best[l] ? best[l + half] : best[l];
    }
    return best[0];
  }
  template <class F>
  SS_INNER bool any(int n, F&& f) const {
    for (int i = 0; i < n; ++i) {
      if (f(i)) return true;
    }
    return false;
  }
  template <class F, class T>
  SS_INNER int list(int n, F&& wanted, T&& take) const {
    int count = 0;
    for (int i = 0; i < n; ++i) {
      if (wanted(i)) take(i, count++);
    }
    return count;
  }
  template <class F>
  SS_INNER auto argmax(int n, F&& f) const {
    using T = decltype(f(0));
    auto best = order_bits(f(0));
    if (n <= 12) {  // too short for vector registers
      int at = 0;
      for (int i = 1; i < n; ++i) {
        const auto bits = order_bits(f(i));
        at = bits > best ? i : at;
        best = bits > best ? bits : best;
      }
      return Largest<T>{at, number_of<T>(best)};
    }
    // Two passes: an integer maximum vectorises, then a search finds the lowest index with that
    // value.
    for (int i = 1; i < n; ++i) {
      const auto bits = order_bits(f(i));
      best = bits > best ? bits : best;
    }
    decltype(best) lowest = n;
    for (int i = 0; i < n; ++i) {
      const decltype(best) index = order_bits(f(i)) == best ? i : n;
      lowest = index < lowest ? index : lowest;
    }
    return Largest<T>{int(lowest), number_of<T>(best)};
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
