// Misuse of the API throws at once; the message names argument, expectation and value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "stickslip/stickslip.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

using support::refusal_of;

/// A batch that could be solved, and all other arguments of the call.
struct Call {
  HostProblems<double> problems{2, 6, 2};
  HostResults<double> results{2, 6};
  ProblemBatch<double> problem = problems.view();
  ResultBatch<double> result = results.view();
  SolveOptions options;
  Workspace workspace{6, 2, 1};
  void run() { solve(problem, result, options, workspace); }
};

struct Misuse {
  const char* name;
  std::function<void(Call&)> apply;
  const char* message;
};

const std::vector<Misuse>& misuses_of_arrays() {
  static const std::vector<Misuse> all = {
      {"no_counts", [](Call& c) { c.problem.counts.data = nullptr; },
       "problem.counts: expected an array, got none"},
      {"no_W", [](Call& c) { c.problem.W.data = nullptr; },
       "problem.W: expected an array, got none"},
      {"no_b", [](Call& c) { c.problem.b.data = nullptr; },
       "problem.b: expected an array, got none"},
      {"no_mu", [](Call& c) { c.problem.mu.data = nullptr; },
       "problem.mu: expected an array, got none"},
      {"lo_without_hi", [](Call& c) { c.problem.hi.data = nullptr; },
       "problem.lo, problem.hi: expected both or neither, got one of them"},
      {"box_rows_without_bounds",
       [](Call& c) {
         c.problems.counts(1).n_box = 1;
         c.problem.lo.data = c.problem.hi.data = nullptr;
       },
       "problem.lo, problem.hi: expected arrays, because an environment has box rows, got none"},
      {"negative_envs", [](Call& c) { c.problem.num_envs = -3; },
       "problem.num_envs: expected a number >= 0, got -3"},
      {"negative_rows", [](Call& c) { c.problem.max_rows = -1; },
       "problem.max_rows: expected a number >= 0, got -1"},
      {"narrow_W", [](Call& c) { c.problem.ld_W = 5; },
       "problem.ld_W: expected 0 or at least max_rows, got 5"},
      {"no_impulse", [](Call& c) { c.result.impulse.data = nullptr; },
       "result.impulse: expected an array, got none"},
      {"slots_that_overlap", [](Call& c) { c.result.impulse.stride = 3; },
       "result.impulse.stride: expected at least max_rows, got 3"},
      {"no_residual", [](Call& c) { c.result.residual = nullptr; },
       "result.residual: expected an array, got none"},
      {"no_status", [](Call& c) { c.result.status = nullptr; },
       "result.status: expected an array, got none"},
      {"small_workspace_rows", [](Call& c) { c.workspace = Workspace(5, 2, 1); },
       "workspace.max_rows: expected at least problem.max_rows, got 5"},
      {"small_workspace_contacts", [](Call& c) { c.workspace = Workspace(6, 1, 1); },
       "workspace.max_contacts: expected at least problem.max_contacts, got 1"},
  };
  return all;
}

const std::vector<Misuse>& misuses_of_options() {
  static const std::vector<Misuse> all = {
      {"negative_budget", [](Call& c) { c.options.max_sweeps = -1; },
       "options.max_sweeps: expected a number >= 0, got -1"},
      {"negative_pivots", [](Call& c) { c.options.max_pivots = -1; },
       "options.max_pivots: expected a number >= 0, got -1"},
      {"fixed_pivots_of_pgs",
       [](Call& c) {
         c.options.solver = Solver::pgs;
         c.options.fixed_pivots = true;
       },
       "options.fixed_pivots: expected solver lemke, the only one that counts pivots, got pgs"},
      {"fixed_sweeps_of_newton",
       [](Call& c) {
         c.options.solver = Solver::newton;
         c.options.fixed_sweeps = true;
       },
       "options.fixed_sweeps: expected solver pgs, the only one that counts sweeps, got newton"},
      {"unknown_law", [](Call& c) { c.options.law = Law(7); },
       "options.law: expected a law that solver auto supports, got unknown"},
      {"unknown_solver", [](Call& c) { c.options.solver = Solver(9); },
       "options.solver: expected auto, pgs, newton or lemke, got 9"},
      {"infinite_tolerance",
       [](Call& c) { c.options.rtol = std::numeric_limits<double>::infinity(); },
       "options.rtol: expected a finite number, got inf"},
      {"unknown_precision", [](Call& c) { c.options.precision = Precision(3); },
       "options.precision: expected float64, float32 or mixed, got unknown"},
  };
  return all;
}

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.name; }

class SolveRefuses : public testing::TestWithParam<Misuse> {};

