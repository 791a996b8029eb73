// WarpGroup and BlockGroup without a GPU: their own code on emulated CUDA functions. This cannot
// test the hardware: memory order and divergence need a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/group/host_group.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/emulated_block.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using kernels::BlockGroup;
using kernels::HostGroup;
using kernels::WarpGroup;

/// Threads of a block that hold groups of this kind.
template <class Group>
constexpr int kThreads = Group::kLanes > 32 ? Group::kLanes : 32;

/// Runs body(group, index of the group) on all lanes of a block.
template <class Group, class Body>
void run_block(Body body) {
  emulated::Block(kThreads<Group>, Group::kLanes < 32 ? Group::kLanes : 32).run([&] {
    body(Group{}, emulated::thread() / Group::kLanes);
  });
}

template <class Group>
class CudaGroup : public testing::Test {};
using Groups = testing::Types<WarpGroup<1>, WarpGroup<8>, WarpGroup<16>, WarpGroup<32>,
                              BlockGroup<64>, BlockGroup<128>>;
TYPED_TEST_SUITE(CudaGroup, Groups);

/// A number whose sums depend on their order.
double number(int i) { return std::sin(i * 1.7) * std::pow(10.0, i % 7); }

TYPED_TEST(CudaGroup, reductions_give_the_bits_of_the_host_on_every_lane) {
  constexpr int kLanes = kThreads<TypeParam>;
  const HostGroup host;
  for (int n : {1, 2, 7, 8, 31, 32, 33, 100}) {
    const auto magnitude = [&](int i) { return std::abs(number(i % 11)); };  // with ties
    const double sum = host.sum(n, number), max = host.max(n, number);
    const kernels::Largest<double> argmax = host.argmax(n, magnitude);
    std::vector<int> wrong(kLanes, 0);
    run_block<TypeParam>([&](const auto& g, int) {
      int& mine = wrong[std::size_t(emulated::thread())];
      mine += g.sum(n, number) != sum ? 1 : 0;
      mine += g.max(n, number) != max ? 1 : 0;
      const kernels::Largest<double> found = g.argmax(n, magnitude);
      mine += found.index != argmax.index || found.value != argmax.value ? 1 : 0;
      mine += g.any(n, [&](int i) { return i == n - 1; }) ? 0 : 1;
      mine += g.any(n, [&](int i) { return i == n; }) ? 1 : 0;
      mine += g.share(g.lane() + 7) != 7 ? 1 : 0;
      mine += g.compute([&] { return n + 3; }) != n + 3 ? 1 : 0;
    });
    EXPECT_EQ(wrong, std::vector<int>(kLanes, 0)) << "n = " << n;
  }
}

TYPED_TEST(CudaGroup, lists_are_in_order) {
  constexpr int kGroups = kThreads<TypeParam> / TypeParam::kLanes;
  const auto wanted = [](int i) { return i % 3 != 1 && i % 7 != 2; };
  for (int n : {0, 1, 8, 31, 32, 33, 100}) {
    std::vector<int> expected;
    HostGroup{}.list(n, wanted, [&](int i, int place) {
      EXPECT_EQ(place, int(expected.size()));
      expected.push_back(i);
    });
    std::vector<std::vector<int>> lists(kGroups, std::vector<int>(expected.size(), -1));
    std::vector<int> wrong(kThreads<TypeParam>, 0);
    run_block<TypeParam>([&](const auto& g, int group) {
      auto& mine = lists[std::size_t(group)];
      const int count = g.list(n, wanted, [&](int i, int place) { mine[std::size_t(place)] = i; });
      wrong[std::size_t(emulated::thread())] = count != int(expected.size()) ? 1 : 0;
    });
    for (const auto& list : lists) EXPECT_EQ(list, expected) << "n = " << n;
    EXPECT_EQ(wrong, std::vector<int>(kThreads<TypeParam>, 0)) << "n = " << n;
  }
}

TYPED_TEST(CudaGroup, every_item_is_visited_once_by_each_group) {
  constexpr int kGroups = kThreads<TypeParam> / TypeParam::kLanes;
  constexpr int kRows = 5, kColumns = 37;
  std::vector<std::vector<int>> visits(kGroups, std::vector<int>(kRows * kColumns, 0));
  std::vector<int> once(kGroups, 0);
  run_block<TypeParam>([&](const auto& g, int group) {
    auto& mine = visits[std::size_t(group)];
    g.for_each(kColumns, [&](int i) { ++mine[std::size_t(i)]; });
    g.for_each_2d(kRows, kColumns, [&](int i, int j) { ++mine[std::size_t(i * kColumns + j)]; });
    g.for_rows(kRows, kColumns, [&](int i, auto&& columns) {
      columns([&](int j) { ++mine[std::size_t(i * kColumns + j)]; });
    });
    for (int cols : {1, 3, 4, 9, 16, 33}) {  // short rows share the lanes
      g.for_each_2d(kRows, cols, [&](int i, int j) { ++mine[std::size_t(i * kColumns + j)]; });
    }
    g.once([&] { ++once[std::size_t(group)]; });
  });
  std::vector<int> expected(kRows * kColumns, 1);
  for (int i = 0; i < kColumns; ++i) ++expected[std::size_t(i)];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      ++expected[std::size_t(i * kColumns + j)];
      for (int cols : {1, 3, 4, 9, 16, 33}) expected[std::size_t(i * kColumns + j)] += j < cols;
    }
  }
  for (const auto& mine : visits) EXPECT_EQ(mine, expected);
  EXPECT_EQ(once, std::vector<int>(kGroups, 1));
}

/// Each group of a block solves its own environments, as in a launch.
template <class Group, class Real, class Factor>
std::vector<std::uint64_t> solve_on_block(const SolveOptions& options, int envs) {
  constexpr int kGroups = kThreads<Group> / Group::kLanes;
  const support::DyadicBatch<double> batch(envs, options.law);
  support::PlainResults<double> results(envs, batch.kMaxRows);
  std::vector<support::EnvMemory<Real, Factor, double>> memory;
  for (int group = 0; group < kGroups; ++group) {
    memory.emplace_back(batch.kMaxRows, batch.kMaxContacts);
  }
  run_block<Group>([&](const auto& g, int group) {
    const auto scratch = memory[std::size_t(group)].scratch();
    for (int env = group; env < envs; env += kGroups) {
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

TEST(CudaGroupSolve, gives_the_bits_of_the_host) {
  constexpr int kEnvs = 4;
  for (Law law : {Law::coulomb, Law::convex, Law::pyramid}) {
    SolveOptions options;
    options.law = law;
    const auto in_double = solve_on_host<double, double>(options, kEnvs);
    EXPECT_EQ((solve_on_block<WarpGroup<8>, double, double>(options, kEnvs)), in_double);
    EXPECT_EQ((solve_on_block<BlockGroup<128>, double, double>(options, kEnvs)), in_double);
    options.precision = Precision::float32;
    EXPECT_EQ((solve_on_block<WarpGroup<32>, float, float>(options, kEnvs)),
              (solve_on_host<float, float>(options, kEnvs)));
  }
}

}  // namespace
}  // namespace stickslip
