// How many of the six families' problems are solved, every one of them judged by the oracle.
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using support::Family;

struct Rate {
  int solved = 0;
  int total = 0;
};

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
    const auto batch = support::to_batch<double>(problems);
    const auto results = support::solve_batch(batch, options, 2);
    rate.solved += support::count_solved(batch, results, options);
    rate.total += batch.num_envs();
  }
  return rate;
}

void expect_rate(const Rate& rate, double share) {
  testing::Test::RecordProperty("solved", rate.solved);
  testing::Test::RecordProperty("total", rate.total);
  EXPECT_GE(rate.solved, share * rate.total) << rate.solved << " of " << rate.total;
}

TEST(SixFamilies, coulomb) {
  Rate all;
  for (Family family : support::kFamilies) {
    const Rate rate = solve_family(family, Law::coulomb, 0.0);
    all.solved += rate.solved;
    all.total += rate.total;
  }
  expect_rate(all, 0.998);
}

class Rates : public testing::TestWithParam<Family> {};

// The cage is the hard one: squeezed from all sides, with many ways to stick and slide.
TEST_P(Rates, coulomb_compliant) {
  expect_rate(solve_family(GetParam(), Law::coulomb, 1e-3), 0.99);
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
