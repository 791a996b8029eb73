// What XLA's calls enqueue on a device (src/bindings/jax_device.hpp): JAX without a GPU cannot call
// them. XLA lets its targets allocate in a stage before the calls, which may be captured.
#include "src/bindings/jax_device.hpp"

#include "stickslip/info.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"

namespace stickslip {
namespace {

class JaxDevice : public support::GpuTest<testing::TestWithParam<Precision>> {
 protected:
  template <class In>
  void expect_bits_of_the_cpu() {
    const int envs = support::test_count(60);
    const SolveOptions options{.precision = GetParam()};
    const support::DyadicBatch<In> batch(envs);
    support::PlainResults<In> cpu(envs, batch.kMaxRows);
    solve(batch.view(), cpu.view(), options);

    const cuda::Stream stream = support::stream(1);
    support::DeviceMemory memory(stream);
    const ProblemBatch<In> problem = memory.copy(batch.view());
    const auto room = [&]<class T>(const T&, int columns = 1) {
      return EnvArray<T>{memory.room<T>(std::size_t(envs * columns)), columns};
    };
    const auto impulse = room(In(), batch.kMaxRows), residual = room(In());
    const auto status = room(EnvStatus());
    const auto iterations = room(std::int32_t());
    ResultBatch<In> r{.impulse = impulse, .status = status.data, .iterations = iterations.data};
    if constexpr (sizeof(In) == 8) r.residual = residual.data;
    bindings::device_memory(0, stream, problem, options);
    support::Capture graph(stream);
    bindings::solve_on_device(0, stream, problem, r, residual.data, options);
    graph.end();
    graph.replay();
    EXPECT_EQ(memory.download(impulse, envs), cpu.impulse);
    EXPECT_EQ(memory.download(status, envs), cpu.status);
    EXPECT_EQ(memory.download(iterations, envs), cpu.iterations);
    EXPECT_EQ(memory.download(residual, envs),
              std::vector<In>(cpu.residual.begin(), cpu.residual.end()));
  }
};

TEST_P(JaxDevice, enqueues_the_bits_of_the_cpu) {
  expect_bits_of_the_cpu<float>();
  expect_bits_of_the_cpu<double>();
}

INSTANTIATE_TEST_SUITE_P(all, JaxDevice,
                         testing::Values(Precision::fp64, Precision::mixed, Precision::fp32),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
