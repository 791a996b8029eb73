// The bodies with a real thread for every lane and a real barrier for every barrier, under
// ThreadSanitizer: a missing barrier, which would be a race on a GPU, is reported here.
#include <gtest/gtest.h>

#include "kernels/group/host_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 6;

struct Setup {
  Law law;
  Solver solver;
};

class ThreadLanes : public testing::TestWithParam<Setup> {
 protected:
  template <class Real, class Factor>
  void expect_no_races(int lanes) {
    SolveOptions options;
    options.law = GetParam().law;
    options.solver = GetParam().solver;
    options.max_sweeps = 20;
    options.thorough = false;  // some in float run all rungs, minutes here
    const support::DyadicBatch<double> batch(kEnvs, options.law);
    support::PlainResults<double> alone(kEnvs, batch.kMaxRows), together(kEnvs, batch.kMaxRows);
    support::EnvMemory<Real, Factor, double> memory(batch.kMaxRows, batch.kMaxContacts);
    for (int env = 0; env < kEnvs; ++env) {
      kernels::solve_env<Real, Factor>(kernels::HostGroup{}, batch.view(), alone.view(), options,
                                       env, memory.scratch());
    }
    kernels::run_lanes(lanes, [&](const kernels::ThreadGroup& group) {
      for (int env = 0; env < kEnvs; ++env) {
        kernels::solve_env<Real, Factor>(group, batch.view(), together.view(), options, env,
                                         memory.scratch());
      }
    });
    for (int env = 0; env < kEnvs; ++env) {
      EXPECT_EQ(alone.hash(env, batch.rows(env)), together.hash(env, batch.rows(env)));
    }
  }
};

TEST_P(ThreadLanes, in_double) { expect_no_races<double, double>(3); }
TEST_P(ThreadLanes, in_float) { expect_no_races<float, float>(3); }
TEST_P(ThreadLanes, mixed) { expect_no_races<double, float>(2); }

INSTANTIATE_TEST_SUITE_P(
    all, ThreadLanes,
    testing::Values(Setup{Law::coulomb, Solver::automatic}, Setup{Law::coulomb, Solver::newton},
                    Setup{Law::convex, Solver::automatic}, Setup{Law::pyramid, Solver::lemke},
                    Setup{Law::box, Solver::pgs}, Setup{Law::frictionless, Solver::automatic}));

}  // namespace
}  // namespace stickslip
