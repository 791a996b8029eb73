// A start that is known to be selected: the solve keeps the choice, in few steps, and does not
// depend on what it is told where that is wrong.
#include <gtest/gtest.h>

#include "tests/support/batches.hpp"
#include "tests/support/families.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using reference::Problem;

struct Answer {
  support::PlainResults<double> results;
  std::vector<Selected> selected;
};

Answer run(const HostProblems<double>& batch, const std::vector<double>* start, bool told) {
  ProblemBatch<double> p = batch.view();
  const std::int32_t flag = told ? 1 : 0;
  if (start != nullptr) p.warm_start = {start->data(), batch.max_rows()};
  p.start_selected = {&flag, 0};
  Answer out{support::PlainResults<double>(batch.num_envs(), batch.max_rows()),
             std::vector<Selected>(std::size_t(batch.num_envs()))};
  ResultBatch<double> r = out.results.view();
  r.selected = out.selected.data();
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  solve(p, r, {}, workspace);
  return out;
}

class StartSelected : public testing::TestWithParam<support::Family> {};

TEST_P(StartSelected, ends_at_once_or_in_few_steps) {
  const auto problems = support::make_problems(GetParam(), 8, 40);
  const auto batch = support::to_batch<double>(problems);
  const Answer first = run(batch, nullptr, false);
  auto moved = problems;  // by much more than the tolerance
  for (Problem& p : moved) p.b *= 1.0 + 1e-5;
  const Answer again = run(batch, &first.results.impulse, true),
               next = run(support::to_batch<double>(moved), &first.results.impulse, true);
  int few = 0, all = 0;
  for (std::size_t e = 0; e < problems.size(); ++e) {
    if (first.results.status[e] != EnvStatus::solved || first.selected[e] == Selected::no) continue;
    ++all;
    EXPECT_EQ(next.results.status[e], EnvStatus::solved) << e;
    few += next.results.iterations[e] <= 4 && again.results.iterations[e] <= 4 ? 1 : 0;
    double size = 0.0, change = 0.0;
    for (int i = 0; i < batch.max_rows(); ++i) {
      const std::size_t at = e * std::size_t(batch.max_rows()) + std::size_t(i);
      size = std::max(size, std::abs(first.results.impulse[at]));
      change = std::max(change, std::abs(next.results.impulse[at] - first.results.impulse[at]));
    }
    EXPECT_LE(change, 1e-2 * size) << e;
  }
  EXPECT_GE(few, 8 * all / 10) << all;
}

TEST_P(StartSelected, wrong_starts_lose_no_solution) {
  const auto problems = support::make_problems(GetParam(), 8, 40);
  const auto batch = support::to_batch<double>(problems);
  const Answer cold = run(batch, nullptr, false);
  std::vector<double> wrong(cold.results.impulse.size());
  for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] = double(i % 7) - 3.0;
  const Answer told = run(batch, &wrong, true);
  int solved = 0, before = 0;
  for (std::size_t e = 0; e < problems.size(); ++e) {
    before += cold.results.status[e] == EnvStatus::solved ? 1 : 0;
    solved += told.results.status[e] == EnvStatus::solved ? 1 : 0;
  }
  EXPECT_GE(solved, before - 1);
}

INSTANTIATE_TEST_SUITE_P(Families, StartSelected, testing::ValuesIn(support::kFamilies),
                         [](const auto& family) { return std::string(name(family.param)); });

}  // namespace
}  // namespace stickslip
