// The convex law solved for velocities: solutions by the oracle, equal to those with W, from any
// start, with the same bits on every instruction set and group.
#include <gtest/gtest.h>

#include "kernels/env/convex_env.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "src/cpu/kernel_table.hpp"
#include "stickslip/stickslip.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/convex_batch.hpp"
#include "tests/support/velocity_problem.hpp"

namespace stickslip {
namespace {

using reference::Vector;
using Setup = support::VelocitySetup;
using Posed = support::VelocityProblem;

struct Answer {
  HostResults<double> results;
  explicit Answer(int n) : results(1, std::max(n, 1)) {}
  Vector impulse(int n) const { return Eigen::Map<const Vector>(results.impulse(0), n); }
};

const SolveOptions kConvex{.law = Law::convex};

double largest(const Vector& v) { return v.size() == 0 ? 0.0 : v.cwiseAbs().maxCoeff(); }

class Velocity : public testing::TestWithParam<Setup> {
 protected:
  Workspace workspace_{1, 1, 1};
  Answer solved(const Posed& p) {
    Answer a(p.n);
    solve_convex(p.without_W(), p.mechanism.view(), p.start.data(), a.results.view(), kConvex,
                 workspace_);
    return a;
  }
};

constexpr int kSeeds = 30;

TEST_P(Velocity, solves_by_the_oracle) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Posed p(GetParam(), seed);
    const Answer a = solved(p);
    ASSERT_EQ(a.results.status(0), EnvStatus::solved) << seed;
    const auto problem = p.reference();
    const double found = reference::residual(problem, a.impulse(p.n), Law::convex);
    const double tolerance = stickslip::tolerance(kConvex, largest(problem.b));
    EXPECT_LE(found, a.results.residual(0)) << seed;
    EXPECT_LE(a.results.residual(0), tolerance) << seed;
  }
}

TEST_P(Velocity, finds_what_W_leads_to_from_any_start) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Posed p(GetParam(), seed);
    Answer by_W(p.n);
    solve(p.view(), by_W.results.view(), kConvex);
    ASSERT_EQ(by_W.results.status(0), EnvStatus::solved);
    const auto problem = p.reference();
    const Vector expected = problem.W * by_W.impulse(p.n);
    for (const double size : {0.0, 1.0, 1e3}) {
      p.throw_start(size);
      const Answer a = solved(p);
      ASSERT_EQ(a.results.status(0), EnvStatus::solved) << seed << " " << size;
      const double error = largest(problem.W * a.impulse(p.n) - expected);
      EXPECT_LE(error, 1e-6 * (1 + largest(expected))) << seed << " " << size;
    }
  }
}

TEST_P(Velocity, gives_the_same_bits_on_every_instruction_set_and_group) {
  const Posed p(GetParam(), 5);
  const int nv = GetParam().nv, contacts = p.view().max_contacts, rows = p.view().max_rows;
  const SparseMechanism m = p.mechanism.view();
  const Vector expected = solved(p).impulse(p.n);
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    Answer a(p.n);
    support::AlignedBytes memory(table->solve_convex_bytes(nv, rows, contacts));
    table->solve_convex(p.without_W(), m, p.start.data(), a.results.view(), kConvex, memory.data());
    EXPECT_EQ(a.impulse(p.n), expected) << table->isa;
  }
  support::AlignedBytes memory(kernels::ConvexScratch::bytes(nv, rows, contacts));
  const auto run = [&](const auto& group) {
    static HostResults<double> results(1, 200);
    kernels::Arena arena(memory.data());
    kernels::ConvexScratch scratch(arena, nv, rows, contacts);
    kernels::solve_convex(group, p.without_W(), m, p.start.data(), results.view(), kConvex, 0,
                          scratch);
    return Vector(Eigen::Map<const Vector>(results.impulse(0), p.n));
  };
  for (const std::uint32_t seed : {1U, 17U, 1000U}) {
    kernels::PermutedGroup<1> group;
    group.seed = seed;
    EXPECT_EQ(run(group), expected) << seed;
  }
  kernels::run_lanes(3, [&](const kernels::ThreadGroup& group) {
    const Vector found = run(group);
    group.once([&] { EXPECT_EQ(found, expected); });
  });
}

