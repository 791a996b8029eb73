// The interior point and the continuation alone, judged by the oracle, on rows of every kind.
#include <algorithm>

#include "kernels/group/host_group.hpp"
#include "tests/support/count.hpp"
#include "tests/support/interior_runner.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

using kernels::Method;

class Path : public testing::TestWithParam<Method> {};

/// The oracle's residuals of the impulses, divided by the tolerance.
std::vector<double> residuals(const std::vector<reference::Problem>& problems, Method method,
                              bool finish, const SolveOptions& options) {
  const auto batch = support::to_batch<double>(problems);
  std::vector<double> all;
  for (int env = 0; env < batch.num_envs(); ++env) {
    const reference::Problem& problem = problems[std::size_t(env)];
    auto impulse =
        support::run_path_alone(kernels::HostGroup{}, batch.view(), env, method, finish, options);
    const Eigen::Map<const reference::Vector> r(impulse.data(), reference::rows(problem));
    const double max_b = r.size() == 0 ? 0.0 : problem.b.lpNorm<Eigen::Infinity>();
    all.push_back(reference::residual(problem, r, options.law) / tolerance(options, max_b));
  }
  return all;
}

int count_below(const std::vector<double>& values, double limit) {
  return int(std::count_if(values.begin(), values.end(), [&](double v) { return v <= limit; }));
}

// Free, nonneg, box rows, some with an empty interior; contacts of dimension 3, 4, 6, some without
// friction or with rows without friction; compliance.
TEST_P(Path, solves_rows_of_every_kind) {
  for (Law law : {Law::coulomb, Law::frictionless}) {
    SolveOptions options;
    options.law = law;
    const int count = support::test_count(200);
    const auto problems = support::make_mixed_problems(count, {.max_contacts = 4});
    EXPECT_GE(count_below(residuals(problems, GetParam(), true, options), 1.0), 0.99 * count)
        << name(law);
  }
}

// Without Newton at the end, the central path still converges if W determines the impulses.
TEST(Interior, follows_its_path_to_the_end) {
  for (Law law : {Law::coulomb, Law::frictionless}) {
    SolveOptions options;
    options.law = law;
    const int count = support::test_count(200);
    const auto problems =
        support::make_mixed_problems(count, {.max_contacts = 4, .full_rank = true});
    EXPECT_GE(count_below(residuals(problems, Method::interior, false, options), 1e3), 0.99 * count)
        << name(law);
  }
}

INSTANTIATE_TEST_SUITE_P(all, Path, testing::Values(Method::interior, Method::continuation));

}  // namespace
}  // namespace stickslip
