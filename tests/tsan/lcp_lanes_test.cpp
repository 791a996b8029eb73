// The same as thread_group_test.cpp for linear complementarity problems.
#include <gtest/gtest.h>

#include "kernels/env/lcp_env.hpp"
#include "kernels/group/thread_group.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

class LcpLanes : public testing::TestWithParam<LcpMethod> {
 protected:
  template <class Real>
  void expect_no_races(support::LcpKind kind) {
    constexpr int kEnvs = 4, kRows = 10;
    const support::LcpProblems<double> problems(kEnvs, kRows, kind);
    const auto p = problems.view();
    LcpOptions options;
    options.method = GetParam();
    options.restarts = 1;
    options.max_newton = 10;
    support::LcpAnswers<double> alone(kEnvs, kRows), together(kEnvs, kRows);
    const int max_m = kernels::standard_rows(kRows, p.lo.data != nullptr);
    using Scratch = kernels::LcpScratch<Real, double>;
    support::AlignedBytes memory(Scratch::bytes(kRows, max_m));
    kernels::solve_lcp_range<Real>(p, alone.view(), options, 0, kEnvs, memory.data());
    kernels::run_lanes(3, [&](const kernels::ThreadGroup& group) {
      const Scratch scratch(kernels::Arena(memory.data()), kRows, max_m);
      for (int env = 0; env < kEnvs; ++env) {
        kernels::solve_lcp_env<Real>(group, p, together.view(), options, env, scratch);
      }
    });
    EXPECT_EQ(alone.hashes(), together.hashes());
  }
};

TEST_P(LcpLanes, in_double) { expect_no_races<double>(support::LcpKind::boxed); }
TEST_P(LcpLanes, in_float) { expect_no_races<float>(support::LcpKind::mixed); }

INSTANTIATE_TEST_SUITE_P(all, LcpLanes, testing::Values(LcpMethod::lemke, LcpMethod::newton));

}  // namespace
}  // namespace stickslip
