// Launches on a device: the bits of the CPU, from graphs too. Runs on every machine, with the
// kernels' bodies on a runtime without a GPU (fake_runtime.cpp), and on a GPU where there is one.
#include <algorithm>
#include <cmath>

#include "tests/launch/on_device.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/dyadic_mechanism.hpp"

namespace stickslip {
namespace {

using Hashes = std::vector<std::uint64_t>;
template <class In>
using Batch = support::DyadicBatch<In>;
template <class In>
using Mechanisms = support::DyadicMechanisms<In>;

template <class In, class Problems>
Hashes hashes(const Problems& problems, const support::PlainResults<In>& results, int envs) {
  Hashes out;
  for (int env = 0; env < envs; ++env) out.push_back(results.hash(env, problems.rows(env)));
  return out;
}

class Launch : public testing::TestWithParam<support::Case> {
 protected:
  void SetUp() override {
    if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  }
  const cuda::Stream stream_ = cuda::available() ? support::stream(1) : nullptr;

  template <class In>
  void expect_bits_of_the_cpu(int envs) {
    const SolveOptions options = GetParam().options();
    const Batch<In> batch(envs, options.law);
    support::PlainResults<In> cpu(envs, batch.kMaxRows);
    solve(batch.view(), cpu.view(), options);
    const Hashes expected = hashes(batch, cpu, envs);

    support::DeviceMemory memory(stream_);
    const ProblemBatch<In> problem = memory.copy(batch.view());
    support::DeviceResults<In> first(envs, batch.kMaxRows, stream_);
    support::DeviceResults<In> second(envs, batch.kMaxRows, stream_);
    cuda::Workspace workspace(envs, batch.kMaxRows, batch.kMaxContacts);
    cuda::solve(problem, first.view(), options, workspace, stream_);
    EXPECT_EQ(hashes(batch, first.host(), envs), expected);

    support::Capture graph(stream_);
    cuda::solve(problem, second.view(), options, workspace, stream_);
    graph.end();
    for (int replay = 0; replay < 2; ++replay) {
      graph.replay();
      EXPECT_EQ(hashes(batch, second.host(), envs), expected) << "replay " << replay;
    }
  }

