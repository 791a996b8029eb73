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
      {"coulomb_auto_double", 0xe1c1d7ff89f6b0a1},
      {"coulomb_auto_float", 0x37dea93df097112c},
      {"coulomb_auto_mixed", 0xcdb92052da176eed},
      {"coulomb_pgs_double", 0xea9e6e0a48a4e004},
      {"coulomb_pgs_float", 0x65aceb334024588c},
      {"coulomb_pgs_mixed", 0xea9e6e0a48a4e004},
      {"coulomb_newton_double", 0xe43e9ebd0419e3b5},
      {"coulomb_newton_float", 0x7af97a1c2018e601},
      {"coulomb_newton_mixed", 0xdddd309fcf90809e},
      {"convex_auto_double", 0x6fcee8d4cc2f423a},
      {"convex_auto_float", 0xb380fc7db96f9b8f},
      {"convex_auto_mixed", 0x5abd1de94a8c56fe},
      {"convex_pgs_double", 0x76d596404f9e43c6},
      {"convex_pgs_float", 0x2c1ffa8680825563},
      {"convex_pgs_mixed", 0x76d596404f9e43c6},
      {"convex_newton_double", 0x9d5a19445124aff8},
      {"convex_newton_float", 0x7e03ec719aac152c},
      {"convex_newton_mixed", 0x6808bb82c0b3d0dc},
      {"pyramid_auto_double", 0xa89287cc1b267194},
      {"pyramid_auto_float", 0xe63e9de57096f77f},
      {"pyramid_auto_mixed", 0x6483ceb02b75feaa},
      {"pyramid_lemke_double", 0xa89287cc1b267194},
      {"pyramid_lemke_float", 0xe63e9de57096f77f},
      {"pyramid_lemke_mixed", 0x6483ceb02b75feaa},
      {"box_auto_double", 0x76a4e70b372ab0c6},
      {"box_auto_float", 0x3914f22d7e121ef7},
      {"box_auto_mixed", 0x76a4e70b372ab0c6},
      {"box_pgs_double", 0x76a4e70b372ab0c6},
      {"box_pgs_float", 0x3914f22d7e121ef7},
      {"box_pgs_mixed", 0x76a4e70b372ab0c6},
      {"frictionless_auto_double", 0x5afb7d1f98c47de0},
      {"frictionless_auto_float", 0x208ae76106137d91},
      {"frictionless_auto_mixed", 0x64debb25f959c2b2},
      {"frictionless_pgs_double", 0x117023fbf82ee420},
      {"frictionless_pgs_float", 0xe02d0443236a3362},
      {"frictionless_pgs_mixed", 0x117023fbf82ee420},
      {"frictionless_newton_double", 0x11dbe8c1394e9944},
      {"frictionless_newton_float", 0xcb6cfbabc2ee837},
      {"frictionless_newton_mixed", 0x40850aa00e4096c6},
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