TEST_P(SolveRefuses, by_name) {
  Call call;
  GetParam().apply(call);
  EXPECT_EQ(refusal_of([&] { call.run(); }), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(arrays, SolveRefuses, testing::ValuesIn(misuses_of_arrays()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(options, SolveRefuses, testing::ValuesIn(misuses_of_options()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Solve, accepts_the_call_that_the_misuses_spoil) {
  Call call;
  call.run();
  EXPECT_EQ(call.results.status(0), EnvStatus::solved);
}

TEST(Solve, of_nothing_is_fine) {
  Workspace workspace(0, 0, 1);
  solve(ProblemBatch<double>{}, ResultBatch<double>{}, {}, workspace);
  solve(ProblemBatch<float>{}, ResultBatch<float>{},
        {.law = Law::coulomb, .precision = Precision::float32}, workspace);
}

TEST(WorkspaceRefuses, negative_sizes) {
  EXPECT_EQ(refusal_of([] { Workspace(-1, 0); }), "max_rows: expected a number >= 0, got -1");
  EXPECT_EQ(refusal_of([] { Workspace(0, -1); }), "max_contacts: expected a number >= 0, got -1");
  EXPECT_EQ(refusal_of([] { Workspace(0, 0, -1); }),
            "threads: expected a number >= 0 (0: all cores), got -1");
}

// W near the least normal float: the softened impulse overflows, so none is returned.
TEST(Solve, returns_finite_impulses_where_the_softened_problem_overflows) {
  const float W[] = {0x1.0eaac8p-128f,  -0x1.9b5ebp-127f, -0x1.0f7c34p-127f,
                     -0x1.9b5ebp-127f,  0x1.389b8ap-125f, 0x1.9c9cf8p-126f,
                     -0x1.0f7c34p-127f, 0x1.9c9cf8p-126f, 0x1.104e4p-126f};
  const float b[] = {-0x1.ab6374p-2f, -0x1.362048p-2f, -0x1.6413bcp-1f};
  HostProblems<float> problems(1, 3, 1);
  HostResults<float> results(1, 3);
  problems.counts(0).n_contacts = 1;
  std::copy(W, W + 9, problems.W(0));
  std::copy(b, b + 3, problems.b(0));
  problems.mu(0)[0] = 0x1.f13f34p-1f;
  solve(problems.view(), results.view(), {.law = Law::pyramid, .precision = Precision::float32});
  EXPECT_NE(results.status(0), EnvStatus::solved);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(results.impulse(0)[i])) << i;
  EXPECT_TRUE(std::isfinite(results.residual(0)));
}

TEST(MeasureRefuses, missing_arrays) {
  Call call;
  Measures measures[2];
  EXPECT_EQ(refusal_of([&] {
              measure(call.problem, EnvArray<const double>{}, Law::coulomb, measures,
                      call.workspace);
            }),
            "impulse: expected an array, got none");
  const EnvArray<const double> impulse{call.result.impulse.data, 6};
  EXPECT_EQ(
      refusal_of([&] { measure(call.problem, impulse, Law::coulomb, nullptr, call.workspace); }),
      "measures: expected an array, got none");
  EXPECT_EQ(refusal_of([&] { measure(call.problem, impulse, Law(9), nullptr, call.workspace); }),
            "law: expected a law of this library, got 9");
}

TEST(DelassusRefuses, missing_arrays) {
  MechanismBatch<double> mechanism;
  mechanism.num_envs = 1;
  mechanism.nv = 2;
  mechanism.max_rows = 2;
  double numbers[4] = {};
  std::int32_t ok = 0;
  Workspace workspace(2, 0, 1);
  const auto call = [&](EnvArray<double> W, int ld, std::int32_t* told) {
    return refusal_of([&] { delassus(mechanism, W, ld, told, workspace); });
  };
  EXPECT_EQ(call({numbers, 4}, 2, &ok), "mechanism.M: expected an array, got none");
  mechanism.M = {numbers, 4};
  EXPECT_EQ(call({numbers, 4}, 2, &ok), "mechanism.J: expected an array, got none");
  mechanism.J = {numbers, 4};
  EXPECT_EQ(call({nullptr, 4}, 2, &ok), "W: expected an array, got none");
  EXPECT_EQ(call({numbers, 4}, 1, &ok), "ld_W: expected at least mechanism.max_rows, got 1");
  EXPECT_EQ(call({numbers, 4}, 2, nullptr), "ok: expected an array, got none");
  mechanism.nv = -2;
  EXPECT_EQ(call({numbers, 4}, 2, &ok), "mechanism.nv: expected a number >= 0, got -2");
}

TEST(CudaRefuses, where_there_is_no_gpu) {
  if (cuda::available()) GTEST_SKIP() << "there is a GPU";
  Call call;
  EXPECT_THROW(cuda::solve_host(call.problem, call.result, call.options), std::runtime_error);
  EXPECT_EQ(cuda::device_name(), "");
}

}  // namespace
}  // namespace stickslip
