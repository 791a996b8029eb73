// How a mixed nonlinear complementarity problem ends early: by an exception of its map, by a watch.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "stickslip/mncp.hpp"
#include "stickslip/solve.hpp"

namespace stickslip {
namespace {

const MncpOptions kEndless{.max_newton = 1'000'000'000, .restarts = 1'000'000'000};

/// Problems of one free unknown. Those with this map have no solution: Newton's method goes on.
void unsolvable(const MncpPoint& at) {
  at.z[0] = 2.0 + std::sin(at.w[0]);
  if (at.jacobian != nullptr) at.jacobian[0] = 1e-9;
}

void solve_all(int num_envs, MncpMap map, const MncpOptions& options, MncpWorkspace& workspace) {
  const auto count = std::size_t(num_envs);
  std::vector<double> w(count), residual(count);
  std::vector<EnvStatus> status(count);
  std::vector<std::int32_t> iterations(count);
  MncpBatch p;
  p.num_envs = num_envs;
  p.max_w = 1;
  p.map = std::move(map);
  MncpResult r;
  r.w = {w.data(), 1};
  r.residual = residual.data();
  r.status = status.data();
  r.iterations = iterations.data();
  solve_mncp(p, r, options, workspace);
}

TEST(MncpStop, exceptions_of_the_map_reach_the_caller) {
  int calls = 0;
  const auto map = [&](const MncpPoint& at) {
    ++calls;
    if (at.env == 7) throw std::runtime_error("no such point");
    at.z[0] = at.w[0];
    if (at.jacobian != nullptr) at.jacobian[0] = 1.0;
  };
  MncpWorkspace workspace(1, 1);
  EXPECT_THROW(solve_all(50, map, {}, workspace), std::runtime_error);
  EXPECT_EQ(calls, 8);  // one per solved environment, and none after the exception
}

TEST(MncpStop, an_exception_of_the_map_ends_the_call_at_once) {
  for (const int threads : {1, 3}) {
    std::atomic<int> calls = 0;
    const auto map = [&](const MncpPoint& at) {
      if (++calls > 100) throw std::runtime_error("no such point");
      unsolvable(at);
    };
    MncpWorkspace workspace(1, threads);
    EXPECT_THROW(solve_all(5, map, kEndless, workspace), std::runtime_error);
  }
}

TEST(MncpStop, a_watched_call_is_ended_and_calls_the_map_no_more) {
  for (const int num_envs : {1, 5}) {
    int asked = 0, calls_after = 0;
    const auto map = [&](const MncpPoint& at) {
      calls_after += asked >= 3 ? 1 : 0;
      unsolvable(at);
    };
    MncpWorkspace workspace(1, 1);
    workspace.watch([&] { return ++asked < 3; });
    EXPECT_THROW(solve_all(num_envs, map, kEndless, workspace), Interrupted);
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(calls_after, 0);
  }
}

}  // namespace
}  // namespace stickslip
