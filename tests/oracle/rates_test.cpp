// The number of solved problems in the six families, each judged by the oracle.
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using support::Family;

struct Rate {
  int solved = 0;
  int total = 0;
  int first = 0;  ///< on the first rung of the ladder

  void operator+=(const Rate& other) {
    solved += other.solved;
    total += other.total;
    first += other.first;
  }
};

Rate solve_all(const std::vector<reference::Problem>& problems, const SolveOptions& options) {
  const auto batch = support::to_batch<double>(problems);
  const auto results = support::solve_batch(batch, options, 2);
  Rate rate{support::count_solved(batch, results, options), batch.num_envs()};
  for (int env = 0; env < batch.num_envs(); ++env) {
    rate.first += results.status(env) == EnvStatus::solved && results.rung(env) == 0 ? 1 : 0;
  }
  return rate;
}

/// Solves the problems of a family, p = 1 ... 16, with compliance R = softness * W_ii.
Rate solve_family(Family family, Law law, double softness) {
  SolveOptions options;
  options.law = law;
  Rate rate;
  for (int contacts = 1; contacts <= 16; ++contacts) {
    if (!exists(family, contacts)) continue;
    SCOPED_TRACE(testing::Message() << name(family) << " p=" << contacts);
    auto problems = make_problems(family, contacts, support::test_count(200));
    for (auto& p : problems) p.R = softness * p.W.diagonal();
    rate += solve_all(problems, options);
  }
  return rate;
}

void expect_rate(const Rate& rate, double share) {
  testing::Test::RecordProperty("solved", rate.solved);
  testing::Test::RecordProperty("total", rate.total);
  testing::Test::RecordProperty("first", rate.first);
  EXPECT_GE(rate.solved, share * rate.total) << rate.solved << " of " << rate.total;
}

/// Every second contact becomes a copy of the previous one, all rows changed by about `distance`.
void duplicate_contacts(support::Scene& scene, double distance, support::Random& random) {
  for (Eigen::Index row = 0; row + 6 <= scene.J.rows(); row += 6) {
    for (Eigen::Index i = 3; i < 6; ++i) {
      scene.J.row(row + i) = scene.J.row(row + i - 3);
      for (double& x : scene.J.row(row + i)) x *= 1.0 + distance * random.normal();
    }
  }
  form_problem(scene);
}

Rate solve_near_duplicates(Family family, Law law) {
  SolveOptions options;
  options.law = law;
  support::Random random(11);
  Rate all;
  for (int contacts : {4, 8, 16}) {
    for (double distance : {1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
      std::vector<reference::Problem> problems;
      for (int i = 0; i < support::test_count(100); ++i) {
        support::Scene scene = make_scene(family, contacts, i);
        duplicate_contacts(scene, distance, random);
        problems.push_back(scene.problem);
      }
      all += solve_all(problems, options);
    }
  }
  return all;
}

// All of 12,000 (and of 120,000), almost all on the first rung.
TEST(SixFamilies, coulomb) {
  Rate all;
  for (Family family : support::kFamilies) all += solve_family(family, Law::coulomb, 0.0);
  expect_rate(all, 0.99999);
  EXPECT_GE(all.first, 0.998 * all.total) << all.first << " of " << all.total;
}

TEST(SixFamilies, coulomb_with_32_contacts) {
  Rate all;
  for (Family family : support::kFamilies) {
    if (!exists(family, 32)) continue;
    all += solve_all(make_problems(family, 32, support::test_count(200)), SolveOptions{});
  }
  expect_rate(all, 1.0);
}

// Starts as after a jam must not give a wrong verdict.
TEST(SixFamilies, coulomb_with_32_contacts_from_starts_that_look_like_jams) {
  int total = 0, solved = 0;
  for (Family family : support::kFamilies) {
    if (!exists(family, 32)) continue;
    const auto problems = make_problems(family, 32, support::test_count(200));
    auto batch = support::to_batch<double>(problems);
    support::start_as_after_a_jam(batch, problems);
    const auto results = support::solve_batch(batch, SolveOptions{}, 2);
    solved += support::count_solved(batch, results, SolveOptions{});
    total += batch.num_envs();
    for (int env = 0; env < batch.num_envs(); ++env) {
      EXPECT_NE(results.status(env), EnvStatus::infeasible) << name(family) << " " << env;
    }
  }
  expect_rate({solved, total}, 0.998);
}

class PyramidRates : public testing::TestWithParam<Family> {};

TEST_P(PyramidRates, is_solved_by_lemke) {
  for (Precision precision : support::precisions()) {
    SolveOptions options;
    options.law = Law::pyramid;
    options.precision = precision;
    Rate all;
    for (int contacts : {2, 4, 8, 16, 32}) {
      if (!exists(GetParam(), contacts)) continue;
      SCOPED_TRACE(testing::Message() << name(precision) << " p=" << contacts);
      all += solve_all(make_problems(GetParam(), contacts, support::test_count(200)), options);
    }
    // A float tableau alone may fail on a long path.
    expect_rate(all, precision == Precision::float32 ? 0.998 : 1.0);
  }
}

TEST_P(PyramidRates, with_contacts_that_are_nearly_the_same) {
  expect_rate(solve_near_duplicates(GetParam(), Law::pyramid), 0.998);
}

// Two coefficients per contact, some zero; compliance, and a W whose asymmetry is small enough that
// W + R stays positive definite.
TEST_P(PyramidRates, with_friction_that_differs_along_the_axes) {
  support::Random random(12);
  auto problems = make_problems(GetParam(), 8, support::test_count(100));
  for (auto& p : problems) {
    for (double& mu : p.mu) mu = random.chance(0.1) ? 0.0 : random.uniform(0.1, 1.0);
    for (double& w : p.W.reshaped()) w *= 1.0 + 1e-4 * random.normal();
    p.R = 1e-3 * p.W.diagonal();
  }
  SolveOptions options;
  options.law = Law::pyramid;
  expect_rate(solve_all(problems, options), 1.0);
}

INSTANTIATE_TEST_SUITE_P(families, PyramidRates, testing::ValuesIn(support::kFamilies),
                         [](const auto& info) { return std::string(name(info.param)); });

class Rates : public testing::TestWithParam<Family> {};

// One of 8,000 problems of `stack` is not solved.
TEST_P(Rates, coulomb_compliant) {
  expect_rate(solve_family(GetParam(), Law::coulomb, 1e-3), 0.9985);
}
TEST_P(Rates, coulomb_with_contacts_that_are_nearly_the_same) {
  expect_rate(solve_near_duplicates(GetParam(), Law::coulomb), 0.998);
}
TEST_P(Rates, convex) { expect_rate(solve_family(GetParam(), Law::convex, 0.0), 0.998); }
TEST_P(Rates, convex_compliant) { expect_rate(solve_family(GetParam(), Law::convex, 1e-3), 1.0); }
TEST_P(Rates, frictionless) {
  expect_rate(solve_family(GetParam(), Law::frictionless, 0.0), 0.998);
}

INSTANTIATE_TEST_SUITE_P(families, Rates, testing::ValuesIn(support::kFamilies),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
