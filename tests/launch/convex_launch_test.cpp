// Law convex without W, of an engine's mechanisms: the bits of one environment at a time, on the
// CPU and, as in launch_test.cpp, on a device.
#include <limits>
#include <numeric>

#include "stickslip/stickslip.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/convex_batch.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

using support::ConvexBatch;
using support::PlainResults;

const SolveOptions kConvex{.law = Law::convex};

/// Environments of every size class, and of every kind of row.
const std::vector<support::ConvexShape> kShapes = {
    {{}, {}},
    {{0, 0, 0, 1}, {3}},
    {{0, 3, 6, 0}, {}},
    {{2, 2, 2, 2}, {4, 6}},
    {{0, 5, 9, 4}, {3, 4, 6, 3}, 0.01},
    {{6, 3, 2, 2}, {6, 4}},
    {{0, 4, 14, 7}, {3, 3, 3, 6, 3, 4, 3}, 0.01},
    {{0, 2, 0, 2}, {3, 3}, 0.0},  // rows without compliance are left to others
};

class Convex : public testing::TestWithParam<bool> {
 protected:
  PlainResults<double> on_host(const ConvexBatch& batch, int threads) {
    PlainResults<double> results(batch.envs, batch.max_rows);
    Workspace workspace(1, 1, threads);
    solve_convex(batch.view(), batch.engine(GetParam()), batch.starts(), results.view(), kConvex,
                 workspace);
    return results;
  }
  /// In a workspace for larger batches, as a graph that is replayed.
  PlainResults<double> on_device(const ConvexBatch& batch, int more_rows, int more_dofs) {
    const cuda::Stream stream = support::stream(1);
    support::DeviceMemory memory(stream);
    const ProblemBatch<double> problem = memory.copy(batch.view());
    const EngineMechanism mechanism =
        memory.copy(EngineStep{batch.engine(GetParam()), {}, {}}).mechanism;
    const auto start = memory.copy(batch.starts(), batch.envs);
    support::DeviceResults<double> results(batch.envs, batch.max_rows, stream);
    cuda::Workspace workspace({.num_envs = batch.envs + 1,
                               .max_rows = batch.max_rows + more_rows,
                               .max_contacts = batch.max_contacts + 1,
                               .nv = batch.nv + more_dofs});
    support::Capture graph(stream);
    cuda::solve_convex(problem, mechanism, start, results.view(), kConvex, workspace, stream);
    graph.end();
    graph.replay();
    graph.replay();
    return results.host();
  }
};

TEST_P(Convex, batches_have_the_bits_of_one_environment_at_a_time) {
  for (const int nv : {1, 6, 23}) {
    const ConvexBatch batch(nv, kShapes, 2);
    const PlainResults<double> expected = batch.one_by_one(kConvex);
    const auto hashes = support::hashes(batch, expected, batch.envs);
    for (const int threads : {1, 3})
      EXPECT_EQ(support::hashes(batch, on_host(batch, threads), batch.envs), hashes) << nv;
    for (int env = 0; env < batch.envs; ++env) {
      const bool rigid = env == batch.envs - 1;
      EXPECT_EQ(expected.status[std::size_t(env)],
                rigid ? EnvStatus::not_converged : EnvStatus::solved)
          << nv << " " << env;
    }
    if (!cuda::available()) continue;
    EXPECT_EQ(support::hashes(batch, on_device(batch, 1, 3), batch.envs), hashes) << nv;
  }
}

// One environment of the largest class, whose scratch is in shared memory, or in global memory.
TEST_P(Convex, large_environments_have_them_too) {
  if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  const ConvexBatch batch(30, {{{4, 9, 20, 8}, {3, 3, 3, 6, 3, 3, 4, 3}, 0.02}});
  const auto hashes = support::hashes(batch, batch.one_by_one(kConvex), 1);
  for (const int more_rows : {0, 300})
    EXPECT_EQ(support::hashes(batch, on_device(batch, more_rows, 0), 1), hashes) << more_rows;
}

/// Breaks environments 1, 3 and 5, and gives 4 more rows than a slot has.
void break_some(ConvexBatch& batch) {
  const float bad = std::numeric_limits<float>::quiet_NaN();
  batch.M[batch.tree.col.size() + 2] = bad;
  const auto slot = [&](int env) {
    return std::size_t(env) * std::size_t(batch.max_rows * batch.nv);
  };
  batch.values[slot(3)] = bad;
  for (int c = 0; c < batch.max_rows * batch.nv; ++c)
    if (batch.dense[slot(3) + std::size_t(c)] != 0.0F) batch.dense[slot(3) + std::size_t(c)] = bad;
  batch.row_of[std::size_t(5 * batch.max_rows)] = batch.max_rows;
  batch.problems.counts(4).n_nonneg = batch.max_rows;
}

