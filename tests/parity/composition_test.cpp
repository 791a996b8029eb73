// The bits of a result depend only on its problem and the options: not on threads, on the batch
// that contains it, on its place there, or on its neighbours.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using Hashes = std::vector<std::uint64_t>;

Hashes hashes(const std::vector<Problem>& problems, const SolveOptions& options, int threads = 1) {
  const auto batch = support::to_batch<double>(problems);
  support::PlainResults<double> results(batch.num_envs(), batch.max_rows());
  Workspace workspace(batch.max_rows(), batch.max_contacts(), threads);
  solve(batch.view(), results.view(), options, workspace);
  Hashes out;
  for (int env = 0; env < batch.num_envs(); ++env) {
    out.push_back(results.hash(env, reference::rows(problems[std::size_t(env)])));
  }
  return out;
}

class Composition : public testing::TestWithParam<support::Case> {
 protected:
  SolveOptions options_ = GetParam().options();
  std::vector<Problem> problems_ =
      support::make_mixed_problems(support::test_count(60), support::kinds_for(GetParam().law));
  Hashes expected_ = hashes(problems_, options_);
};

TEST_P(Composition, any_number_of_threads) {
  for (int threads : {2, 3, 8}) EXPECT_EQ(hashes(problems_, options_, threads), expected_);
}

TEST_P(Composition, run_after_run) { EXPECT_EQ(hashes(problems_, options_), expected_); }

TEST_P(Composition, alone_and_in_any_split) {
  for (std::size_t size : {std::size_t(1), std::size_t(7)}) {
    Hashes parts;
    for (std::size_t begin = 0; begin < problems_.size(); begin += size) {
      const std::size_t end = std::min(problems_.size(), begin + size);
      const std::vector<Problem> part(problems_.begin() + long(begin),
                                      problems_.begin() + long(end));
      for (std::uint64_t hash : hashes(part, options_)) parts.push_back(hash);
    }
    EXPECT_EQ(parts, expected_) << "batches of " << size;
  }
}

TEST_P(Composition, any_order) {
  auto reversed = problems_;
  std::reverse(reversed.begin(), reversed.end());
  Hashes back = hashes(reversed, options_, 2);
  std::reverse(back.begin(), back.end());
  EXPECT_EQ(back, expected_);
}

TEST_P(Composition, larger_slots) {
  auto beside_large = problems_;
  support::MixedOptions large = support::kinds_for(GetParam().law);
  large.max_rows_per_kind = 5;
  large.max_contacts = 15;
  beside_large.push_back(support::make_mixed(0, large).problem);
  for (int i = 1; reference::rows(beside_large.back()) < 40; ++i) {
    beside_large.back() = support::make_mixed(i, large).problem;
  }
  Hashes out = hashes(beside_large, options_);
  out.pop_back();
  EXPECT_EQ(out, expected_);
}

TEST_P(Composition, neighbours_that_are_bad) {
  auto beside_bad = problems_;
  for (std::size_t env = 1; env < beside_bad.size(); env += 2) {
    Problem& p = beside_bad[env];
    if (p.b.size() == 0) continue;
    if (env % 4 == 1) p.b[0] = std::nan("");
    if (env % 4 == 3) p.counts.n_free = 1000000;  // over capacity
  }
  auto batch = support::to_batch<double>(problems_);
  for (std::size_t env = 1; env < beside_bad.size(); env += 2) {
    batch.counts(int(env)) = beside_bad[env].counts;
    if (beside_bad[env].b.size() > 0) batch.b(int(env))[0] = beside_bad[env].b[0];
  }
  support::PlainResults<double> results(batch.num_envs(), batch.max_rows());
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 2);
  solve(batch.view(), results.view(), options_, workspace);
  for (int env = 0; env < batch.num_envs(); ++env) {
    const Problem& p = problems_[std::size_t(env)];
    if (env % 2 == 0) {
      EXPECT_EQ(results.hash(env, reference::rows(p)), expected_[std::size_t(env)]);
    } else if (p.b.size() > 0) {
      EXPECT_EQ(results.status[std::size_t(env)],
                env % 4 == 1 ? EnvStatus::bad_input : EnvStatus::over_capacity);
    }
  }
}

// Hard environments run twice, the second time from a queue; the results must not show this.
TEST(Queue, does_not_change_bits) {
  const auto problems = support::make_problems(support::Family::cage, 4, support::test_count(1000));
  const Hashes expected = hashes(problems, {});
  for (int threads : {2, 3, 8}) EXPECT_EQ(hashes(problems, {}, threads), expected);
  const auto middle = problems.begin() + long(problems.size()) / 2;
  Hashes parts = hashes({problems.begin(), middle}, {}, 2);
  for (std::uint64_t hash : hashes({middle, problems.end()}, {}, 2)) parts.push_back(hash);
  EXPECT_EQ(parts, expected);
  SolveOptions first;
  first.max_rung = 0;
  EXPECT_NE(hashes(problems, first), expected) << "no environment was hard";
  EXPECT_EQ(hashes(problems, first), hashes(problems, first, 2));
}

INSTANTIATE_TEST_SUITE_P(all, Composition, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
