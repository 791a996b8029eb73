// A HostGroup that runs its lanes in a different order for every seed: a body that is correct for
// one order only (a race on a GPU) changes its bits. For tests.
#pragma once
#include <cstdint>

#include "kernels/group/host_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <int kRowsPerLane = 1>
struct PermutedGroup : HostGroup {
  static constexpr int kChunk = kRowsPerLane;
  std::uint32_t seed = 1;

  template <class F>
  void for_each(int n, F&& f) const {
    for (int k = 0; k < n; ++k) f(at(k, n));
  }
  template <class F>
  void for_each_2d(int rows, int cols, F&& f) const {
    for (int k = 0; k < rows * cols; ++k) f(at(k, rows * cols) / cols, at(k, rows * cols) % cols);
  }
  template <class F>
  void for_rows(int rows, int cols, F&& f) const {
    for (int k = 0; k < rows; ++k) {
      f(at(k, rows), [&](auto&& entry) {
        for (int j = 0; j < cols; ++j) entry(at(j, cols));
      });
    }
  }
  template <class F>
  auto max(int n, F&& f) const {
    return HostGroup::max(n, [&](int k) { return f(at(k, n)); });
  }
  template <class F>
  bool any(int n, F&& f) const {
    return HostGroup::any(n, [&](int k) { return f(at(k, n)); });
  }
  template <class F>
  auto argmax(int n, F&& f) const {
    int best = at(0, n);
    for (int k = 1; k < n; ++k) {
      const int i = at(k, n);
      const auto value = order_bits(f(i)), most = order_bits(f(best));
      if (value > most || (value == most && i < best)) best = i;
    }
    return Largest<decltype(f(0))>{best, f(best)};
  }

 private:
  int at(int k, int n) const {
    const int i = int((std::uint32_t(k) + seed) % std::uint32_t(n));
    return (seed & 1U) != 0U ? n - 1 - i : i;
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
