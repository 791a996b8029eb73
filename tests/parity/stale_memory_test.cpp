// No result depends on old contents of scratch: on numbers that were never written, which are NaN
// here, or on those that an earlier loop left after the last row. A group with one row per lane, as
// on a GPU, does not overwrite such padding; a HostGroup, which works in chunks of rows, does.
// There are enough problems for pivoting paths and homotopies to reach it.
#include "kernels/group/permuted_group.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/families.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

class StaleMemory : public testing::TestWithParam<support::Case> {
 protected:
  template <class Real, class Factor>
  int differences(const std::vector<reference::Problem>& problems) {
    const SolveOptions options = GetParam().options();
    const auto batch = support::to_batch<double>(problems);
    const auto view = batch.view();
    support::PlainResults<double> expected(view.num_envs, view.max_rows);
    support::PlainResults<double> got(view.num_envs, view.max_rows);
    solve(view, expected.view(), options);
    support::EnvMemory<Real, Factor, double> memory(view.max_rows, view.max_contacts);
    int different = 0;
    for (int env = 0; env < view.num_envs; ++env) {
      memory.poison();
      kernels::solve_env<Real, Factor>(kernels::PermutedGroup<1>{}, view, got.view(), options, env,
                                       memory.scratch());
      const int rows = reference::rows(problems[std::size_t(env)]);
      different += got.hash(env, rows) != expected.hash(env, rows) ? 1 : 0;
    }
    return different;
  }
};

TEST_P(StaleMemory, changes_no_bit) {
  for (const support::Family family : support::kFamilies)
    for (const int contacts : {4, 7, 12}) {
      if (!support::exists(family, contacts)) continue;
      const auto problems = support::make_problems(family, contacts, support::test_count(40));
      const auto count = [&] {
        switch (GetParam().precision) {
          case Precision::float64:
            return differences<double, double>(problems);
          case Precision::float32:
            return differences<float, float>(problems);
          case Precision::mixed:
            break;
        }
        return differences<double, float>(problems);
      };
      EXPECT_EQ(count(), 0) << name(family) << " " << contacts;
    }
}

INSTANTIATE_TEST_SUITE_P(all, StaleMemory, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
