// What XLA's calls enqueue on a device (src/bindings/jax_device.hpp): JAX without a GPU cannot call
// them. XLA lets its targets allocate in a stage before the calls, which may be captured.
#include "src/bindings/jax_device.hpp"

#include <algorithm>

#include "stickslip/info.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/gradient_arrays.hpp"

namespace stickslip {
namespace {

class JaxDevice : public support::GpuTest<testing::TestWithParam<Precision>> {
 protected:
  template <class Scalar>
  void expect_bits_of_the_cpu() {
    const int envs = support::test_count(60);
    const SolveOptions options{.precision = GetParam()};
    const support::DyadicBatch<Scalar> batch(envs);
    support::PlainResults<Scalar> cpu(envs, batch.kMaxRows);
    solve(batch.view(), cpu.view(), options);

    const cuda::Stream stream = support::stream(1);
    support::DeviceMemory memory(stream);
    const ProblemBatch<Scalar> problem = memory.copy(batch.view());
    const auto room = [&]<class T>(const T&, int columns = 1) {
      return EnvArray<T>{memory.room<T>(std::size_t(envs * columns)), columns};
    };
    const auto impulse = room(Scalar(), batch.kMaxRows), residual = room(Scalar());
    const auto status = room(EnvStatus());
    const auto iterations = room(std::int32_t());
    ResultBatch<Scalar> r{.impulse = impulse, .status = status.data, .iterations = iterations.data};
    if constexpr (sizeof(Scalar) == 8) r.residual = residual.data;
    bindings::device_memory(0, stream, problem, options);
    support::Capture graph(stream);
    bindings::solve_on_device(0, stream, problem, r, residual.data, options);
    graph.end();
    graph.replay();
    EXPECT_EQ(memory.download(impulse, envs), cpu.impulse);
    EXPECT_EQ(memory.download(status, envs), cpu.status);
    EXPECT_EQ(memory.download(iterations, envs), cpu.iterations);
    EXPECT_EQ(memory.download(residual, envs),
              std::vector<Scalar>(cpu.residual.begin(), cpu.residual.end()));
  }
};

TEST_P(JaxDevice, enqueues_the_bits_of_the_cpu) {
  expect_bits_of_the_cpu<float>();
  expect_bits_of_the_cpu<double>();
}

/// Derivatives of a batch: those of W and of steps are not computed.
template <class Scalar>
struct Written {
  std::vector<Scalar> b, mu, R, lo, hi, kink_distance, inconsistency;
  std::vector<GradientStatus> status;
  std::vector<std::int32_t> redundant;
  bool operator==(const Written&) const = default;
};

template <class Scalar>
Written<Scalar> derivatives_on_cpu(const support::DyadicBatch<Scalar>& batch,
                                   const support::PlainResults<Scalar>& results,
                                   const LossBatch<Scalar>& loss, const SolveOptions& options,
                                   int envs) {
  const int rows = batch.kMaxRows;
  const std::vector<Scalar> zeros(std::size_t(envs * rows));
  Written<Scalar> out{zeros, zeros, zeros, zeros, zeros, {}, {}, {}, {}};
  out.status.resize(std::size_t(envs));
  out.redundant.resize(out.status.size());
  std::vector<double> kink_distance(out.status.size()), inconsistency(kink_distance);
  GradientBatch<Scalar> g;
  g.b = {out.b.data(), rows};
  g.mu = {out.mu.data(), rows};
  g.R = {out.R.data(), rows};
  g.lo = {out.lo.data(), rows};
  g.hi = {out.hi.data(), rows};
  g.report = {out.status.data(), kink_distance.data(), inconsistency.data(), out.redundant.data()};
  Workspace workspace(rows, batch.kMaxContacts, 1);
  solve_vjp(batch.view(), {{results.impulse.data(), rows}, results.status.data()}, loss, g, options,
            workspace);
  out.kink_distance.assign(kink_distance.begin(), kink_distance.end());
  out.inconsistency.assign(inconsistency.begin(), inconsistency.end());
  return out;
}

template <class Scalar>
void expect_derivatives_of_the_cpu(Precision precision) {
  const int envs = support::test_count(60);
  const SolveOptions options{.precision = precision};
  const support::DyadicBatch<Scalar> batch(envs);
  const int rows = batch.kMaxRows;
  support::PlainResults<Scalar> results(envs, rows);
  solve(batch.view(), results.view(), options);
  const auto numbers = support::random_numbers<Scalar>(2 * std::size_t(envs * rows));
  const LossBatch<Scalar> loss{{numbers.data(), rows}, {numbers.data() + envs * rows, rows}};
  const Written<Scalar> expected = derivatives_on_cpu(batch, results, loss, options, envs);
  EXPECT_GT(std::count(expected.status.begin(), expected.status.end(), GradientStatus::valid), 0);

  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const ProblemBatch<Scalar> problem = memory.copy(batch.view());
  const auto copy = [&]<class T>(const T* host, int columns) {
    return memory.copy(EnvArray<const T>{host, columns}, envs);
  };
  const SolutionBatch<Scalar> solution{copy(results.impulse.data(), rows),
                                       copy(results.status.data(), 1).data};
  const LossBatch<Scalar> there{copy(loss.impulse.data, rows), copy(loss.velocity.data, rows)};
  const auto room = [&]<class T>(const T&, int columns) {
    return EnvArray<T>{memory.room<T>(std::size_t(envs * columns)), columns};
  };
  GradientBatch<Scalar> g;
  for (EnvArray<Scalar>* each : {&g.b, &g.mu, &g.R, &g.lo, &g.hi}) *each = room(Scalar(), rows);
  const auto status = room(GradientStatus(), 1);
  const auto redundant = room(std::int32_t(), 1);
  g.report.redundant = redundant.data;
  const auto kink_distance = room(Scalar(), 1), inconsistency = room(Scalar(), 1);
  g.report.status = status.data;
  bindings::device_memory(0, stream, problem, options, true);
  support::Capture graph(stream);
  bindings::vjp_on_device(0, stream, problem, solution, there, g, kink_distance.data,
                          inconsistency.data, options);
  graph.end();
  graph.replay();
  const auto back = [&](const auto& array) { return memory.download(array, envs); };
  EXPECT_EQ(
      (Written<Scalar>{back(g.b), back(g.mu), back(g.R), back(g.lo), back(g.hi),
                       back(kink_distance), back(inconsistency), back(status), back(redundant)}),
      expected);
}

TEST_P(JaxDevice, enqueues_the_derivatives_of_the_cpu) {
  expect_derivatives_of_the_cpu<float>(GetParam());
  expect_derivatives_of_the_cpu<double>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(all, JaxDevice,
                         testing::Values(Precision::float64, Precision::mixed, Precision::float32),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
