// The interior-point method alone, judged by the oracle: rows of every kind, and piles of more rows
// than Newton's method can solve.
#include <algorithm>

#include "kernels/group/host_group.hpp"
#include "tests/support/count.hpp"
#include "tests/support/interior_runner.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

/// The oracle's residuals of the interior-point impulses, divided by the tolerance.
std::vector<double> residuals(const std::vector<reference::Problem>& problems, bool finish,
                              const SolveOptions& options = {}) {
  const auto batch = support::to_batch<double>(problems);
  std::vector<double> all;
  for (int env = 0; env < batch.num_envs(); ++env) {
    const reference::Problem& problem = problems[std::size_t(env)];
    auto impulse =
        support::run_interior_alone(kernels::HostGroup{}, batch.view(), env, finish, options);
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
TEST(Interior, solves_rows_of_every_kind) {
  for (Law law : {Law::coulomb, Law::frictionless}) {
    SolveOptions options;
    options.law = law;
    const int count = support::test_count(200);
    const auto problems = support::make_mixed_problems(count, {.max_contacts = 4});
    EXPECT_GE(count_below(residuals(problems, true, options), 1.0), 0.99 * count) << name(law);
  }
}

// Without Newton at the end, the path still converges if W determines the impulses.
TEST(Interior, follows_its_path_to_the_end) {
  for (Law law : {Law::coulomb, Law::frictionless}) {
    SolveOptions options;
    options.law = law;
    const int count = support::test_count(200);
    const auto problems =
        support::make_mixed_problems(count, {.max_contacts = 4, .full_rank = true});
    EXPECT_GE(count_below(residuals(problems, false, options), 1e3), 0.99 * count) << name(law);
  }
}

}  // namespace
}  // namespace stickslip
