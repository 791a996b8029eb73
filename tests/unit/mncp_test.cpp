// Mixed nonlinear complementarity problems: known solutions, misuse, exceptions, independence.
#include "stickslip/mncp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

struct Answers {
  int max_x, max_w;
  std::vector<double> x, w, y, residual;
  std::vector<EnvStatus> status;
  std::vector<std::int32_t> iterations;

  Answers(int num_envs, int nx, int nw)
      : max_x(nx),
        max_w(nw),
        x(std::size_t(num_envs * nx)),
        w(std::size_t(num_envs * nw)),
        y(x.size()),
        residual(std::size_t(num_envs)),
        status(residual.size()),
        iterations(residual.size()) {}
  MncpResult view() {
    return {{x.data(), max_x}, {w.data(), max_w}, {y.data(), max_x},
            residual.data(),   status.data(),     iterations.data()};
  }
};

MncpBatch batch(int num_envs, int max_x, int max_w, MncpMap map) {
  MncpBatch p;
  p.num_envs = num_envs;
  p.max_x = max_x;
  p.max_w = max_w;
  p.map = std::move(map);
  return p;
}

/// Kojima and Shindo (1986): solutions (sqrt(6) / 2, 0, 0, 1 / 2), where the problem is degenerate,
/// and (1, 0, 3, 0).
void kojima_shindo(const MncpPoint& p) {
  const double *x = p.x, a = x[0], b = x[1], c = x[2], d = x[3];
  p.y[0] = 3 * a * a + 2 * a * b + 2 * b * b + c + 3 * d - 6;
  p.y[1] = 2 * a * a + a + b * b + 10 * c + 2 * d - 2;
  p.y[2] = 3 * a * a + a * b + 2 * b * b + 2 * c + 9 * d - 9;
  p.y[3] = a * a + 3 * b * b + 2 * c + 3 * d - 3;
  if (p.jacobian == nullptr) return;
  const double rows[4][4] = {{6 * a + 2 * b, 2 * a + 4 * b, 1, 3},
                             {4 * a + 1, 2 * b, 10, 2},
                             {6 * a + b, a + 4 * b, 2, 9},
                             {2 * a, 6 * b, 2, 3}};
  for (int k = 0; k < 16; ++k) p.jacobian[k] = rows[k / 4][k % 4];
}

TEST(Mncp, finds_kojima_and_shindos_solutions_from_many_starts) {
  const int count = 200;
  std::vector<double> starts;
  for (int k = 0; k < 4 * count; ++k) starts.push_back(0.5 + 0.5 * std::sin(1.0 + 7.3 * k * k));
  MncpBatch p = batch(count, 4, 0, kojima_shindo);
  p.start_x = {starts.data(), 4};
  Answers a(count, 4, 0);
  solve_mncp(p, a.view());
  const auto solved = std::count(a.status.begin(), a.status.end(), EnvStatus::solved);
  EXPECT_GE(solved, count * 8 / 10);  // the merit has local minima that are no solutions
  MncpOptions options;
  options.restarts = 7;
  solve_mncp(p, a.view(), options);
  const double known[2][4] = {{std::sqrt(6.0) / 2.0, 0.0, 0.0, 0.5}, {1.0, 0.0, 3.0, 0.0}};
  int found[2] = {};
  for (int env = 0; env < count; ++env) {
    const auto e = std::size_t(env);
    ASSERT_EQ(a.status[e], EnvStatus::solved) << env;
    const int which = a.x[4 * e + 2] > 1.0 ? 1 : 0;
    ++found[which];
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(a.x[4 * e + std::size_t(i)], known[which][i], 1e-7) << env;
      EXPECT_GE(a.x[4 * e + std::size_t(i)], 0.0);
      EXPECT_LE(std::min(a.x[4 * e + std::size_t(i)], a.y[4 * e + std::size_t(i)]), a.residual[e]);
    }
  }
  EXPECT_GT(found[0], 0);
  EXPECT_GT(found[1], 0);
}

