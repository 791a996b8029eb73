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
      {"coulomb_auto_double", 0xa3a909d1c79ded77},
      {"coulomb_auto_float", 0x237bdda4580943f0},
      {"coulomb_auto_mixed", 0xfa1f779e811eef49},
      {"coulomb_pgs_double", 0xc5d4a822a3873d1f},
      {"coulomb_pgs_float", 0x2e7fedb60a58ead5},
      {"coulomb_pgs_mixed", 0xc5d4a822a3873d1f},
      {"coulomb_newton_double", 0xd2cc8a7f932e3d04},
      {"coulomb_newton_float", 0x65c5ec24f1c27766},
      {"coulomb_newton_mixed", 0xcbe139440fc5e615},
      {"convex_auto_double", 0xb70e944f7e2e36ff},
      {"convex_auto_float", 0xeab8e7473d4d6d6e},
      {"convex_auto_mixed", 0x9e38da209866e7f8},
      {"convex_pgs_double", 0xa2e611ce72d61d7c},
      {"convex_pgs_float", 0xcfe4cd962ab6bdc5},
      {"convex_pgs_mixed", 0xa2e611ce72d61d7c},
      {"convex_newton_double", 0xac3296f22bb44bd3},
      {"convex_newton_float", 0x13c68c12c8df126},
      {"convex_newton_mixed", 0x51028a3be9b89a65},
      {"pyramid_auto_double", 0xbd7e92f779b0e4be},
      {"pyramid_auto_float", 0xdf878dda1fd45b50},
      {"pyramid_auto_mixed", 0x59766475d1734bcd},
      {"pyramid_lemke_double", 0xbd7e92f779b0e4be},
      {"pyramid_lemke_float", 0xdf878dda1fd45b50},
      {"pyramid_lemke_mixed", 0x59766475d1734bcd},
      {"box_auto_double", 0x81557227e83443bf},
      {"box_auto_float", 0x69437092bfd9dacd},
      {"box_auto_mixed", 0x81557227e83443bf},
      {"box_newton_double", 0xfd31086d50b11fbb},
      {"box_newton_float", 0x25f9298939e0e55c},
      {"box_newton_mixed", 0x226b11da0c5af9fc},
      {"box_pgs_double", 0x5557812bcd412735},
      {"box_pgs_float", 0x8874c298a0e9b3f9},
      {"box_pgs_mixed", 0x5557812bcd412735},
      {"frictionless_auto_double", 0xba1d1191a83897fe},
      {"frictionless_auto_float", 0xc93e0474e05a463d},
      {"frictionless_auto_mixed", 0x8f4b1397ace0ae9f},
      {"frictionless_pgs_double", 0x25a1345f81f24912},
      {"frictionless_pgs_float", 0xa126ca70e50c95ae},
      {"frictionless_pgs_mixed", 0x25a1345f81f24912},
      {"frictionless_newton_double", 0xf929f89706b4546f},
      {"frictionless_newton_float", 0x1e1c3ee5417d617c},
      {"frictionless_newton_mixed", 0x29175bdb87e9a51b},
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
