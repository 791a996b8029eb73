// Launches on a device have the bits of the CPU, also in graphs. Runs on every machine, with the
// kernels' bodies on a runtime without a GPU (fake_runtime.cpp), and on a GPU if there is one.
#include <algorithm>
#include <cmath>

#include "tests/launch/on_device.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/dyadic_mechanism.hpp"

namespace stickslip {
namespace {

template <class Scalar>
using Batch = support::DyadicBatch<Scalar>;
template <class Scalar>
using Mechanisms = support::DyadicMechanisms<Scalar>;

class Launch : public support::GpuTest<testing::TestWithParam<support::Case>> {
 protected:
  const cuda::Stream stream_ = cuda::available() ? support::stream(1) : nullptr;

  template <class Scalar>
  void expect_bits_of_the_cpu(int envs) {
    const SolveOptions options = GetParam().options();
    const Batch<Scalar> batch(envs, options.law);
    const auto expected = support::hashes_of_cpu<Scalar>(batch, envs, options);

    support::DeviceMemory memory(stream_);
    const ProblemBatch<Scalar> problem = memory.copy(batch.view());
    support::DeviceResults<Scalar> first(envs, batch.kMaxRows, stream_);
    support::DeviceResults<Scalar> second(envs, batch.kMaxRows, stream_);
    cuda::Workspace workspace(
        {.num_envs = envs, .max_rows = batch.kMaxRows, .max_contacts = batch.kMaxContacts});
    cuda::Workspace large({.num_envs = support::large_batch(envs),
                           .max_rows = batch.kMaxRows,
                           .max_contacts = batch.kMaxContacts});
    cuda::solve(problem, first.view(), options, workspace, stream_);
    EXPECT_EQ(support::hashes(batch, first.host(), envs), expected);

    support::Capture graph(stream_);
    cuda::solve(problem, second.view(), options, large, stream_);
    graph.end();
    for (int replay = 0; replay < 2; ++replay) {
      graph.replay();
      EXPECT_EQ(support::hashes(batch, second.host(), envs), expected) << "replay " << replay;
    }
  }

  template <class Scalar>
  void expect_bits_of_the_cpu_from_mechanisms(int envs) {
    const SolveOptions options = GetParam().options();
    Mechanisms<Scalar> m(envs, options.law);
    m.M[std::size_t(m.kDofs * m.kDofs)] = Scalar(std::nan(""));  // environment 1
    m.counts[2].n_contacts = m.kMaxContacts + 1;
    support::PlainResults<Scalar> cpu(envs, m.kMaxRows);
    Workspace host(m.kMaxRows, m.kMaxContacts, 1);
    solve_mechanism(m.step(), m.problem(), cpu.view(), options, host);
    m.counts[2].n_contacts = 0;  // its impulses have no effect
    const auto expected = support::hashes(m, cpu, envs);
    const std::vector<Scalar> v_next = m.v_next;
    std::fill(m.v_next.begin(), m.v_next.end(), Scalar(-7));
    m.counts[2].n_contacts = m.kMaxContacts + 1;

    support::DeviceMemory memory(stream_);
    const ProblemBatch<Scalar> problem = memory.copy(m.problem());
    const MechanismStep<Scalar> step = memory.copy(m.step());
    support::DeviceResults<Scalar> results(envs, m.kMaxRows, stream_);
    cuda::Workspace workspace(
        {.num_envs = envs, .max_rows = m.kMaxRows, .max_contacts = m.kMaxContacts, .nv = m.kDofs});
    support::Capture graph(stream_);
    cuda::solve_mechanism(step, problem, results.view(), options, workspace, stream_);
    graph.end();
    graph.replay();
    const auto& got = results.host();
    m.counts[2].n_contacts = 0;
    EXPECT_EQ(support::hashes(m, got, envs), expected);
    EXPECT_EQ(memory.download(step.v_next, envs), v_next);
    EXPECT_EQ(got.status[1], EnvStatus::bad_input);
    EXPECT_EQ(got.status[2], EnvStatus::over_capacity);
    EXPECT_GT(got.rows_needed[2], 0);
  }
};

TEST_P(Launch, has_the_bits_of_the_cpu) {
  expect_bits_of_the_cpu<double>(support::test_count(150));
  if (GetParam().precision == Precision::float32) {
    expect_bits_of_the_cpu<float>(support::test_count(150));
  }
}

TEST_P(Launch, has_the_bits_of_the_cpu_from_mechanisms) {
  expect_bits_of_the_cpu_from_mechanisms<double>(support::test_count(80));
  if (GetParam().precision == Precision::float32) {
    expect_bits_of_the_cpu_from_mechanisms<float>(support::test_count(80));
  }
}

// A body between two contacts that both approach: u_1 + u_2 = -2 for all impulses.
TEST_P(Launch, has_the_verdict_of_the_cpu_where_there_is_no_solution) {
  HostProblems<double> problems(3, 6, 2);
  const double J[6][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0}};
  for (int env = 0; env < 3; ++env) {
    problems.counts(env).n_contacts = 2;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        for (int k = 0; k < 3; ++k) problems.W(env)[6 * i + j] += J[i][k] * J[j][k];
    for (int i = 0; i < 4; ++i) problems.mu(env)[i] = 0.25 * (env + 1);
    problems.b(env)[0] = problems.b(env)[3] = -1.0;
    problems.b(env)[1] = 0.5;
  }
  const SolveOptions options = GetParam().options();
  support::PlainResults<double> cpu(3, 6), gpu(3, 6);
  solve(problems.view(), cpu.view(), options);
  cuda::solve_host(problems.view(), gpu.view(), options);
  for (int env = 0; env < 3; ++env) {
    EXPECT_NE(cpu.status[std::size_t(env)], EnvStatus::solved);
    EXPECT_EQ(gpu.hash(env, 6), cpu.hash(env, 6)) << env;
  }
}

// After the first rung, too few steps may be left to start another one; the next rungs start at
// rest even then.
TEST_P(Launch, has_the_bits_of_the_cpu_with_few_steps) {
  if (GetParam().solver == Solver::pgs) GTEST_SKIP() << "sweeps take no steps";
  const int envs = support::test_count(40);
  for (const int steps : {0, 1, 2}) {
    SolveOptions options = GetParam().options();
    options.max_newton = steps;
    options.max_rung = 2;
    const Batch<double> batch(envs, options.law);
    support::PlainResults<double> gpu(envs, batch.kMaxRows);
    cuda::solve_host(batch.view(), gpu.view(), options);
    EXPECT_EQ(support::hashes(batch, gpu, envs),
              support::hashes_of_cpu<double>(batch, envs, options))
        << steps;
  }
}

INSTANTIATE_TEST_SUITE_P(all, Launch, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
