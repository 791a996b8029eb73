// Derivatives of the convex law without W: those by W, with the same bits on every instruction set
// and group.
#include <gtest/gtest.h>

#include "kernels/env/convex_gradient.hpp"
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "src/cpu/kernel_table.hpp"
#include "stickslip/stickslip.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/velocity_problem.hpp"

namespace stickslip {
namespace {

using Setup = support::VelocitySetup;
using Posed = support::VelocityProblem;

const SolveOptions kConvex{.law = Law::convex, .atol = 1e-10, .rtol = 1e-10};

/// The derivatives of one environment.
struct Found {
  std::vector<double> b, R, mu, lo, hi;
  GradientStatus status{};
  double kink_distance = 0, inconsistency = 0;
  std::int32_t redundant = 0;

  explicit Found(const ProblemBatch<double>& p) {
    for (auto* each : {&b, &R, &mu, &lo, &hi}) each->assign(std::size_t(p.max_rows), -7.0);
    mu.resize(std::max<std::size_t>(mu.size(), std::size_t(p.mu.stride)));
  }
  GradientBatch<double> view() {
    GradientBatch<double> g;
    g.b = {b.data(), 0};
    g.R = {R.data(), 0};
    g.mu = {mu.data(), 0};
    g.lo = {lo.data(), 0};
    g.hi = {hi.data(), 0};
    g.report = {&status, &kink_distance, &inconsistency, &redundant};
    return g;
  }
  auto numbers() const {
    return std::tie(b, R, mu, lo, hi, status, kink_distance, inconsistency, redundant);
  }
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 const char* what) {
  double size = 1e-3;
  for (const double x : expected) size = std::max(size, std::abs(x));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-6 * size) << what << " " << i;
}

class VelocityGradient : public testing::TestWithParam<Setup> {
 protected:
  /// A solved problem and a loss of impulses and velocities.
  struct Case {
    Posed p;
    HostResults<double> results;
    std::vector<double> loss;

    explicit Case(std::uint64_t seed)
        : p(GetParam(), seed), results(1, p.view().max_rows), loss(2 * p.view().max_rows) {
      solve(p.view(), results.view(), kConvex);
      support::Random random(seed + 100);
      for (double& x : loss) x = random.normal();
    }
    SolutionBatch<double> solution() {
      const auto r = results.view();
      return {{r.impulse.data, 0}, r.status};
    }
    LossBatch<double> given() const {
      return {{loss.data(), 0}, {loss.data() + loss.size() / 2, 0}};
    }
    bool solved() { return results.status(0) == EnvStatus::solved; }
  };
  Workspace workspace_{200, 40, 1};
};

constexpr int kSeeds = 30;

TEST_P(VelocityGradient, is_that_by_W) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    if (!c.solved()) continue;
    Found by_W(c.p.view()), found(c.p.view());
    solve_vjp(c.p.view(), c.solution(), c.given(), by_W.view(), kConvex, workspace_);
    ASSERT_TRUE(solve_convex_vjp(c.p.without_W(), c.p.mechanism.view(), c.solution(), c.given(),
                                 found.view(), kConvex, workspace_));
    EXPECT_EQ(found.status, by_W.status) << seed;
    EXPECT_EQ(found.redundant, 0);
    if (c.p.n > 0) {
      EXPECT_NEAR(found.kink_distance, by_W.kink_distance, 1e-9 * (1 + by_W.kink_distance)) << seed;
    }
    if (by_W.status != GradientStatus::valid) continue;
    ++compared;
    expect_near(found.b, by_W.b, "b");
    expect_near(found.R, by_W.R, "R");
    expect_near(found.mu, by_W.mu, "mu");
    expect_near(found.lo, by_W.lo, "lo");
    expect_near(found.hi, by_W.hi, "hi");
  }
  EXPECT_GE(compared, kSeeds - 3);
}

TEST_P(VelocityGradient, has_the_same_bits_on_every_instruction_set_and_group) {
  Case c(5);
  const int nv = GetParam().nv;
  const auto problem = c.p.without_W();
  const int rows = problem.max_rows, contacts = problem.max_contacts;
  const SparseMechanism m = c.p.mechanism.view();
  Found expected(problem);
  solve_convex_vjp(problem, m, c.solution(), c.given(), expected.view(), kConvex, workspace_);
  support::AlignedBytes memory(kernels::ConvexGradientScratch::bytes(nv, rows, contacts));
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    Found found(problem);
    table->vjp_convex(problem, m, c.solution(), c.given(), found.view(), kConvex, memory.data());
    EXPECT_EQ(found.numbers(), expected.numbers()) << table->isa;
  }
  Found found(problem);
  const auto run = [&](const auto& group) {
    kernels::Arena arena(memory.data());
    kernels::ConvexGradientScratch scratch(arena, nv, rows, contacts);
    kernels::vjp_convex(group, problem, m, c.solution(), c.given(), found.view(), kConvex, scratch);
  };
  for (const std::uint32_t seed : {1U, 17U, 1000U}) {
    kernels::PermutedGroup<1> group;
    group.seed = seed;
    run(group);
    EXPECT_EQ(found.numbers(), expected.numbers()) << seed;
  }
  kernels::run_lanes(3, [&](const kernels::ThreadGroup& group) {
    run(group);
    group.once([&] { EXPECT_EQ(found.numbers(), expected.numbers()); });
  });
}

TEST_P(VelocityGradient, gives_zeros_where_nothing_is_solved_or_a_loss_is_not_finite) {
  Case c(3);
  if (c.p.n == 0) return;
  const auto derive = [&] {
    Found found(c.p.view());
    EXPECT_TRUE(solve_convex_vjp(c.p.without_W(), c.p.mechanism.view(), c.solution(), c.given(),
                                 found.view(), kConvex, workspace_));
    return found;
  };
  const auto expect_nothing = [&](const Found& found) {
    EXPECT_EQ(found.status, GradientStatus::unsolved);
    for (int i = 0; i < c.p.n; ++i) EXPECT_EQ(found.b[std::size_t(i)], 0.0);
  };
  EXPECT_NE(derive().status, GradientStatus::unsolved);
  c.loss[0] = NAN;
  expect_nothing(derive());
  c.loss[0] = 1.0;
  *c.results.view().status = EnvStatus::not_converged;
  expect_nothing(derive());
}

INSTANTIATE_TEST_SUITE_P(shapes, VelocityGradient,
                         testing::ValuesIn(support::velocity_setups(1e-3)),
                         [](const auto& info) { return info.param.name; });

TEST(SolveConvexVjp, leaves_rows_without_compliance_to_others_and_refuses_other_laws) {
  const Posed p({"rigid", 6, {0, 0, 0, 1}, {3}, 0.0}, 1);
  const double r[3] = {}, loss[3] = {1, 1, 1};
  const EnvStatus solved = EnvStatus::solved;
  Workspace workspace(3, 1, 1);
  Found found(p.view());
  const auto derive = [&](const SolveOptions& options) {
    return solve_convex_vjp(p.without_W(), p.mechanism.view(), {{r, 0}, &solved}, {{loss, 0}, {}},
                            found.view(), options, workspace);
  };
  EXPECT_FALSE(derive(kConvex));
  EXPECT_EQ(found.b, Found(p.view()).b);
  EXPECT_THROW(derive({}), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
