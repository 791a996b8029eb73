// WarpGroup without a GPU: its own code on emulated CUDA functions. What this cannot show is the
// hardware: memory order within a warp and divergence are a GPU's to test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/group/host_group.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/emulated_warp.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using kernels::HostGroup;
using kernels::WarpGroup;

/// Runs body(group, index of the group) on all 32 lanes of a warp.
template <int L, class Body>
void run_warp(Body body) {
  emulated::Warp(L).run([&] { body(WarpGroup<L>{}, emulated::thread() / L); });
}

template <class Width>
class CudaWarpGroup : public testing::Test {};
template <int L>
struct Width {
  static constexpr int lanes = L;
};
using Widths = testing::Types<Width<1>, Width<8>, Width<16>, Width<32>>;
TYPED_TEST_SUITE(CudaWarpGroup, Widths);

/// A number whose sums depend on their order.
double number(int i) { return std::sin(i * 1.7) * std::pow(10.0, i % 7); }

TYPED_TEST(CudaWarpGroup, reductions_give_the_bits_of_the_host_on_every_lane) {
  constexpr int L = TypeParam::lanes;
  const HostGroup host;
  for (int n : {1, 2, 7, 8, 31, 32, 33, 100}) {
    const auto magnitude = [&](int i) { return std::abs(number(i % 11)); };  // with ties
    const double sum = host.sum(n, number), max = host.max(n, number);
    const int argmax = host.argmax(n, magnitude);
    std::vector<int> wrong(32, 0);
    run_warp<L>([&](const auto& g, int) {
      int& mine = wrong[std::size_t(emulated::thread())];
      mine += g.sum(n, number) != sum ? 1 : 0;
      mine += g.max(n, number) != max ? 1 : 0;
      mine += g.argmax(n, magnitude) != argmax ? 1 : 0;
      mine += g.any(n, [&](int i) { return i == n - 1; }) ? 0 : 1;
      mine += g.any(n, [&](int i) { return i == n; }) ? 1 : 0;
    });
    EXPECT_EQ(wrong, std::vector<int>(32, 0)) << "n = " << n;
  }
}

TYPED_TEST(CudaWarpGroup, every_item_is_visited_once_by_each_group) {
  constexpr int L = TypeParam::lanes;
  constexpr int kRows = 5, kColumns = 37;
  std::vector<std::vector<int>> visits(32 / L, std::vector<int>(kRows * kColumns, 0));
  std::vector<int> once(32 / L, 0);
  run_warp<L>([&](const auto& g, int group) {
    auto& mine = visits[std::size_t(group)];
    g.for_each(kColumns, [&](int i) { ++mine[std::size_t(i)]; });
    g.for_each_2d(kRows, kColumns, [&](int i, int j) { ++mine[std::size_t(i * kColumns + j)]; });
    g.once([&] { ++once[std::size_t(group)]; });
  });
  std::vector<int> expected(kRows * kColumns, 1);
  for (int i = 0; i < kColumns; ++i) expected[std::size_t(i)] = 2;
  for (const auto& mine : visits) EXPECT_EQ(mine, expected);
  EXPECT_EQ(once, std::vector<int>(32 / L, 1));
}

/// Each group of the warp solves environments of its own, as a launch does.
template <int L, class Real, class Factor>
std::vector<std::uint64_t> solve_on_warp(const SolveOptions& options, int envs) {
  const support::DyadicBatch<double> batch(envs, options.law);
  support::PlainResults<double> results(envs, batch.kMaxRows);
  std::vector<support::EnvMemory<Real, Factor, double>> memory;
  for (int group = 0; group < 32 / L; ++group) {
    memory.emplace_back(batch.kMaxRows, batch.kMaxContacts);
  }
  run_warp<L>([&](const auto& g, int group) {
    const auto scratch = memory[std::size_t(group)].scratch();
    for (int env = group; env < envs; env += 32 / L) {
      kernels::solve_env<Real, Factor>(g, batch.view(), results.view(), options, env, scratch);
    }
  });
  std::vector<std::uint64_t> hashes;
  for (int env = 0; env < envs; ++env) hashes.push_back(results.hash(env, batch.rows(env)));
  return hashes;
}

template <class Real, class Factor>
std::vector<std::uint64_t> solve_on_host(const SolveOptions& options, int envs) {
  const support::DyadicBatch<double> batch(envs, options.law);
  support::PlainResults<double> results(envs, batch.kMaxRows);
  support::EnvMemory<Real, Factor, double> memory(batch.kMaxRows, batch.kMaxContacts);
  std::vector<std::uint64_t> hashes;
  for (int env = 0; env < envs; ++env) {
    kernels::solve_env<Real, Factor>(HostGroup{}, batch.view(), results.view(), options, env,
                                     memory.scratch());
    hashes.push_back(results.hash(env, batch.rows(env)));
  }
  return hashes;
}

TEST(CudaWarpGroupSolve, gives_the_bits_of_the_host) {
  constexpr int kEnvs = 4;
  for (Law law : {Law::coulomb, Law::convex, Law::pyramid}) {
    SolveOptions options;
    options.law = law;
    EXPECT_EQ((solve_on_warp<8, double, double>(options, kEnvs)),
              (solve_on_host<double, double>(options, kEnvs)));
    options.precision = Precision::fp32;
    EXPECT_EQ((solve_on_warp<32, float, float>(options, kEnvs)),
              (solve_on_host<float, float>(options, kEnvs)));
  }
}

}  // namespace
}  // namespace stickslip
