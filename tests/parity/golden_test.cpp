// The bits of fixed problems, written down: they may change only when an algorithm does, never with
// a compiler, a machine or an instruction set. After such a change, the new numbers are what
// `test_parity --gtest_filter=*Golden* | grep -o '{".*}'` prints.
#include <map>

#include "tests/support/cases.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 64;

template <class In>
std::uint64_t golden_hash(const SolveOptions& options) {
  const support::DyadicBatch<In> batch(kEnvs, options.law);
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
  EXPECT_EQ(hash, 0xbe01c5dcb9264c9ULL);
}

const std::map<std::string, std::uint64_t>& golden() {
  static const std::map<std::string, std::uint64_t> hashes = {
      {"coulomb_auto_double", 0x33837d9bfb649b7a},
      {"coulomb_auto_float", 0x1aca866d527f9445},
      {"coulomb_auto_mixed", 0x721d89176a9b599f},
      {"coulomb_pgs_double", 0x2ed784a53d44afe},
      {"coulomb_pgs_float", 0x21e63475c37bc630},
      {"coulomb_pgs_mixed", 0x2ed784a53d44afe},
      {"coulomb_newton_double", 0x98c538aea5163e9e},
      {"coulomb_newton_float", 0xed6fbb75605f6784},
      {"coulomb_newton_mixed", 0x908ba5c9e279eb4},
      {"convex_auto_double", 0xadb89dfba3af2128},
      {"convex_auto_float", 0xb1ddd70c7d38c216},
      {"convex_auto_mixed", 0xc6e981aa48a5ba43},
      {"convex_pgs_double", 0x2705c43fe6e42e8d},
      {"convex_pgs_float", 0xbf4dce10feed3367},
      {"convex_pgs_mixed", 0x2705c43fe6e42e8d},
      {"convex_newton_double", 0xc44d7bde76d3db37},
      {"convex_newton_float", 0xfa98c6698b340dde},
      {"convex_newton_mixed", 0x1de3ab5ae598f582},
      {"pyramid_auto_double", 0xc8ef76fca6e1d5e7},
      {"pyramid_auto_float", 0xd7ff7f4452302855},
      {"pyramid_auto_mixed", 0xd246e479cb6ebc50},
      {"pyramid_lemke_double", 0xc8ef76fca6e1d5e7},
      {"pyramid_lemke_float", 0xd7ff7f4452302855},
      {"pyramid_lemke_mixed", 0xd246e479cb6ebc50},
      {"box_auto_double", 0xdb55c8e3b53028bb},
      {"box_auto_float", 0xae51029ee8bb6637},
      {"box_auto_mixed", 0xdb55c8e3b53028bb},
      {"box_pgs_double", 0xdb55c8e3b53028bb},
      {"box_pgs_float", 0xae51029ee8bb6637},
      {"box_pgs_mixed", 0xdb55c8e3b53028bb},
      {"frictionless_auto_double", 0xa8f3a61cc776ea40},
      {"frictionless_auto_float", 0x7a4b17d17cc5a07f},
      {"frictionless_auto_mixed", 0x355ad515e658799c},
      {"frictionless_pgs_double", 0xed378c1256fb7434},
      {"frictionless_pgs_float", 0x5d38cfc0af415195},
      {"frictionless_pgs_mixed", 0xed378c1256fb7434},
      {"frictionless_newton_double", 0x33a2dc60bb380664},
      {"frictionless_newton_float", 0x7a1086a80c18fdf2},
      {"frictionless_newton_mixed", 0xd6116200766cc384},
  };
  return hashes;
}

class GoldenSolve : public testing::TestWithParam<support::Case> {};

TEST_P(GoldenSolve, bits) {
  const std::string key = support::name(GetParam());
  const std::uint64_t hash = golden_hash<double>(GetParam().options());
  const auto expected = golden().find(key);
  ASSERT_NE(expected, golden().end()) << "{\"" << key << "\", 0x" << std::hex << hash << "}";
  EXPECT_EQ(hash, expected->second) << "{\"" << key << "\", 0x" << std::hex << hash << "}";
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
