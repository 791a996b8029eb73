// Calls of the device API one by one: replays, mechanisms, pyramids, host memory, invalid calls.
// Runs wherever launch_test.cpp runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "stickslip/stickslip.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/dyadic_mechanism.hpp"

namespace stickslip {
namespace {

template <class Scalar>
using Batch = support::DyadicBatch<Scalar>;
template <class Scalar>
using Mechanisms = support::DyadicMechanisms<Scalar>;

class Calls : public support::GpuTest<> {};

// A graph reads the present contents of the arrays when it is replayed.
TEST_F(Calls, a_replay_sees_new_values) {
  constexpr int envs = 50;
  const cuda::Stream stream = support::stream(1);
  const Batch<double> batch(envs);
  const ProblemBatch<double> host = batch.view();
  std::vector<double> b(host.b.data, host.b.data + envs * host.b.stride), other = b;
  for (double& value : other) value = 0.5 - value;
  ProblemBatch<double> changed = host;
  changed.b.data = other.data();
  support::PlainResults<double> before(envs, batch.kMaxRows), after(envs, batch.kMaxRows);
  solve(host, before.view());
  solve(changed, after.view());
  ASSERT_NE(support::hashes(batch, before, envs), support::hashes(batch, after, envs));

  support::DeviceMemory memory(stream);
  ProblemBatch<double> problem = memory.copy(host);
  cuda::Buffer bias(b.size() * sizeof(double));
  problem.b.data = static_cast<const double*>(bias.data());
  support::DeviceResults<double> results(envs, batch.kMaxRows, stream);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = batch.kMaxRows, .max_contacts = batch.kMaxContacts});
  support::Capture graph(stream);
  cuda::solve(problem, results.view(), {}, workspace, stream);
  graph.end();
  for (const auto& [values, expected] : {std::pair(&other, &after), std::pair(&b, &before)}) {
    bias.upload(values->data(), bias.bytes(), stream);
    graph.replay();
    EXPECT_EQ(support::hashes(batch, results.host(), envs),
              support::hashes(batch, *expected, envs));
  }
}

/// In shared memory, and, with room for 200 degrees of freedom, in global memory.
template <class Scalar>
void expect_matrices_and_velocities_of_the_cpu(int room) {
  constexpr int envs = 10;
  const cuda::Stream stream = support::stream(1);
  Mechanisms<Scalar> m(envs);
  constexpr int n = m.kMaxRows;
  std::vector<Scalar> W(std::size_t(envs * n * n), Scalar(0)),
      r(std::size_t(envs * n), Scalar(0.25));
  std::vector<std::int32_t> ok(envs);
  Workspace host(n, m.kMaxContacts, 1);
  MechanismStep<Scalar> step = m.step();
  delassus(step.mechanism, EnvArray<Scalar>{W.data(), n * n}, n, ok.data(), host);
  apply_impulse(step.mechanism, EnvArray<const Scalar>{r.data(), n}, step.v_free, step.v_next,
                ok.data(), host);

  support::DeviceMemory memory(stream);
  const auto impulse = memory.copy(EnvArray<const Scalar>{r.data(), n}, envs);
  step = memory.copy(step);
  const EnvArray<Scalar> formed{memory.template room<Scalar>(W.size()), n * n};
  auto* told = memory.template room<std::int32_t>(envs);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = n, .max_contacts = m.kMaxContacts, .nv = room});
  support::Capture graph(stream);
  cuda::delassus(step.mechanism, formed, n, told, workspace, stream);
  cuda::apply_impulse(step.mechanism, impulse, step.v_free, step.v_next, told, workspace, stream);
  graph.end();
  graph.replay();
  EXPECT_EQ(memory.download(formed, envs), W);
  EXPECT_EQ(memory.download(step.v_next, envs), m.v_next);
}
TEST_F(Calls, matrices_and_velocities_of_mechanisms_have_the_bits_of_the_cpu) {
  for (const int room : {Mechanisms<double>::kDofs, 200, 300}) {
    expect_matrices_and_velocities_of_the_cpu<double>(room);
    expect_matrices_and_velocities_of_the_cpu<float>(room);
  }
}