  template <class In>
  void expect_bits_of_the_cpu_from_mechanisms(int envs) {
    const SolveOptions options = GetParam().options();
    Mechanisms<In> m(envs, options.law);
    m.M[std::size_t(m.kDofs * m.kDofs)] = In(std::nan(""));  // environment 1
    m.shape[2].n_contacts = m.kMaxContacts + 1;
    support::PlainResults<In> cpu(envs, m.kMaxRows);
    Workspace host(m.kMaxRows, m.kMaxContacts, 1);
    solve_mechanism(m.step(), m.problem(), cpu.view(), options, host);
    m.shape[2].n_contacts = 0;  // nothing of its impulse counts
    const Hashes expected = hashes(m, cpu, envs);
    const std::vector<In> v_next = m.v_next;
    std::fill(m.v_next.begin(), m.v_next.end(), In(-7));
    m.shape[2].n_contacts = m.kMaxContacts + 1;

    support::DeviceMemory memory(stream_);
    const ProblemBatch<In> problem = memory.copy(m.problem());
    const MechanismStep<In> step = memory.copy(m.step());
    support::DeviceResults<In> results(envs, m.kMaxRows, stream_);
    cuda::Workspace workspace(envs, m.kMaxRows, m.kMaxContacts, m.kDofs);
    support::Capture graph(stream_);
    cuda::solve_mechanism(step, problem, results.view(), options, workspace, stream_);
    graph.end();
    graph.replay();
    const auto& got = results.host();
    m.shape[2].n_contacts = 0;
    EXPECT_EQ(hashes(m, got, envs), expected);
    EXPECT_EQ(memory.download(step.v_next, envs), v_next);
    EXPECT_EQ(got.status[1], EnvStatus::bad_input);
    EXPECT_EQ(got.status[2], EnvStatus::over_capacity);
    EXPECT_GT(got.rows_needed[2], 0);
  }
};

TEST_P(Launch, has_the_bits_of_the_cpu) {
  expect_bits_of_the_cpu<double>(support::test_count(150));
  if (GetParam().precision == Precision::fp32) {
    expect_bits_of_the_cpu<float>(support::test_count(150));
  }
}

TEST_P(Launch, has_the_bits_of_the_cpu_from_mechanisms) {
  expect_bits_of_the_cpu_from_mechanisms<double>(support::test_count(80));
  if (GetParam().precision == Precision::fp32) {
    expect_bits_of_the_cpu_from_mechanisms<float>(support::test_count(80));
  }
}

INSTANTIATE_TEST_SUITE_P(all, Launch, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

class LaunchOnce : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  }
};

// A graph reads what the arrays hold when it is replayed.
TEST_F(LaunchOnce, a_replay_sees_new_values) {
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
  ASSERT_NE(hashes(batch, before, envs), hashes(batch, after, envs));

  support::DeviceMemory memory(stream);
  ProblemBatch<double> problem = memory.copy(host);
  cuda::Buffer bias(b.size() * sizeof(double));
  problem.b.data = static_cast<const double*>(bias.data());
  support::DeviceResults<double> results(envs, batch.kMaxRows, stream);
  cuda::Workspace workspace(envs, batch.kMaxRows, batch.kMaxContacts);
  support::Capture graph(stream);
  cuda::solve(problem, results.view(), {}, workspace, stream);
  graph.end();
  for (const auto& [values, expected] : {std::pair(&other, &after), std::pair(&b, &before)}) {
    bias.upload(values->data(), bias.bytes(), stream);
    graph.replay();
    EXPECT_EQ(hashes(batch, results.host(), envs), hashes(batch, *expected, envs));
  }
}

TEST_F(LaunchOnce, matrices_and_velocities_of_mechanisms_have_the_bits_of_the_cpu) {
  constexpr int envs = 40;
  const cuda::Stream stream = support::stream(1);
  Mechanisms<double> m(envs);
  constexpr int n = m.kMaxRows;
  std::vector<double> W(std::size_t(envs * n * n), 0.0), r(std::size_t(envs * n), 0.25);
  std::vector<std::int32_t> ok(envs);
  Workspace host(n, m.kMaxContacts, 1);
  MechanismStep<double> step = m.step();
  delassus(step.mechanism, EnvArray<double>{W.data(), n * n}, n, ok.data(), host);
  apply_impulse(step.mechanism, EnvArray<const double>{r.data(), n}, step.v_free, step.v_next,
                ok.data(), host);

  support::DeviceMemory memory(stream);
  const auto impulse = memory.copy(EnvArray<const double>{r.data(), n}, envs);
  step = memory.copy(step);
  const EnvArray<double> formed{memory.room<double>(W.size()), n * n};
  auto* told = memory.room<std::int32_t>(envs);
  cuda::Workspace workspace(envs, n, m.kMaxContacts, m.kDofs);
  support::Capture graph(stream);
  cuda::delassus(step.mechanism, formed, n, told, workspace, stream);
  cuda::apply_impulse(step.mechanism, impulse, step.v_free, step.v_next, told, workspace, stream);
  graph.end();
  graph.replay();
  EXPECT_EQ(memory.download(formed, envs), W);
  EXPECT_EQ(memory.download(step.v_next, envs), m.v_next);
}

// Slots as large as the largest environment travel; the rest of a result's slot is zero.
TEST_F(LaunchOnce, batches_of_host_memory_have_the_bits_of_the_cpu) {
  constexpr int envs = 60;
  const Batch<double> batch(envs);
  cuda::HostSolver<double> first, second;
  for (const int count : {20, 60, 7}) {  // memory grows, and stays
    for (const int begin : {0, envs - count}) {
      ProblemBatch<double> part = batch.view();
      part.num_envs = count;
      part.shape.data += begin;
      part.dims.data += begin * part.dims.stride;
      part.W.data += begin * part.W.stride;
      for (auto* a : {&part.b, &part.mu, &part.R, &part.lo, &part.hi}) a->data += begin * a->stride;
      support::PlainResults<double> cpu(count, batch.kMaxRows), gpu(count, batch.kMaxRows);
      support::PlainResults<double> other(count, batch.kMaxRows);
      std::fill(gpu.impulse.begin(), gpu.impulse.end(), -7.0);
      solve(part, cpu.view());
      first.start(part, {});
      second.start(part, {});  // both under way
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

TEST_F(LaunchOnce, results_that_are_not_wanted_stay) {
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

TEST_F(LaunchOnce, host_memory_may_be_shared_and_broken) {
  HostProblems<double> problems(5, 6, 2);
  for (int env = 0; env < 5; ++env) {
    problems.shape(env).n_contacts = env;  // 3 and 4 are over capacity
    for (int i = 0; i < 6; ++i) problems.b(env)[i] = -1.0 - env;
  }
  problems.shape(1).n_free = -1;
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

TEST_F(LaunchOnce, a_workspace_that_is_too_small_is_refused) {
  Mechanisms<double> m(4);
  const auto message_of = [&](cuda::Workspace workspace) {
    support::DeviceResults<double> results(4, m.kMaxRows, nullptr);
    try {
      cuda::solve_mechanism(m.step(), m.problem(), results.view(), {}, workspace, nullptr);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("no complaint");
  };
  EXPECT_EQ(message_of({3, m.kMaxRows, m.kMaxContacts, m.kDofs}),
            "workspace.num_envs: expected at least the batch's num_envs, got 3");
  EXPECT_EQ(message_of({4, m.kMaxRows, m.kMaxContacts}),
            "workspace.nv: expected at least the mechanism's nv, got -1");
}

}  // namespace
}  // namespace stickslip
