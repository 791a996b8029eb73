// solve_lcp: misuse, bad input, closed forms, and the directions of a pyramid.
#include "stickslip/lcp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "kernels/cone/directions.hpp"
#include "tests/support/lcp_batch.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

using support::LcpAnswers;
using support::LcpKind;
using support::LcpProblems;

struct Call {
  LcpProblems<double> problems{2, 6, LcpKind::boxed};
  LcpAnswers<double> answers{2, 6};
  LcpBatch<double> problem = problems.view();
  LcpResult<double> result = answers.view();
  LcpOptions options;
  LcpWorkspace workspace{{.max_rows = 6, .boxed = true, .threads = 1}};
};

TEST(LcpMisuse, is_refused_by_a_message_that_names_the_argument) {
  const std::pair<std::function<void(Call&)>, const char*> misuses[] = {
      {[](Call& c) { c.problem.M.data = nullptr; }, "problem.M: expected an array, got none"},
      {[](Call& c) { c.problem.q.data = nullptr; }, "problem.q: expected an array, got none"},
      {[](Call& c) { c.problem.hi.data = nullptr; },
       "problem.lo, problem.hi: expected both or neither, got one of them"},
      {[](Call& c) { c.problem.lo.data = c.problem.hi.data = nullptr; },
       "problem.lo, problem.hi: expected arrays, because findex scales them, got none"},
      {[](Call& c) { c.problem.num_envs = -1; },
       "problem.num_envs: expected a number >= 0, got -1"},
      {[](Call& c) { c.problem.max_rows = -1; },
       "problem.max_rows: expected a number >= 0, got -1"},
      {[](Call& c) { c.problem.ld_M = 5; }, "problem.ld_M: expected 0 or at least max_rows, got 5"},
      {[](Call& c) { c.result.z.data = nullptr; }, "result.z: expected an array, got none"},
      {[](Call& c) { c.result.residual = nullptr; },
       "result.residual: expected an array, got none"},
      {[](Call& c) { c.result.method = nullptr; }, "result.method: expected an array, got none"},
      {[](Call& c) { c.options.precision = Precision::mixed; },
       "options.precision: expected float64 or float32, got mixed"},
      {[](Call& c) { c.options.method = LcpMethod(7); },
       "options.method: expected auto, lemke or newton, got unknown"},
      {[](Call& c) { c.options.cfm = -0.5; },
       "options.cfm: expected a finite number >= 0, got -0.500000"},
      {[](Call& c) { c.options.max_pivots = -1; },
       "options.max_pivots: expected a number >= 0, got -1"},
      {[](Call& c) { c.options.restarts = -1; },
       "options.restarts: expected a number >= 0, got -1"},
      {[](Call& c) { c.workspace = LcpWorkspace({.max_rows = 5, .boxed = true, .threads = 1}); },
       "workspace.max_rows: expected at least problem.max_rows, got 5"},
      {[](Call& c) { c.workspace = LcpWorkspace({.max_rows = 6, .threads = 1}); },
       "workspace.boxed: expected true, because the problem has bounds, got false"}};
  for (const auto& [spoil, message] : misuses) {
    Call call;
    spoil(call);
    EXPECT_EQ(support::refusal_of(
                  [&] { solve_lcp(call.problem, call.result, call.options, call.workspace); }),
              message);
  }
}

TEST(LcpBadInput, is_that_environments_own) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  using Spoil = std::function<void(LcpProblems<double>&)>;
  const Spoil spoils[] = {[&](auto& p) { p.M(3, 0, 0) = nan; },
                          [&](auto& p) { p.q(3, 0) = infinity; },
                          [&](auto& p) { p.lo(3, p.rows(3) - 1) = nan; },
                          [&](auto& p) { p.hi(3, p.rows(3) - 1) = -5.0; },
                          [&](auto& p) { p.lo(3, p.rows(3) - 1) = infinity; },
                          [&](auto& p) { p.findex(3, p.rows(3) - 1) = p.rows(3); },
                          [&](auto& p) { p.findex(3, p.rows(3) - 1) = p.rows(3) - 1; },
                          [&](auto& p) { p.n_free(3) = p.rows(3) + 1; },
                          [&](auto& p) { p.n_free(3) = -1; },
                          [&](auto& p) { p.rows(3) = -2; }};
  const auto make = [] { return LcpProblems<double>(6, 8, LcpKind::boxed); };
  const auto clean = support::solve_problems(make().view(), {});
  for (const Spoil& spoil : spoils) {
    auto problems = make();
    spoil(problems);
    const auto answers = support::solve_problems(problems.view(), {});
    EXPECT_EQ(answers.status[3], EnvStatus::bad_input);
    EXPECT_TRUE(std::isinf(answers.residual[3]));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(answers.z[std::size_t(3 * 8 + i)], 0.0);
    for (int env : {0, 1, 2, 4, 5}) EXPECT_EQ(answers.hash(env), clean.hash(env));
  }
}

TEST(LcpBadInput, too_many_rows_are_over_capacity) {
  LcpProblems<double> problems(3, 8, LcpKind::mixed);
  problems.rows(1) = 9;
  EXPECT_EQ(support::solve_problems(problems.view(), {}).status[1], EnvStatus::over_capacity);
}

TEST(LcpClosedForm, box_with_friction_index) {
  // A block of unit mass, pushed along the ground: z_n = 2, friction stops at mu z_n = 1.
  const double M[] = {1, 0, 0, 1}, q[] = {-2, -3}, lo[] = {0, -0.5};
  const double hi[] = {std::numeric_limits<double>::infinity(), 0.5};
  const std::int32_t findex[] = {-1, 0};
  LcpBatch<double> p;
  p.num_envs = 1;
  p.max_rows = 2;
  p.M = {M, 4};
  p.q = {q, 2};
  p.lo = {lo, 2};
  p.hi = {hi, 2};
  p.findex = {findex, 2};
  const auto answers = support::solve_problems(p, {});
  EXPECT_EQ(answers.status[0], EnvStatus::solved);
  EXPECT_NEAR(answers.z[0], 2.0, 1e-15);
  EXPECT_NEAR(answers.z[1], 1.0, 1e-15);
  EXPECT_NEAR(answers.w[1], -2.0, 1e-15);
}

TEST(PyramidDirections, are_unit_vectors_at_equal_angles_with_exact_symmetries) {
  for (int d : {4, 8, 16, 32, 64}) {
    for (int k = 0; k < d; ++k) {
      const auto v = kernels::pyramid_direction(k, d);
      // The angle itself is rounded, by up to two halves of the last place of 2 pi.
      const double angle = 2.0 * std::numbers::pi * k / d;
      EXPECT_NEAR(v.c, std::cos(angle), 1e-15);
      EXPECT_NEAR(v.s, std::sin(angle), 1e-15);
      EXPECT_NEAR(v.c * v.c + v.s * v.s, 1.0, 4e-16);
      const auto opposite = kernels::pyramid_direction((k + d / 2) % d, d);
      EXPECT_EQ(opposite.c, -v.c);
      EXPECT_EQ(opposite.s, -v.s);
      const auto mirror = kernels::pyramid_direction((d - k) % d, d);
      EXPECT_EQ(mirror.c, v.c);
      EXPECT_EQ(mirror.s, -v.s);
    }
  }
}

}  // namespace
}  // namespace stickslip