// Rows of every kind, contacts of every dimension, more directions: as an LCP, in a separate pass.
template <class Scalar>
void expect_pyramids_of_the_cpu(Precision precision, int directions) {
  const int envs = support::test_count(60);
  const cuda::Stream stream = support::stream(1);
  const Batch<Scalar> batch(envs);
  support::DeviceMemory memory(stream);
  const ProblemBatch<Scalar> problem = memory.copy(batch.view());
  cuda::Workspace workspace({.num_envs = envs,
                             .max_rows = batch.kMaxRows,
                             .max_contacts = batch.kMaxContacts,
                             .directions = 16});
  const SolveOptions options{.law = Law::pyramid, .precision = precision, .directions = directions};
  support::DeviceResults<Scalar> results(envs, batch.kMaxRows, stream);
  support::Capture graph(stream);
  cuda::solve(problem, results.view(), options, workspace, stream);
  graph.end();
  graph.replay();
  EXPECT_EQ(support::hashes(batch, results.host(), envs),
            support::hashes_of_cpu<Scalar>(batch, envs, options))
      << directions;
  const auto& status = results.host().status;
  EXPECT_GT(std::count(status.begin(), status.end(), EnvStatus::solved), envs / 2);
}
TEST_F(Calls, pyramids_of_every_kind_have_the_bits_of_the_cpu) {
  for (const int directions : {4, 8, 16}) {
    for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32})
      expect_pyramids_of_the_cpu<double>(precision, directions);
    expect_pyramids_of_the_cpu<float>(Precision::float32, directions);
  }
}

TEST_F(Calls, pyramids_that_a_workspace_has_no_room_for_say_so) {
  constexpr int envs = 40;
  const cuda::Stream stream = support::stream(1);
  const Batch<double> batch(envs);
  support::DeviceMemory memory(stream);
  const ProblemBatch<double> problem = memory.copy(batch.view());
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = batch.kMaxRows, .max_contacts = batch.kMaxContacts});
  support::DeviceResults<double> results(envs, batch.kMaxRows, stream);
  cuda::solve(problem, results.view(), {.law = Law::pyramid}, workspace, stream);
  const auto& status = results.host().status;
  EXPECT_GT(std::count(status.begin(), status.end(), EnvStatus::over_capacity), envs / 2);
  EXPECT_EQ(std::count(status.begin(), status.end(), EnvStatus::not_converged), 0);
  const SolveOptions round{.law = Law::pyramid, .directions = 8};
  EXPECT_THROW(cuda::solve(problem, results.view(), round, workspace, stream),
               std::invalid_argument);
}

// Slots as large as the largest environment are copied; the rest of a result's slot is zero.
TEST_F(Calls, batches_of_host_memory_have_the_bits_of_the_cpu) {
  constexpr int envs = 60;
  const Batch<double> batch(envs);
  cuda::HostSolver<double> first, second;
  for (const int count : {20, 60, 7}) {  // memory grows, and is kept
    for (const int begin : {0, envs - count}) {
      ProblemBatch<double> part = batch.view();
      part.num_envs = count;
      part.counts.data += begin;
      part.dims.data += begin * part.dims.stride;
      part.W.data += begin * part.W.stride;
      for (auto* a : {&part.b, &part.mu, &part.R, &part.lo, &part.hi}) a->data += begin * a->stride;
      support::PlainResults<double> cpu(count, batch.kMaxRows), gpu(count, batch.kMaxRows);
      support::PlainResults<double> other(count, batch.kMaxRows);
      std::fill(gpu.impulse.begin(), gpu.impulse.end(), -7.0);
      solve(part, cpu.view());
      first.start(part, {});
      second.start(part, {});  // both in progress
      first.finish(gpu.view());
      second.finish(other.view());
      EXPECT_EQ(gpu.impulse, cpu.impulse);
      for (int env = 0; env < count; ++env) {
        EXPECT_EQ(gpu.hash(env, batch.kMaxRows), cpu.hash(env, batch.kMaxRows));
        EXPECT_EQ(other.hash(env, batch.kMaxRows), cpu.hash(env, batch.kMaxRows));
      }
    }
  }
  EXPECT_GT(first.busy_seconds(), 0.0);
}

