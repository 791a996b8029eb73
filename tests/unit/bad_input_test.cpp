// Invalid values affect one environment and nothing else; misuse of the API throws at once, with a
// message that names the argument.
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/problem/env_problem.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kVictim = 1;

/// Three problems; the middle one has rows of every kind: 0 free, 1 nonneg, 2 box, 3 ... contacts.
std::vector<reference::Problem> healthy() {
  std::vector<reference::Problem> all;
  for (int i = 0; all.size() < 3; ++i) {
    auto p = support::make_mixed(i).problem;
    const bool full = p.counts.n_free == 1 && p.counts.n_nonneg == 1 && p.counts.n_box == 1 &&
                      p.counts.n_contacts > 0;
    if (all.size() != kVictim || full) all.push_back(p);
  }
  return all;
}

struct Damage {
  const char* name;
  std::function<void(HostProblems<double>&)> apply;
};

const std::vector<Damage>& damages() {
  using P = HostProblems<double>;
  static const std::vector<Damage> all = {
      {"nan_in_b", [](P& p) { p.b(kVictim)[0] = kNan; }},
      {"infinite_b", [](P& p) { p.b(kVictim)[3] = kInfinity; }},
      {"nan_in_W", [](P& p) { p.W(kVictim)[1] = kNan; }},
      {"infinite_W", [](P& p) { p.W(kVictim)[p.max_rows() + 1] = -kInfinity; }},
      {"nan_in_mu", [](P& p) { p.mu(kVictim)[0] = kNan; }},
      {"infinite_mu", [](P& p) { p.mu(kVictim)[1] = kInfinity; }},
      {"negative_mu", [](P& p) { p.mu(kVictim)[1] = -0.1; }},
      {"nan_in_R", [](P& p) { p.R(kVictim)[2] = kNan; }},
      {"negative_R", [](P& p) { p.R(kVictim)[3] = -1e-3; }},
      {"negative_diagonal", [](P& p) { p.W(kVictim)[3 * p.max_rows() + 3] = -1.0; }},
      {"lo_above_hi", [](P& p) { p.lo(kVictim)[0] = p.hi(kVictim)[0] + 1.0; }},
      {"nan_in_lo", [](P& p) { p.lo(kVictim)[0] = kNan; }},
      {"nan_in_hi", [](P& p) { p.hi(kVictim)[0] = kNan; }},
      {"infinite_lo", [](P& p) { p.lo(kVictim)[0] = p.hi(kVictim)[0] = kInfinity; }},
      {"infinite_hi", [](P& p) { p.lo(kVictim)[0] = p.hi(kVictim)[0] = -kInfinity; }},
      {"nan_in_warm_start", [](P& p) { p.warm_start(kVictim)[4] = kNan; }},
      {"infinite_warm_start", [](P& p) { p.warm_start(kVictim)[0] = kInfinity; }},
      {"negative_count", [](P& p) { p.counts(kVictim).n_nonneg = -1; }},
      {"dimension_five", [](P& p) { p.dims(kVictim)[0] = 5; }},
  };
  return all;
}

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class BadInput : public testing::TestWithParam<Damage> {};

template <class Scalar>
std::uint64_t hash_of(const HostResults<Scalar>& results, int env, int rows) {
  std::uint64_t hash = 0;
  support::hash_bytes(hash, results.impulse(env), std::size_t(rows) * sizeof(Scalar));
  return hash;
}

