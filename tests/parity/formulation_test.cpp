// Eliminations and mixed nonlinear problems give the same bits in any order of lanes and on every
// instruction set.
#include <gtest/gtest.h>

#include "kernels/env/lcp_env.hpp"
#include "kernels/env/mncp_env.hpp"
#include "kernels/group/permuted_group.hpp"
#include "src/cpu/kernel_table.hpp"
#include "stickslip/formulation.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 40, kRows = 18, kFree = 9;
using Doubles = std::vector<double>;

/// What an elimination writes.
struct Eliminated {
  Doubles A = Doubles(kEnvs * kRows * kRows), q = Doubles(kEnvs * kRows),
          T = Doubles(kEnvs * kFree * kRows), t = Doubles(kEnvs * kFree);
  std::vector<EnvStatus> status = std::vector<EnvStatus>(kEnvs);
  std::vector<std::int32_t> rank = std::vector<std::int32_t>(kEnvs);
  kernels::Elimination view() {
    return {{A.data(), kRows * kRows},
            {q.data(), kRows},
            {T.data(), kFree * kRows},
            {t.data(), kFree},
            kRows,
            status.data(),
            rank.data()};
  }
  bool operator==(const Eliminated&) const = default;
};

TEST(EliminationBits, do_not_depend_on_group_or_instruction_set) {
  const support::LcpProblems<double> problems(kEnvs, kRows, support::LcpKind::mixed);
  const auto p = problems.view();
  support::AlignedBytes memory(std::max(kernels::kernel_table().f64.lcp_bytes(kRows, false),
                                        kernels::LcpScratch<double, double>::bytes(kRows, kRows)));
  Eliminated expected;
  kernels::kernel_table().eliminate(p, expected.view(), 0, kEnvs, memory.data());
  EXPECT_GT(std::count_if(expected.A.begin(), expected.A.end(), [](double a) { return a != 0; }),
            1000);
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    Eliminated found;
    table->eliminate(p, found.view(), 0, kEnvs, memory.data());
    EXPECT_EQ(found, expected) << table->isa;
  }
  for (std::uint32_t seed : {1U, 17U}) {
    kernels::PermutedGroup<1> group;
    group.seed = seed;
    Eliminated found;
    const kernels::LcpScratch<double, double> scratch(kernels::Arena(memory.data()), kRows, kRows);
    for (int env = 0; env < kEnvs; ++env)
      kernels::eliminate_env(group, p, found.view(), env, scratch);
    EXPECT_EQ(found, expected) << seed;
  }
}

/// y_i = x_i^3 + x_i + 0.1 sum of all - (i % 3), z_i alike; env shifts them. Without libm
/// functions.
void evaluate(const void*, const MncpPoint& p) {
  const int n = p.n_x + p.n_w;
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += i < p.n_x ? p.x[i] : p.w[i - p.n_x];
  for (int i = 0; i < n; ++i) {
    const double v = i < p.n_x ? p.x[i] : p.w[i - p.n_x];
    (i < p.n_x ? p.y[i] : p.z[i - p.n_x]) = v * v * v + v + 0.1 * sum - (i + p.env) % 3;
    for (int j = 0; p.jacobian != nullptr && j < n; ++j)
      p.jacobian[i * n + j] = 0.1 + (i == j ? 3.0 * v * v + 1.0 : 0.0);
  }
}

struct Solved {
  Doubles x = Doubles(kEnvs * 6), w = Doubles(kEnvs * 4), y = Doubles(kEnvs * 6),
          residual = Doubles(kEnvs);
  std::vector<EnvStatus> status = std::vector<EnvStatus>(kEnvs);
  std::vector<std::int32_t> iterations = std::vector<std::int32_t>(kEnvs);
  MncpResult view() {
    return {{x.data(), 6},   {w.data(), 4}, {y.data(), 6},
            residual.data(), status.data(), iterations.data()};
  }
  bool operator==(const Solved&) const = default;
};

TEST(MncpBits, do_not_depend_on_group_or_instruction_set) {
  MncpBatch p;
  p.num_envs = kEnvs;
  p.max_x = 6;
  p.max_w = 4;
  const kernels::MncpCallback call{evaluate, nullptr};
  const MncpOptions options{.restarts = 2};
  support::AlignedBytes memory(
      std::max(kernels::kernel_table().mncp_bytes(10), kernels::NonlinearScratch::bytes(10)));
  Solved expected;
  kernels::kernel_table().solve_mncp(p, call, expected.view(), options, 0, kEnvs, memory.data());
  EXPECT_EQ(std::count(expected.status.begin(), expected.status.end(), EnvStatus::solved), kEnvs);
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    Solved found;
    table->solve_mncp(p, call, found.view(), options, 0, kEnvs, memory.data());
    EXPECT_EQ(found, expected) << table->isa;
  }
  for (std::uint32_t seed : {1U, 17U}) {
    kernels::PermutedGroup<1> group;
    group.seed = seed;
    Solved found;
    kernels::NonlinearScratch scratch(kernels::Arena(memory.data()), 10);
    for (int env = 0; env < kEnvs; ++env)
      kernels::solve_mncp_env(group, p, call, found.view(), options, env, scratch);
    EXPECT_EQ(found, expected) << seed;
  }
}

}  // namespace
}  // namespace stickslip