TEST_F(Calls, results_that_are_not_wanted_stay) {
  constexpr int envs = 20;
  const Batch<double> batch(envs);
  support::PlainResults<double> cpu(envs, batch.kMaxRows), gpu(envs, batch.kMaxRows);
  const support::PlainResults<double> untouched(envs, batch.kMaxRows);
  solve(batch.view(), cpu.view());
  cuda::HostSolver<double> solver;
  solver.start(batch.view(), {});
  solver.finish(gpu.view(), [](std::int32_t env) { return env % 3 == 0; });
  for (int env = 0; env < envs; ++env) {
    const auto& expected = env % 3 == 0 ? cpu : untouched;
    EXPECT_EQ(gpu.hash(env, batch.kMaxRows), expected.hash(env, batch.kMaxRows)) << env;
  }
}

TEST_F(Calls, host_memory_may_be_shared_and_broken) {
  HostProblems<double> problems(5, 6, 2);
  for (int env = 0; env < 5; ++env) {
    problems.counts(env).n_contacts = env;  // 3 and 4 are over capacity
    for (int i = 0; i < 6; ++i) problems.b(env)[i] = -1.0 - env;
  }
  problems.counts(1).n_free = -1;
  for (int i = 0; i < 6; ++i) problems.W(0)[7 * i] = 2.0;
  for (int i = 0; i < 4; ++i) problems.mu(0)[i] = 0.5;
  ProblemBatch<double> shared = problems.view();
  shared.W.stride = shared.mu.stride = shared.dims.stride = 0;
  HostResults<double> cpu(5, 6), gpu(5, 6);
  solve(shared, cpu.view());
  cuda::solve_host(shared, gpu.view(), {});
  for (int env = 0; env < 5; ++env) {
    EXPECT_EQ(gpu.status(env), cpu.status(env)) << env;
    EXPECT_EQ(gpu.rows_needed(env), cpu.rows_needed(env)) << env;
    for (int i = 0; i < 6; ++i) EXPECT_EQ(gpu.impulse(env)[i], cpu.impulse(env)[i]);
  }
  EXPECT_EQ(cpu.status(2), EnvStatus::solved);
  EXPECT_EQ(cpu.status(4), EnvStatus::over_capacity);
}

TEST_F(Calls, a_start_that_was_refused_leaves_nothing_to_finish) {
  const Batch<double> batch(5);
  support::PlainResults<double> results(5, batch.kMaxRows);
  cuda::HostSolver<double> solver;
  EXPECT_THROW(solver.start(batch.view(), {.max_rung = -1}), std::invalid_argument);
  solver.finish(results.view());
  solver.start(batch.view(), {});
  solver.finish(results.view());
  EXPECT_EQ(results.status[0], EnvStatus::solved);
}

TEST_F(Calls, a_workspace_holds_what_is_no_larger_in_any_way) {
  const cuda::WorkspaceConfig config{.num_envs = 4, .max_rows = 3, .max_contacts = 1};
  const cuda::Workspace workspace(config);
  EXPECT_TRUE(workspace.holds(config));
  EXPECT_TRUE(workspace.holds({}));
  std::vector<cuda::WorkspaceConfig> more(7, config);
  more[0].num_envs = 5;
  more[1].max_rows = 4;
  more[2].max_contacts = 2;
  more[3].nv = 0;
  more[4].directions = 4;
  more[5].float_storage = true;
  more[6].gradients = true;
  for (std::size_t i = 0; i < more.size(); ++i) EXPECT_FALSE(workspace.holds(more[i])) << i;
}

TEST_F(Calls, a_workspace_that_is_too_small_is_refused) {
  EXPECT_THROW(cuda::Workspace({.num_envs = 1, .max_rows = 3, .max_contacts = 1, .nv = -2}),
               std::invalid_argument);
  Mechanisms<double> m(4);
  const auto message_of = [&](const cuda::WorkspaceConfig& config) {
    cuda::Workspace workspace(config);
    support::DeviceResults<double> results(4, m.kMaxRows, nullptr);
    try {
      cuda::solve_mechanism(m.step(), m.problem(), results.view(), {}, workspace, nullptr);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("no complaint");
  };
  EXPECT_EQ(
      message_of(
          {.num_envs = 3, .max_rows = m.kMaxRows, .max_contacts = m.kMaxContacts, .nv = m.kDofs}),
      "workspace.num_envs: expected at least the batch's num_envs, got 3");
  EXPECT_EQ(message_of({.num_envs = 4, .max_rows = m.kMaxRows, .max_contacts = m.kMaxContacts}),
            "workspace.nv: expected at least the mechanism's nv, got -1");
}

}  // namespace
}  // namespace stickslip
