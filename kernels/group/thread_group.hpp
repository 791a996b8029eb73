// Every lane is a thread and every barrier a thread barrier, so that ThreadSanitizer finds on the
// CPU the races that a GPU would have. For tests: one environment at a time.
#pragma once
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Data shared by the lanes of one group.
struct ThreadTeam {
  explicit ThreadTeam(int lane_count)
      : lanes(lane_count),
        barrier(lane_count),
        partials(32),
        lane_values(std::size_t(lane_count)) {}
  int lanes;
  std::barrier<> barrier;
  std::vector<double> partials;
  std::vector<double> lane_values;
};

struct ThreadGroup {
  static constexpr int kChunk = 1;
  ThreadTeam* team;
  int lane;

  void sync() const { team->barrier.arrive_and_wait(); }

  static int teams(int /*cols*/) { return 2; }

  template <class F>
  void for_each(int n, F&& f) const {
    sync();
    for (int i = lane; i < n; i += team->lanes) f(i);
    sync();
  }
  template <class F>
  void for_each_2d(int rows, int cols, F&& f) const {
    for_each(rows * cols, [&](int k) { f(k / cols, k % cols); });
  }
  template <class F>
  void for_rows(int rows, int cols, F&& f) const {
    sync();
    for (int i = 0; i < rows; ++i) {
      f(i, [&](auto&& entry) {
        for (int j = lane; j < cols; j += team->lanes) entry(j);
      });
    }
    sync();
  }
  template <class F>
  void once(F&& f) const {
    sync();
    if (lane == 0) f();
    sync();
  }
  template <class F>
  auto compute(F&& f) const {
    return f();
  }
  template <class F>
  auto sum(int n, F&& f) const {
    using T = decltype(f(0));
    sync();
    for (int p = lane; p < 32; p += team->lanes) {
      T partial = 0;
      for (int i = p; i < n; i += 32) partial += f(i);
      team->partials[std::size_t(p)] = double(partial);  // float -> double -> float is exact
    }
    sync();
    T fold[32];
    for (int p = 0; p < 32; ++p) fold[p] = T(team->partials[std::size_t(p)]);
    for (int half = 16; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) fold[i] += fold[i + half];
    }
    sync();
    return fold[0];
  }
  template <class F>
  auto max(int n, F&& f) const {
    using T = decltype(f(0));
    sync();
    T best = 0;
    for (int i = lane; i < n; i += team->lanes) {
      const T value = f(i);
      best = value > best ? value : best;
    }
    return T(fold_lanes(double(best), [](double a, double b) { return b > a ? b : a; }));
  }
  template <class F>
  bool any(int n, F&& f) const {
    return max(n, [&](int i) { return f(i) ? 1.0F : 0.0F; }) > 0.0F;
  }
  template <class F, class T>
  int list(int n, F&& wanted, T&& take) const {
    sync();
    int count = 0;
    for (int i = 0; i < n; ++i) {
      if (!wanted(i)) continue;
      if (count % team->lanes == lane) take(i, count);
      ++count;
    }
    sync();
    return count;
  }
  template <class F>
  auto argmax(int n, F&& f) const {
    sync();
    int best = -1;
    const auto better = [&](int i, int j) {  // whether i precedes j
      if (i < 0 || j < 0) return i >= 0;
      const auto a = order_bits(f(i)), b = order_bits(f(j));
      return a > b || (a == b && i < j);
    };
    for (int i = lane; i < n; i += team->lanes) best = better(i, best) ? i : best;
    best = int(fold_lanes(double(best),
                          [&](double a, double b) { return better(int(b), int(a)) ? b : a; }));
    return Largest<decltype(f(0))>{best, f(best)};
  }

 private:
  /// Combines one number per lane; every lane gets the result.
  template <class Op>
  double fold_lanes(double mine, Op op) const {
    team->lane_values[std::size_t(lane)] = mine;
    sync();
    double result = team->lane_values[0];
    for (double value : team->lane_values) result = op(result, value);
    sync();
    return result;
  }
};

/// Runs `body(group)` once on every lane of a group of `lanes` threads.
template <class Body>
void run_lanes(int lanes, Body body) {
  ThreadTeam team(lanes);
  std::vector<std::thread> threads;
  for (int lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] { body(ThreadGroup{&team, lane}); });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace stickslip::kernels::inline SS_ISA