/// x >= 0 presses on a spring with deflection w: 0 <= x ⟂ w - g >= 0, w - x^3 = 0. For g > 0 the
/// solution is x = cbrt(g), w = g, else x = 0, w = 0.
TEST(Mncp, mixes_free_and_nonnegative_unknowns) {
  const double gaps[] = {8.0, 1e-3, -1.0, 0.0};
  MncpBatch p = batch(4, 1, 1, [&](const MncpPoint& at) {
    at.y[0] = at.w[0] - gaps[at.env];
    at.z[0] = at.w[0] - at.x[0] * at.x[0] * at.x[0];
    if (at.jacobian == nullptr) return;
    at.jacobian[1] = 1.0;  // [0] stays zero
    at.jacobian[2] = -3.0 * at.x[0] * at.x[0];
    at.jacobian[3] = 1.0;
  });
  const double start = 1.0;
  p.start_x = p.start_w = {&start, 0};
  Answers a(4, 1, 1);
  solve_mncp(p, a.view());
  for (int env = 0; env < 4; ++env) {
    const auto e = std::size_t(env);
    const double w = std::max(gaps[env], 0.0);
    EXPECT_EQ(a.status[e], EnvStatus::solved) << env;
    EXPECT_NEAR(a.w[e], w, 2e-9);
    EXPECT_NEAR(a.y[e], w - gaps[env], 2e-9);
    EXPECT_NEAR(std::pow(a.x[e], 3), w, 2e-9);
  }
}

/// Without x it is the Newton-Raphson method: w^2 = 2 from 1.5 (Newton's own iterates).
TEST(Mncp, without_complementarity_is_newton_raphson) {
  int calls = 0;
  MncpBatch p = batch(1, 0, 1, [&](const MncpPoint& at) {
    ++calls;
    at.z[0] = at.w[0] * at.w[0] - 2.0;
    if (at.jacobian != nullptr) at.jacobian[0] = 2.0 * at.w[0];
  });
  const double start = 1.5;
  p.start_w = {&start, 0};
  Answers a(1, 0, 1);
  solve_mncp(p, a.view());
  EXPECT_EQ(a.status[0], EnvStatus::solved);
  EXPECT_NEAR(a.w[0], std::sqrt(2.0), 1e-9);
  EXPECT_LE(a.iterations[0], 3);
  EXPECT_LE(calls, 20);
}

/// Two dependent equations: w_0 + w_1 = 1, and sin of it.
TEST(Mncp, consistent_dependent_equations_are_solved) {
  MncpBatch p = batch(1, 0, 2, [](const MncpPoint& at) {
    const double sum = at.w[0] + at.w[1];
    at.z[0] = sum - 1.0;
    at.z[1] = std::sin(sum) - std::sin(1.0);
    if (at.jacobian == nullptr) return;
    at.jacobian[0] = at.jacobian[1] = 1.0;
    at.jacobian[2] = at.jacobian[3] = std::cos(sum);
  });
  Answers a(1, 0, 2);
  solve_mncp(p, a.view());
  EXPECT_EQ(a.status[0], EnvStatus::solved);
  EXPECT_NEAR(a.w[0] + a.w[1], 1.0, 2e-9);
}

/// log(x) is not defined at 0 and below: steps that go there are shortened.
TEST(Mncp, nan_shortens_the_step) {
  MncpBatch p = batch(1, 0, 1, [](const MncpPoint& at) {
    at.z[0] = std::log(at.w[0]) + 3.0;
    if (at.jacobian != nullptr) at.jacobian[0] = 1.0 / at.w[0];
  });
  const double start = 10.0;
  p.start_w = {&start, 0};
  Answers a(1, 0, 1);
  solve_mncp(p, a.view());
  EXPECT_EQ(a.status[0], EnvStatus::solved);
  EXPECT_NEAR(a.w[0], std::exp(-3.0), 1.01 * std::exp(-3.0) * a.residual[0]);  // dw = w dz
}

TEST(Mncp, bad_starts_and_problems_without_solution_say_so_and_leave_their_neighbours) {
  const double nan = std::nan(""), starts[] = {1.0, nan, 1.0, 1.0};
  const auto map = [](bool spoil) {
    return [spoil](const MncpPoint& at) {
      const bool bad = spoil && at.env == 2, none = spoil && at.env == 3;
      at.z[0] = bad ? std::nan("") : at.w[0] * at.w[0] + (none ? 1.0 : -4.0);
      if (at.jacobian != nullptr) at.jacobian[0] = 2.0 * at.w[0];
    };
  };
  Answers spoiled(4, 0, 1), alone(1, 0, 1);
  MncpBatch p = batch(4, 0, 1, map(true));
  p.start_w = {starts, 1};
  solve_mncp(p, spoiled.view());
  p = batch(1, 0, 1, map(false));
  p.start_w = {starts, 1};
  solve_mncp(p, alone.view());
  EXPECT_EQ(spoiled.status[0], EnvStatus::solved);
  EXPECT_EQ(spoiled.w[0], alone.w[0]);
  EXPECT_EQ(spoiled.status[1], EnvStatus::bad_input);
  EXPECT_EQ(spoiled.status[2], EnvStatus::bad_input);
  EXPECT_EQ(spoiled.status[3], EnvStatus::not_converged);
  EXPECT_NEAR(spoiled.residual[3], 1.0, 1e-3);  // the minimum of w^2 + 1
  for (int env : {1, 2}) {
    EXPECT_EQ(spoiled.w[std::size_t(env)], 0.0);
    EXPECT_EQ(spoiled.residual[std::size_t(env)], std::numeric_limits<double>::infinity());
  }
}

