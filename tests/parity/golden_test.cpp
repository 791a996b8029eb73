// The bits of fixed problems, written down: they may change only when an algorithm does, never with
// a compiler, a machine or an instruction set. A change prints the new numbers to put here.
#include <map>

#include "tests/support/cases.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 64;

template <class In>
std::uint64_t golden_hash(const SolveOptions& options) {
  const support::DyadicBatch<In> batch(kEnvs);
  support::PlainResults<In> results(kEnvs, batch.kMaxRows);
  solve(batch.view(), results.view(), options);
  std::uint64_t all = 1469598103934665603ULL;
  for (int env = 0; env < kEnvs; ++env) {
    const std::uint64_t one = results.hash(env, batch.rows(env));
    support::hash_bytes(all, &one, sizeof one);
  }
  return all;
}

// The inputs themselves, so that a change of the generator is not taken for one of a solver.
TEST(Golden, problems) {
  const support::DyadicBatch<double> batch(kEnvs);
  const auto p = batch.view();
  std::uint64_t hash = 1469598103934665603ULL;
  support::hash_bytes(hash, p.W.data, std::size_t(kEnvs * p.W.stride) * sizeof(double));
  support::hash_bytes(hash, p.b.data, std::size_t(kEnvs * p.b.stride) * sizeof(double));
  EXPECT_EQ(hash, 0x0ULL);
}

const std::map<std::string, std::uint64_t>& golden() {
  static const std::map<std::string, std::uint64_t> hashes = {
      {"none", 0x0},
  };
  return hashes;
}

class GoldenSolve : public testing::TestWithParam<support::Case> {};

TEST_P(GoldenSolve, bits) {
  const std::string key = support::name(GetParam());
  const std::uint64_t hash = golden_hash<double>(GetParam().options());
  const auto expected = golden().find(key);
  ASSERT_NE(expected, golden().end()) << "add {\"" << key << "\", 0x" << std::hex << hash << "}";
  EXPECT_EQ(hash, expected->second) << "now {\"" << key << "\", 0x" << std::hex << hash << "}";
}

INSTANTIATE_TEST_SUITE_P(all, GoldenSolve, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

// Dyadic numbers are exact in float: the same problem, so the same answer.
TEST(Golden, float_data_are_solved_as_double_data_are_in_float) {
  SolveOptions options;
  options.precision = Precision::fp32;
  const support::DyadicBatch<double> wide(kEnvs);
  const support::DyadicBatch<float> narrow(kEnvs);
  support::PlainResults<double> from_wide(kEnvs, wide.kMaxRows);
  support::PlainResults<float> from_narrow(kEnvs, narrow.kMaxRows);
  solve(wide.view(), from_wide.view(), options);
  solve(narrow.view(), from_narrow.view(), options);
  // The judged impulses differ (a float slot rounds them), so compare the verdicts.
  int same = 0;
  for (std::size_t env = 0; env < std::size_t(kEnvs); ++env) {
    same += from_wide.status[env] == from_narrow.status[env] ? 1 : 0;
  }
  EXPECT_GE(same, kEnvs * 9 / 10);
}

}  // namespace
}  // namespace stickslip