TEST_P(BadInput, is_told_and_harms_no_neighbour) {
  const auto problems = healthy();
  for (const support::Case& c : support::supported_cases()) {
    SCOPED_TRACE(support::name(c));
    auto batch = support::to_batch<double>(problems);
    const auto before = support::solve_batch(batch, c.options());
    ASSERT_NE(before.status(kVictim), EnvStatus::bad_input);
    GetParam().apply(batch);
    const auto after = support::solve_batch(batch, c.options());
    EXPECT_EQ(after.status(kVictim), EnvStatus::bad_input);
    EXPECT_TRUE(std::isinf(after.residual(kVictim)));
    EXPECT_EQ(after.iterations(kVictim), 0);
    for (int i = 0; i < batch.max_rows(); ++i) EXPECT_EQ(after.impulse(kVictim)[i], 0.0);
    for (int env : {0, 2}) {
      const int rows = reference::rows(problems[std::size_t(env)]);
      EXPECT_EQ(hash_of(after, env, rows), hash_of(before, env, rows));
      EXPECT_EQ(after.status(env), before.status(env));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, BadInput, testing::ValuesIn(damages()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadInputOfConvex, asymmetry_beyond_rounding) {
  const auto problems = healthy();
  for (Law law : {Law::convex, Law::coulomb}) {
    SolveOptions options;
    options.law = law;
    auto batch = support::to_batch<double>(problems);
    batch.W(kVictim)[3] *= 1.0 + 1e-15;
    EXPECT_NE(support::solve_batch(batch, options).status(kVictim), EnvStatus::bad_input);
    batch.W(kVictim)[3] += 0.1;
    const auto status = support::solve_batch(batch, options).status(kVictim);
    EXPECT_EQ(status == EnvStatus::bad_input, law == Law::convex) << name(law);
  }
}

class OverCapacity : public testing::TestWithParam<RowCounts> {};

TEST_P(OverCapacity, is_told_and_harms_no_neighbour) {
  const auto problems = healthy();
  auto batch = support::to_batch<double>(problems);
  const auto before = support::solve_batch(batch, {});
  batch.counts(kVictim) = GetParam();
  const auto after = support::solve_batch(batch, {});
  EXPECT_EQ(after.status(kVictim), EnvStatus::over_capacity);
  EXPECT_TRUE(std::isinf(after.residual(kVictim)));
  EXPECT_GT(after.rows_needed(kVictim), batch.max_rows());
  for (int i = 0; i < batch.max_rows(); ++i) EXPECT_EQ(after.impulse(kVictim)[i], 0.0);
  for (int env : {0, 2}) {
    const int rows = reference::rows(problems[std::size_t(env)]);
    EXPECT_EQ(hash_of(after, env, rows), hash_of(before, env, rows));
  }
}

constexpr std::int32_t kHuge = std::numeric_limits<std::int32_t>::max();
INSTANTIATE_TEST_SUITE_P(shapes, OverCapacity,
                         testing::Values(RowCounts{1000, 0, 0, 0}, RowCounts{0, 0, 0, 1000},
                                         RowCounts{kHuge, 0, 0, 0}, RowCounts{kHuge, kHuge, 2, 0},
                                         RowCounts{0, 0, 0, kHuge}));

constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();

TEST(OverCapacity, rows_are_added_in_64_bits) {
  const auto rows = [](const RowCounts& s, std::vector<std::int32_t> dims) {
    return kernels::rows_of(s, dims.data(), std::int32_t(dims.size()));
  };
  EXPECT_EQ(rows({kHuge, kHuge, kHuge, kHuge}, {}), kHuge);
  EXPECT_EQ(rows({kHuge, kHuge, kHuge, kHuge}, {6, 6}), kHuge);
  EXPECT_EQ(rows({0, 0, 0, 2}, {kHuge, kHuge}), kHuge);
  EXPECT_EQ(rows({0, 0, 0, 1}, {kLeast}), 3);  // a dimension that is refused later
  EXPECT_EQ(rows({kHuge, 0, 0, 1}, {kLeast}), kHuge);
  EXPECT_EQ(rows({200'000'000, 0, 0, 2}, {4, 6}), 200'000'010);
}

TEST(OverCapacity, a_dimension_below_all_others_is_bad_input) {
  auto batch = support::to_batch<double>(healthy());
  batch.dims(kVictim)[0] = kLeast;
  EXPECT_EQ(support::solve_batch(batch, {}).status(kVictim), EnvStatus::bad_input);
}

TEST(OverCapacity, rows_needed_is_the_number_to_ask_for) {
  auto batch = support::to_batch<double>(healthy());
  batch.counts(kVictim) = {2, 40, 3, 1};
  batch.dims(kVictim)[0] = 4;
  EXPECT_EQ(support::solve_batch(batch, {}).rows_needed(kVictim), 2 + 40 + 3 + 4);
}

}  // namespace
}  // namespace stickslip
