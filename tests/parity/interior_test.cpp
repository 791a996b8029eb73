// The interior point and the continuation on groups with another order of lanes, and on dirty
// scratch.
#include <gtest/gtest.h>

#include "kernels/group/permuted_group.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/interior_runner.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

class Path : public testing::TestWithParam<kernels::Method> {};

TEST_P(Path, gives_the_same_bits_on_every_group) {
  const auto problems = support::make_mixed_problems(20, {.max_contacts = 6});
  const auto batch = support::to_batch<double>(problems);
  for (int env = 0; env < batch.num_envs(); ++env) {
    for (bool finish : {false, true}) {
      const auto run = [&](const auto& group) {
        return support::run_path_alone(group, batch.view(), env, GetParam(), finish);
      };
      const auto expected = run(kernels::HostGroup{});
      for (std::uint32_t seed : {1U, 2U, 17U}) {
        kernels::PermutedGroup<1> group;
        group.seed = seed;
        EXPECT_EQ(run(group), expected) << "problem " << env << ", seed " << seed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, Path,
                         testing::Values(kernels::Method::interior, kernels::Method::continuation));

}  // namespace
}  // namespace stickslip