TEST_P(Convex, bad_environments_leave_the_bits_of_the_others) {
  ConvexBatch batch(9, kShapes);
  const PlainResults<double> expected = batch.one_by_one(kConvex);
  break_some(batch);
  const auto check = [&](const PlainResults<double>& results) {
    for (int env = 0; env < batch.envs; ++env) {
      const auto e = std::size_t(env);
      if (env == 1 || env == 3 || env == 5) {
        EXPECT_EQ(results.status[e], EnvStatus::bad_input) << env;
      } else if (env == 4) {
        EXPECT_EQ(results.status[e], EnvStatus::over_capacity);
        EXPECT_GT(results.rows_needed[e], batch.max_rows);
      } else {
        EXPECT_EQ(results.hash(env, batch.rows(env)), expected.hash(env, batch.rows(env))) << env;
        continue;
      }
      for (int i = 0; i < batch.max_rows; ++i)
        EXPECT_EQ(results.impulse[e * std::size_t(batch.max_rows) + std::size_t(i)], 0.0);
    }
  };
  check(on_host(batch, 2));
  if (cuda::available()) check(on_device(batch, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(J, Convex, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "compressed" : "dense");
});

/// Status of one contact on a chain of four joints after a change.
template <class F>
EnvStatus status_after(F&& change) {
  ConvexBatch batch(4, {{{0, 1, 0, 1}, {3}}});
  batch.tree.row_nnz = {1, 2, 3, 4};
  batch.tree.row_adr = {0, 1, 3, 6};
  batch.tree.col = {0, 0, 1, 0, 1, 2, 0, 1, 2, 3};
  batch.M = {2, 0, 2, 0, 0, 2, 0, 0, 0, 2};
  std::iota(batch.columns.begin(), batch.columns.begin() + 4, 0);
  batch.adr.assign(4, 0);
  batch.nnz.assign(4, 4);
  std::fill_n(batch.values.begin(), 4, 1.0F);
  change(batch);
  PlainResults<double> results(1, batch.max_rows);
  Workspace workspace(1, 1, 1);
  solve_convex(batch.view(), batch.engine(true), {}, results.view(), kConvex, workspace);
  return results.status[0];
}

TEST(ConvexOfEngines, what_is_no_tree_is_bad_input) {
  EXPECT_EQ(status_after([](ConvexBatch&) {}), EnvStatus::solved);
  const auto bad = [](auto change) { return status_after(change) == EnvStatus::bad_input; };
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.M[2] = -2; }));             // not positive definite
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.tree.col[9] = 2; }));       // no diagonal
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.tree.col[6] = 1; }));       // not its parent's path
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.tree.row_nnz[1] = 0; }));   // an empty row
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.tree.row_nnz[3] = 3; }));   // ends with another column
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.tree.row_nnz[0] = -1; }));  // a negative size
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.tree.row_adr[2] = 2; }));   // overlaps the one before
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.columns[3] = 0; }));        // a column twice
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.columns[3] = 4; }));        // a column that is not there
  EXPECT_TRUE(bad([](ConvexBatch& b) { b.nnz[1] = 5; }));            // more columns than there are
}

TEST(ConvexOfEngines, misuse_is_refused_by_name) {
  const ConvexBatch batch(4, {{{0, 1, 0, 1}, {3}}});
  PlainResults<double> results(1, batch.max_rows);
  Workspace workspace(1, 1, 1);
  const auto refusal = [&](auto change) {
    EngineMechanism m = batch.engine(true);
    SolveOptions options = kConvex;
    change(m, options);
    return support::refusal_of(
        [&] { solve_convex(batch.view(), m, {}, results.view(), options, workspace); });
  };
  EXPECT_EQ(refusal([](auto&, auto&) {}), "");
  EXPECT_EQ(refusal([](auto&, auto& options) { options.law = Law::coulomb; }),
            "options.law: expected convex, got coulomb");
  EXPECT_EQ(refusal([](auto& m, auto&) { m.tree.n = 0; }),
            "mechanism.tree.n: expected nv, because M is read along the tree, got 0");
  EXPECT_EQ(refusal([](auto& m, auto&) { m.M_size = 11; }),
            "mechanism.M_size: expected at most nv (nv + 1) / 2, got 11");
  EXPECT_EQ(refusal([](auto& m, auto&) { m.J = {}; }), "mechanism.J: expected an array, got none");
}

class OnDevice : public support::GpuTest<> {};

TEST_F(OnDevice, a_workspace_without_mechanisms_is_refused) {
  const ConvexBatch batch(4, {{{0, 1, 0, 1}, {3}}});
  PlainResults<double> results(1, batch.max_rows);
  cuda::Workspace workspace({.num_envs = 1, .max_rows = batch.max_rows, .max_contacts = 1});
  EXPECT_THROW(cuda::solve_convex(batch.view(), batch.engine(true), {}, results.view(), kConvex,
                                  workspace, nullptr),
               std::invalid_argument);
}

// A caller that keeps residuals in float, as XLA does, enqueues the rounding after the solve.
TEST_F(OnDevice, numbers_are_rounded_to_float) {
  const cuda::Stream stream = support::stream(1);
  std::vector<double> numbers{0.1, -1e-300, 1e300, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 300; ++i) numbers.push_back(1e-9 / (i + 3));
  const auto count = std::int32_t(numbers.size());
  support::DeviceMemory memory(stream);
  const auto from = memory.copy(EnvArray<const double>{numbers.data(), count}, 1);
  const EnvArray<float> to{memory.room<float>(std::size_t(count)), count};
  support::Capture graph(stream);
  cuda::round_to_float(from.data, to.data, count, stream);
  graph.end();
  graph.replay();
  EXPECT_EQ(memory.download(to, 1), std::vector<float>(numbers.begin(), numbers.end()));
  cuda::round_to_float(nullptr, nullptr, 0, stream);
  EXPECT_THROW(cuda::round_to_float(from.data, to.data, -1, stream), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
