// The stored bits of fixed problems: they may change only when an algorithm does, never with a
// compiler, a machine or an instruction set. After such a change, `test_parity
// --gtest_filter=*Golden* | grep -o '{".*}'` prints the new numbers.
#include <map>

#include "tests/support/cases.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 64;

template <class Scalar>
std::uint64_t golden_hash(const SolveOptions& options) {
  const support::DyadicBatch<Scalar> batch(kEnvs, options.law);
  support::PlainResults<Scalar> results(kEnvs, batch.kMaxRows);
  solve(batch.view(), results.view(), options);
  std::uint64_t all = 1469598103934665603ULL;
  for (int env = 0; env < kEnvs; ++env) {
    const std::uint64_t one = results.hash(env, batch.rows(env));
    support::hash_bytes(all, &one, sizeof one);
  }
  return all;
}

// The inputs themselves, to distinguish a change of the generator from one of a solver.
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
      {"coulomb_auto_float64", 0xa95cd5d847388324},
      {"coulomb_auto_float32", 0x6dbdd999593bd85e},
      {"coulomb_auto_mixed", 0x1abbcd38cfc9d912},
      {"coulomb_pgs_float64", 0xc185caa8b9e3cf77},
      {"coulomb_pgs_float32", 0xe88168a5f0f20379},
      {"coulomb_pgs_mixed", 0xc185caa8b9e3cf77},
      {"coulomb_newton_float64", 0x4ac69a29afd0a0cb},
      {"coulomb_newton_float32", 0x86e5bcc745ffdfed},
      {"coulomb_newton_mixed", 0x496062ab24ef37fb},
      {"convex_auto_float64", 0xc33007cd8952a0ff},
      {"convex_auto_float32", 0xb47e9a7a29e36f59},
      {"convex_auto_mixed", 0x84ed2e043f137808},
      {"convex_pgs_float64", 0x251da97011fee1fc},
      {"convex_pgs_float32", 0x9629bef3b1379d3e},
      {"convex_pgs_mixed", 0x251da97011fee1fc},
      {"convex_newton_float64", 0x12bf2911bd59cb25},
      {"convex_newton_float32", 0xac604b1b3a9041ec},
      {"convex_newton_mixed", 0x9d6bfc9375259a14},
      {"pyramid_auto_float64", 0x64ea9496c16f4e69},
      {"pyramid_auto_float32", 0xadf6764c396decd0},
      {"pyramid_auto_mixed", 0xd9fd2be073003664},
      {"pyramid_lemke_float64", 0x64ea9496c16f4e69},
      {"pyramid_lemke_float32", 0xadf6764c396decd0},
      {"pyramid_lemke_mixed", 0xd9fd2be073003664},
      {"box_auto_float64", 0x2f2118970f699e87},
      {"box_auto_float32", 0x3ab317c4a29cb912},
      {"box_auto_mixed", 0x2f2118970f699e87},
      {"box_newton_float64", 0xd9a0c57d39a159f2},
      {"box_newton_float32", 0x12d758837b147fff},
      {"box_newton_mixed", 0x978934f299b6e7a4},
      {"box_pgs_float64", 0x8328188715373441},
      {"box_pgs_float32", 0x37cc9782ea2b1b95},
      {"box_pgs_mixed", 0x8328188715373441},
      {"frictionless_auto_float64", 0xf3f2a32988016cb3},
      {"frictionless_auto_float32", 0xa06fc4450337c721},
      {"frictionless_auto_mixed", 0x75c322060080070a},
      {"frictionless_pgs_float64", 0x76578503bd9d7f6f},
      {"frictionless_pgs_float32", 0xcd4ccedfbb2a8b52},
      {"frictionless_pgs_mixed", 0x76578503bd9d7f6f},
      {"frictionless_newton_float64", 0xa415974b62b4df6f},
      {"frictionless_newton_float32", 0x422213df09d4a88},
      {"frictionless_newton_mixed", 0x7816fd043d0b2c51},
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

// Dyadic numbers are exact in float: the same problem, so the same result.
TEST(Golden, float_data_are_solved_as_double_data_are_in_float) {
  SolveOptions options;
  options.precision = Precision::float32;
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