INSTANTIATE_TEST_SUITE_P(shapes, Velocity, testing::ValuesIn(support::velocity_setups(1e-4)),
                         [](const auto& info) { return info.param.name; });

// An engine's arrays are converted, sorted and factorised in the scratch of an environment.
TEST(VelocitySpace, of_engines_gives_the_same_bits_on_every_group) {
  const support::ConvexBatch batch(
      23, {{{2, 3, 6, 3}, {3, 4, 6}}, {{0, 0, 0, 1}, {3}}, {{0, 2, 9, 2}, {6, 3}}});
  const auto expected = batch.one_by_one(kConvex);
  support::AlignedBytes memory(
      kernels::EngineConvexScratch::bytes(batch.nv, batch.max_rows, batch.max_contacts));
  support::PlainResults<double> results(batch.envs, batch.max_rows);
  const auto run = [&](const auto& group, bool compressed) {
    for (int env = 0; env < batch.envs; ++env) {
      kernels::Arena arena(memory.data());
      kernels::EngineConvexScratch scratch(arena, batch.nv, batch.max_rows, batch.max_contacts);
      kernels::solve_convex(group, batch.view(), batch.engine(compressed), batch.starts(),
                            results.view(), kConvex, env, scratch);
    }
  };
  for (const bool compressed : {false, true}) {
    for (const std::uint32_t seed : {1U, 17U, 1000U}) {
      kernels::PermutedGroup<1> group;
      group.seed = seed;
      run(group, compressed);
      EXPECT_EQ(results.impulse, expected.impulse) << seed;
    }
    results.impulse.assign(results.impulse.size(), -1.0);
    kernels::run_lanes(3, [&](const kernels::ThreadGroup& group) { run(group, compressed); });
    EXPECT_EQ(results.impulse, expected.impulse);
    EXPECT_EQ(results.residual, expected.residual);
  }
}

TEST(VelocitySpace, leaves_rows_without_compliance_to_others) {
  const Posed p({"rigid", 8, {0, 2, 0, 2}, {3, 3}, 0.0}, 1);
  Workspace workspace(1, 1, 1);
  Answer a(p.n);
  solve_convex(p.without_W(), p.mechanism.view(), p.start.data(), a.results.view(), kConvex,
               workspace);
  EXPECT_EQ(a.results.status(0), EnvStatus::not_converged);
  EXPECT_EQ(a.results.iterations(0), 0);
}

TEST(VelocitySpace, refuses_what_it_cannot_do) {
  const Posed p({"small", 4, {0, 2, 0, 0}, {}, 0.1}, 1);
  Workspace workspace(1, 1, 1);
  Answer a(p.n);
  const auto call = [&](const SolveOptions& options, const double* start) {
    solve_convex(p.without_W(), p.mechanism.view(), start, a.results.view(), options, workspace);
  };
  EXPECT_THROW(call({.law = Law::coulomb}, p.start.data()), std::invalid_argument);
  EXPECT_THROW(call(kConvex, nullptr), std::invalid_argument);
}

TEST(VelocitySpace, answers_bad_input) {
  Posed p({"bad", 4, {0, 2, 0, 0}, {}, 0.1}, 1);
  Workspace workspace(1, 1, 1);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Answer a(p.n);
    auto broken = p.mechanism;
    broken.J_values[0] = bad;
    solve_convex(p.without_W(), broken.view(), p.start.data(), a.results.view(), kConvex,
                 workspace);
    EXPECT_EQ(a.results.status(0), EnvStatus::bad_input);
    EXPECT_EQ(a.impulse(p.n), Vector::Zero(p.n));
  }
}

}  // namespace
}  // namespace stickslip
