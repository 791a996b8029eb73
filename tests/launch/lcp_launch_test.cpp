// Linear complementarity problems on a device have the bits of the CPU: in shared and in global
// memory, from host memory and captured in a graph.
#include "tests/launch/on_device.hpp"
#include "tests/support/count.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

using support::LcpAnswers;
using support::LcpCase;
using Problems = support::LcpProblems<double>;

class LcpLaunch : public support::GpuTest<testing::TestWithParam<LcpCase>> {
 protected:
  template <class Scalar>
  static void expect_bits_of_the_cpu(int envs, int rows) {
    const support::LcpProblems<Scalar> problems(envs, rows, GetParam().kind);
    LcpOptions options = GetParam().options();
    options.restarts = 2;
    LcpAnswers<Scalar> answers(envs, rows);
    cuda::solve_lcp_host(problems.view(), answers.view(), options);
    EXPECT_EQ(answers.hashes(), support::solve_problems(problems.view(), options).hashes());
  }
};

TEST_P(LcpLaunch, has_the_bits_of_the_cpu) {
  const int envs = support::test_count(60);
  expect_bits_of_the_cpu<double>(envs, 20);
  if (GetParam().precision == Precision::float32) expect_bits_of_the_cpu<float>(envs, 20);
}

TEST_P(LcpLaunch, has_them_in_global_memory) {
  expect_bits_of_the_cpu<double>(2, 130);
  if (GetParam().precision == Precision::float32) expect_bits_of_the_cpu<float>(1, 170);
}

INSTANTIATE_TEST_SUITE_P(all, LcpLaunch, testing::ValuesIn(support::lcp_cases()),
                         [](const auto& info) { return support::name(info.param); });

class LcpLaunchOnce : public support::GpuTest<> {};

TEST_F(LcpLaunchOnce, a_replay_sees_new_values) {
  constexpr int envs = 30, rows = 12;
  const cuda::Stream stream = support::stream(1);
  const Problems first(envs, rows, support::LcpKind::standard);
  LcpBatch<double> p = first.view();
  std::vector<double> q(p.q.data, p.q.data + envs * p.q.stride), other = q;
  for (double& value : other) value = 0.5 - value;
  support::DeviceMemory memory(stream);
  p.rows = memory.copy(p.rows, envs);
  p.n_free = memory.copy(p.n_free, envs);
  p.M = memory.copy(p.M, envs);
  cuda::Buffer changing(q.size() * sizeof(double));
  p.q = {static_cast<const double*>(changing.data()), rows};
  LcpResult<double> r;
  r.z = {memory.room<double>(envs * rows), rows};
  r.residual = memory.room<double>(envs);
  r.status = memory.room<EnvStatus>(envs);
  r.iterations = memory.room<std::int32_t>(envs);
  r.method = memory.room<LcpMethod>(envs);
  cuda::LcpWorkspace workspace({.num_envs = envs, .max_rows = rows});
  support::Capture graph(stream);
  cuda::solve_lcp(p, r, {}, workspace, stream);
  graph.end();
  for (const auto& values : {other, q}) {
    changing.upload(values.data(), changing.bytes(), stream);
    graph.replay();
    LcpBatch<double> host = first.view();
    host.q.data = values.data();
    EXPECT_EQ(memory.download(r.z, envs), support::solve_problems(host, {}).z);
  }
}

TEST_F(LcpLaunchOnce, problems_without_rows_are_solved) {
  LcpAnswers<double> answers(2, 0);
  LcpBatch<double> p;
  p.num_envs = 2;
  LcpResult<double> r = answers.view();
  double bounds[2] = {};
  for (const bool boxed : {false, true}) {
    if (boxed) p.lo = {bounds, 0}, p.hi = {bounds, 1};
    r.z = {};
    cuda::solve_lcp_host(p, r, LcpOptions{});
    EXPECT_EQ(r.status[0], EnvStatus::solved);
    EXPECT_EQ(r.status[1], EnvStatus::solved);
  }
}

}  // namespace
}  // namespace stickslip