TEST(Mncp, of_different_sizes_gives_the_same_bits_on_any_number_of_threads) {
  const int count = 100;
  std::vector<std::int32_t> nx, nw;
  for (int env = 0; env < count; ++env) {
    nx.push_back(env % 5);
    nw.push_back(env % 3);
  }
  const MncpMap map = [](const MncpPoint& at) {
    const int n = at.n_x + at.n_w;
    for (int i = 0; i < n; ++i) {
      const auto v = [&](int k) { return k < at.n_x ? at.x[k] : at.w[k - at.n_x]; };
      double& value = i < at.n_x ? at.y[i] : at.z[i - at.n_x];
      value = std::exp(v(i)) - 2.0 + 0.1 * at.env * (i % 2 == 0 ? 1.0 : -1.0);
      for (int j = 0; j < n; ++j) value += 0.1 * v(j);
      for (int j = 0; at.jacobian != nullptr && j < n; ++j) {
        at.jacobian[i * n + j] = 0.1 + (i == j ? std::exp(v(i)) : 0.0);
      }
    }
  };
  std::vector<Answers> all;
  for (int threads : {1, 3}) {
    MncpBatch p = batch(count, 4, 2, map);
    p.n_x = {nx.data(), 1};
    p.n_w = {nw.data(), 1};
    MncpWorkspace workspace(6, threads);
    all.emplace_back(count, 4, 2);
    solve_mncp(p, all.back().view(), {}, workspace);
    for (EnvStatus s : all.back().status) EXPECT_EQ(s, EnvStatus::solved);
  }
  EXPECT_EQ(all[0].x, all[1].x);
  EXPECT_EQ(all[0].w, all[1].w);
  EXPECT_EQ(all[0].iterations, all[1].iterations);
  const std::int32_t many = 9;
  MncpBatch p = batch(1, 4, 2, map);
  p.n_x = {&many, 0};
  Answers a(1, 4, 2);
  solve_mncp(p, a.view());
  EXPECT_EQ(a.status[0], EnvStatus::over_capacity);
}

TEST(MncpMisuse, is_refused_by_a_message_that_names_the_argument) {
  struct Call {
    Answers answers{2, 1, 1};
    MncpBatch problem = batch(2, 1, 1, [](const MncpPoint&) {});
    MncpResult result = answers.view();
    MncpOptions options;
    MncpWorkspace workspace{2, 1};
  };
  const std::pair<std::function<void(Call&)>, const char*> misuses[] = {
      {[](Call& c) { c.problem.map = nullptr; }, "problem.map: expected a function, got none"},
      {[](Call& c) { c.problem.num_envs = -1; },
       "problem.num_envs: expected a number >= 0, got -1"},
      {[](Call& c) { c.problem.max_w = -1; }, "problem.max_w: expected a number >= 0, got -1"},
      {[](Call& c) { c.result.x.data = nullptr; }, "result.x: expected an array, got none"},
      {[](Call& c) { c.result.status = nullptr; }, "result.status: expected an array, got none"},
      {[](Call& c) { c.options.max_newton = -1; },
       "options.max_newton: expected a number >= 0, got -1"},
      {[](Call& c) { c.options.rtol = std::nan(""); },
       "options.rtol: expected a finite number, got nan"},
      {[](Call& c) { c.workspace = MncpWorkspace(1, 1); },
       "workspace.max_unknowns: expected at least problem.max_x + problem.max_w, got 1"},
      {[](Call& c) { c.problem.max_x = c.problem.max_w = 2147483647; },
       "problem.max_x, problem.max_w: expected numbers whose sum fits 32 bits, got 2147483647"}};
  for (const auto& [spoil, message] : misuses) {
    Call call;
    spoil(call);
    EXPECT_EQ(support::refusal_of(
                  [&] { solve_mncp(call.problem, call.result, call.options, call.workspace); }),
              message);
  }
}

}  // namespace
}  // namespace stickslip
