// Large environments of an engine's mechanisms, which begin without W: what they promise, and the
// same bits on any thread and device, in any batch.
#include <limits>

#include "stickslip/stickslip.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/count.hpp"
#include "tests/support/engine_piles.hpp"

namespace stickslip {
namespace {

using support::EnginePiles;
using support::PlainResults;

/// Contacts of environments of every size class; three begin without W.
const std::vector<int> kContacts = {0, 5, 14, 26, 40, 60, 3, 56, 58};
constexpr int kBodies = 24;

PlainResults<double> on_host(EnginePiles& piles, const SolveOptions& options, int threads) {
  PlainResults<double> results(piles.envs, piles.max_rows);
  Workspace workspace(piles.max_rows, piles.max_contacts, threads);
  solve_mechanism(piles.step(), piles.view(), results.view(), options, workspace);
  return results;
}

/// In a workspace for larger batches, as a graph that is replayed; also fills v_next.
PlainResults<double> on_device(EnginePiles& piles, const SolveOptions& options) {
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const ProblemBatch<double> problem = memory.copy(piles.view());
  const EngineStep step = memory.copy(piles.step());
  support::DeviceResults<double> results(piles.envs, piles.max_rows, stream);
  cuda::Workspace workspace({.num_envs = piles.envs + 1,
                             .max_rows = piles.max_rows + 5,
                             .max_contacts = piles.max_contacts + 2,
                             .nv = piles.nv + 3});
  support::Capture graph(stream);
  cuda::solve_mechanism(step, problem, results.view(), options, workspace, stream);
  graph.end();
  graph.replay();
  graph.replay();
  const std::vector<double> v_next = memory.download(step.v_next, piles.envs);
  piles.v_next.assign(v_next.begin(), v_next.end());
  return results.host();
}

SolveOptions options_of(Law law) {
  SolveOptions options;
  options.law = law;
  return options;
}

class SparseLaunch : public testing::TestWithParam<Law> {};

TEST_P(SparseLaunch, has_the_same_bits_everywhere) {
  EnginePiles piles(kContacts, kBodies);
  const SolveOptions options = options_of(GetParam());
  const auto hashes = support::hashes(piles, on_host(piles, options, 1), piles.envs);
  const std::vector<double> v_next = piles.v_next;
  EXPECT_EQ(support::hashes(piles, on_host(piles, options, 3), piles.envs), hashes);
  EXPECT_EQ(piles.v_next, v_next);
  if (!cuda::available()) return;
  EXPECT_EQ(support::hashes(piles, on_device(piles, options), piles.envs), hashes);
  EXPECT_EQ(piles.v_next, v_next);
}

// A batch of one has them too: an environment begins without W because of its own rows.
TEST_P(SparseLaunch, depends_on_no_neighbour) {
  EnginePiles piles(kContacts, kBodies);
  const SolveOptions options = options_of(GetParam());
  const PlainResults<double> all = on_host(piles, options, 1);
  for (int env = 0; env < piles.envs; ++env) {
    ProblemBatch<double> p = piles.view();
    EngineStep step = piles.step();
    p.num_envs = step.mechanism.num_envs = 1;
    p.counts.data += env;
    p.dims.data += env * p.dims.stride;
    for (auto* array : {&p.b, &p.mu, &p.R, &p.lo, &p.hi, &p.warm_start})
      array->data += env * array->stride;
    EngineMechanism& m = step.mechanism;
    m.M.data += env * m.M.stride;
    m.J.data += env * m.J.stride;
    for (auto* array : {&m.J_nnz, &m.J_adr, &m.J_col, &m.row_of})
      array->data += env * array->stride;
    PlainResults<double> one(1, piles.max_rows);
    Workspace workspace(piles.max_rows, piles.max_contacts, 1);
    solve_mechanism(step, p, one.view(), options, workspace);
    EXPECT_EQ(one.hash(0, piles.rows(env)), all.hash(env, piles.rows(env))) << env;
  }
}

// The verdicts hold for the problem with W, and the velocities are those of the impulses.
TEST_P(SparseLaunch, solves_the_problem_with_W) {
  const SolveOptions options = options_of(GetParam());
  for (const std::uint64_t seed : {1, 2, 3}) {
    EnginePiles piles(kContacts, kBodies, seed);
    const PlainResults<double> results = on_host(piles, options, 1);
    for (int env = 0; env < piles.envs; ++env) {
      EXPECT_EQ(results.status[std::size_t(env)], EnvStatus::solved) << env;
      piles.form_matrix(env);
      const reference::Matrix lift = piles.lift(env);
      const auto slot = std::size_t(env * piles.max_rows);
      const Eigen::Map<const reference::Vector> r(&results.impulse[slot], lift.cols());
      const auto velocity = [&](const std::vector<double>& v) {
        return Eigen::Map<const reference::Vector>(&v[std::size_t(env * piles.nv)], piles.nv);
      };
      EXPECT_LT((velocity(piles.v_next) - velocity(piles.v_free) - lift * r).norm(),
                1e-11 * (1.0 + r.norm()))
          << env;
    }
    std::vector<Measures> measures(std::size_t(piles.envs));
    Workspace workspace(piles.max_rows, piles.max_contacts, 1);
    measure(piles.problems.view(), EnvArray<const double>{results.impulse.data(), piles.max_rows},
            options.law, measures.data(), workspace);
    for (int env = 0; env < piles.envs; ++env)
      EXPECT_LE(measures[std::size_t(env)].residual, 1e-7) << env;
  }
}

TEST_P(SparseLaunch, bad_environments_leave_the_bits_of_the_others) {
  EnginePiles piles({56, 58, 60, 57, 59, 61}, kBodies);
  const SolveOptions options = options_of(GetParam());
  const PlainResults<double> expected = on_host(piles, options, 1);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  const EngineMechanism m = piles.step().mechanism;
  piles.M[std::size_t(m.M_size + 2)] = bad;
  piles.J[std::size_t(2 * m.J_size)] = bad;
  piles.row_of[std::size_t(3 * piles.max_rows)] = piles.max_rows;
  piles.problems.counts(4).n_nonneg = piles.max_rows;
  const auto check = [&](const PlainResults<double>& results) {
    for (int env = 0; env < piles.envs; ++env) {
      const auto e = std::size_t(env);
      if (env == 0 || env == 5) {
        EXPECT_EQ(results.hash(env, piles.rows(env)), expected.hash(env, piles.rows(env))) << env;
        continue;
      }
      EXPECT_EQ(results.status[e], env == 4 ? EnvStatus::over_capacity : EnvStatus::bad_input);
      for (int i = 0; i < piles.max_rows; ++i)
        EXPECT_EQ(results.impulse[e * std::size_t(piles.max_rows) + std::size_t(i)], 0.0);
      for (int k = 0; k < piles.nv; ++k) {
        const std::size_t at = e * std::size_t(piles.nv) + std::size_t(k);
        EXPECT_EQ(piles.v_next[at], piles.v_free[at]) << env;
      }
    }
  };
  check(on_host(piles, options, 2));
  if (cuda::available()) check(on_device(piles, options));
}

INSTANTIATE_TEST_SUITE_P(Laws, SparseLaunch,
                         testing::Values(Law::coulomb, Law::convex, Law::frictionless),
                         [](const auto& law) { return std::string(name(law.param)); });

/// Two opposite nonneg rows of a large environment: nothing satisfies both.
TEST(SparseLaunchOf, what_has_no_solution_is_proved) {
  EnginePiles piles({60}, kBodies);
  for (int i = 0; i < 2; ++i) {
    const auto row = std::size_t(piles.row_of[std::size_t(i)]), at = std::size_t(piles.adr[row]);
    piles.nnz[row] = 1;
    piles.J_col[at] = piles.nv - 1;
    piles.J[at] = i == 0 ? 1.0F : -1.0F;
  }
  piles.problems.b(0)[0] = piles.problems.b(0)[1] = -1.0;
  const SolveOptions options;
  const PlainResults<double> results = on_host(piles, options, 1);
  EXPECT_EQ(results.status[0], EnvStatus::infeasible);
  const auto hashes = support::hashes(piles, results, 1);
  EXPECT_EQ(support::hashes(piles, on_host(piles, options, 2), 1), hashes);
  if (!cuda::available()) return;
  EXPECT_EQ(support::hashes(piles, on_device(piles, options), 1), hashes);
}

/// Islands of up to 96 rows have only run rung 0 before they get W: simulations too allow them all
/// of the work of the later rungs, which solve these.
TEST(SparseLaunchOf, small_islands_have_the_work_of_the_later_rungs) {
  SolveOptions options;
  options.thorough = false;
  constexpr std::uint64_t kSeeds[] = {1, 3, 7, 49};
  for (int i = 0; i < std::min(4, support::test_count(4)); ++i) {
    const std::uint64_t seed = kSeeds[i];
    EnginePiles piles({80}, kBodies, seed, 4);
    const PlainResults<double> results = on_host(piles, options, 1);
    EXPECT_EQ(results.status[0], EnvStatus::solved) << seed;
    EXPECT_GT(results.rung[0], 0) << seed;
    if (!cuda::available()) continue;
    EXPECT_EQ(support::hashes(piles, on_device(piles, options), 1),
              support::hashes(piles, results, 1))
        << seed;
  }
}

/// With hardly any steps, W and the later rungs have their turn, but not if no work is left.
TEST(SparseLaunchOf, what_is_unsolved_is_left_to_the_later_rungs) {
  EnginePiles piles({56}, kBodies);
  SolveOptions options;
  options.max_newton = 1;
  options.max_rung = 1;
  const PlainResults<double> results = on_host(piles, options, 1);
  const auto hashes = support::hashes(piles, results, piles.envs);
  EXPECT_EQ(support::hashes(piles, on_host(piles, options, 2), piles.envs), hashes);
  options.max_work = 1e5;
  const PlainResults<double> less = on_host(piles, options, 1);
  EXPECT_GT(results.iterations[0], less.iterations[0]);
  EXPECT_EQ(less.status[0], EnvStatus::not_converged);
  EXPECT_LE(results.residual[0], less.residual[0]);
  EXPECT_EQ(support::hashes(piles, on_host(piles, options, 2), piles.envs),
            support::hashes(piles, less, piles.envs));
  if (!cuda::available()) return;
  EXPECT_EQ(support::hashes(piles, on_device(piles, options), piles.envs),
            support::hashes(piles, less, piles.envs));
  options.max_work = 0.0;
  EXPECT_EQ(support::hashes(piles, on_device(piles, options), piles.envs), hashes);
}

}  // namespace
}  // namespace stickslip
