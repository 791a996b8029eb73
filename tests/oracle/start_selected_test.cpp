// A start that is known to be selected: the solve keeps the choice, in few steps, and does not
// depend on what it is told where that is wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/archipelago.hpp"
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

Answer run(const HostProblems<double>& batch, const std::vector<double>* start, std::int32_t flag,
           const SolveOptions& options = {}) {
  ProblemBatch<double> p = batch.view();
  if (start != nullptr) p.warm_start = {start->data(), batch.max_rows()};
  p.start_selected = {&flag, 0};
  Answer out{support::PlainResults<double>(batch.num_envs(), batch.max_rows()),
             std::vector<Selected>(std::size_t(batch.num_envs()))};
  ResultBatch<double> r = out.results.view();
  r.selected = out.selected.data();
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  solve(p, r, options, workspace);
  return out;
}

class StartSelected : public testing::TestWithParam<support::Family> {};

TEST_P(StartSelected, ends_at_once_or_in_few_steps) {
  const auto problems = support::make_problems(GetParam(), 8, 40);
  const auto batch = support::to_batch<double>(problems);
  const Answer first = run(batch, nullptr, 0);
  auto moved = problems;  // by much more than the tolerance
  for (Problem& p : moved) p.b *= 1.0 + 1e-5;
  const Answer again = run(batch, &first.results.impulse, 1),
               next = run(support::to_batch<double>(moved), &first.results.impulse, 1);
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
  const Answer cold = run(batch, nullptr, 0);
  std::vector<double> wrong(cold.results.impulse.size());
  for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] = double(i % 7) - 3.0;
  const Answer told = run(batch, &wrong, 1);
  int solved = 0, before = 0;
  for (std::size_t e = 0; e < problems.size(); ++e) {
    before += cold.results.status[e] == EnvStatus::solved ? 1 : 0;
    solved += told.results.status[e] == EnvStatus::solved ? 1 : 0;
  }
  EXPECT_GE(solved, before - 1);
}

INSTANTIATE_TEST_SUITE_P(Families, StartSelected, testing::ValuesIn(support::kFamilies),
                         [](const auto& family) { return std::string(name(family.param)); });

HostProblems<double> batch_of(const Problem& p) {
  return support::to_batch<double>(std::vector<Problem>{p});
}

/// Ten boxes at rest on four contacts each.
std::vector<Problem> boxes() { return support::make_problems(support::Family::boxrest, 4, 10); }

Answer solve_joined(const support::Archipelago& all, const std::vector<double>* start,
                    std::int32_t flag, const SolveOptions& options = {}) {
  return run(batch_of(all.whole), start, flag, options);
}

TEST(SelectedWhereUnchanged, islands_that_have_not_changed_keep_their_bits) {
  support::Random random(1);
  support::Archipelago all = support::join(boxes(), random);
  SolveOptions coarse;  // for which the first answer is exact
  coarse.atol = coarse.rtol = 1e-5;
  const Answer first = solve_joined(all, nullptr, 0);
  ASSERT_EQ(first.selected[0], Selected::yes);
  for (std::size_t i = 0; i < all.origin.size(); ++i)
    if (all.origin[i].part == 0) all.whole.b(long(i)) *= 1.5;
  const Answer next = solve_joined(all, &first.results.impulse, kSelectedWhereUnchanged, coarse),
               anew = solve_joined(all, &first.results.impulse, 0, coarse);
  EXPECT_EQ(next.results.status[0], EnvStatus::solved);
  EXPECT_EQ(next.selected[0], Selected::yes);
  std::vector<bool> chooses(all.parts.size(), false);  // anew: a contact bears no load
  for (std::size_t i = 0; i < all.origin.size(); ++i)
    if (all.origin[i].row % 3 == 0 && !(first.results.impulse[i] > 0.0))
      chooses[std::size_t(all.origin[i].part)] = true;
  EXPECT_LT(std::count(chooses.begin(), chooses.end(), true), 5);
  int changed = 0, changed_anew = 0;
  for (std::size_t i = 0; i < all.origin.size(); ++i) {
    const double before = first.results.impulse[i], after = next.results.impulse[i];
    changed += after != before ? 1 : 0;
    changed_anew += anew.results.impulse[i] != before ? 1 : 0;
    if (all.origin[i].part > 0 && !chooses[std::size_t(all.origin[i].part)]) {
      EXPECT_EQ(after, before) << i;
    }
  }
  EXPECT_GT(changed, 0);
  EXPECT_GT(changed_anew, changed);
}

/// Impulses of a box that rests on all contacts but one; none if it does not.
std::vector<double> without_contact(const Problem& box, int left_out) {
  Problem three = box;
  std::vector<int> rows;
  for (int i = 0; i < int(box.b.size()); ++i)
    if (i / 3 != left_out) rows.push_back(i);
  three.counts.n_contacts -= 1;
  three.dims.pop_back();
  three.W = box.W(rows, rows);
  three.b = box.b(rows);
  three.R = box.R(rows);
  std::vector<int> coefficients;
  for (int i = 0; i < int(box.mu.size()); ++i)
    if (i / 2 != left_out) coefficients.push_back(i);
  three.mu = box.mu(coefficients);
  const Answer alone = run(batch_of(three), nullptr, 0);
  std::vector<double> r(std::size_t(box.b.size()), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) r[std::size_t(rows[i])] = alone.results.impulse[i];
  const Answer kept = run(batch_of(box), &r, 1);
  return kept.results.iterations[0] == 0 ? r : std::vector<double>{};
}

// A contact that is found only now shares the load, though the start is a solution.
TEST(SelectedWhereUnchanged, what_bears_no_load_may_share_it) {
  std::vector<Problem> parts = boxes();
  int tried = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (int contact = 0; contact < 4; ++contact) {
      const std::vector<double> start = without_contact(parts[k], contact);
      if (start.empty()) continue;
      ++tried;
      const HostProblems<double> batch = batch_of(parts[k]);
      const Answer cold = run(batch, nullptr, 0),
                   told = run(batch, &start, kSelectedWhereUnchanged);
      double size = 0.0;
      for (const double r : cold.results.impulse) size = std::max(size, std::abs(r));
      for (std::size_t i = 0; i < start.size(); ++i)
        EXPECT_NEAR(told.results.impulse[i], cold.results.impulse[i], 1e-5 * size) << k;
    }
  }
  EXPECT_GT(tried, 4);
}

}  // namespace
}  // namespace stickslip
