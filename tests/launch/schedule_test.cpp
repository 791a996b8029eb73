// The schedule of solves, observed on a runtime without a GPU: what is launched, for which
// environments, and what a call never does.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "src/cuda/launch.hpp"
#include "tests/launch/fake_kernels.hpp"
#include "tests/launch/fake_runtime.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/dyadic_mechanism.hpp"
#include "tests/support/families.hpp"

namespace stickslip {
namespace {

fake::Calls calls_of(const std::function<void()>& f) {
  fake::calls() = {};
  f();
  return fake::calls();
}

/// Whether a launch of the rounding kernel compiles with such arguments.
template <class... Arguments>
concept Rounds = requires(kernels::RoundKernel kernel, Arguments... arguments) {
  cuda::launch(kernel, 1, 1, 0, nullptr, arguments...);
};
static_assert(Rounds<const double*, float*, int>);
static_assert(Rounds<double*, float*, std::int64_t>);  // converted, as in a call
static_assert(!Rounds<const float*, float*, int>);
static_assert(!Rounds<const double*, float*>);
static_assert(!Rounds<const double*, float*, int, int>);

TEST(Devices, that_do_not_answer_are_told_of_in_the_words_of_CUDA) {
  EXPECT_EQ(cuda::why_not(), "");
  fake::set_device_error(cudaErrorInvalidValue);
  EXPECT_FALSE(cuda::available());
  EXPECT_EQ(cuda::why_not(), "no GPU answers here (CUDA: an error)");
  fake::set_device_error(cudaErrorInsufficientDriver);
  EXPECT_EQ(cuda::why_not(), "no NVIDIA driver is installed here");
  fake::set_device_error(cudaSuccess);
  EXPECT_TRUE(cuda::available());
}

TEST(Schedule, a_call_only_launches) {
  support::DyadicMechanisms<double> m(30);
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const auto problem = memory.copy(m.problem());
  const auto step = memory.copy(m.step());
  support::DeviceResults<double> results(30, m.kMaxRows, stream);
  cuda::Workspace workspace(
      {.num_envs = 30, .max_rows = m.kMaxRows, .max_contacts = m.kMaxContacts, .nv = m.kDofs});
  for (const support::Case& c : support::supported_cases()) {
    const fake::Calls calls = calls_of([&] {
      cuda::solve_mechanism(step, problem, results.view(), c.options(), workspace, stream);
    });
    EXPECT_EQ(calls.allocations, 0);
    EXPECT_EQ(calls.waits, 0);
    EXPECT_EQ(calls.copies, 0);
    EXPECT_GE(calls.launches, 2);
  }
  EXPECT_GT(calls_of([] { cuda::Buffer(8); }).allocations, 0) << "are they counted at all?";
}

// A launch takes microseconds, which many small batches cannot hide: one makes the lists, then one
// for each pass and size class.
TEST(Schedule, a_small_batch_takes_few_launches) {
  support::DeviceMemory memory(nullptr);
  const auto calls_for = [&](int contacts, const SolveOptions& options) {
    const auto batch =
        support::to_batch<double>(support::make_problems(support::Family::box, contacts, 20));
    const auto problem = memory.copy(batch.view());
    support::DeviceResults<double> results(20, batch.max_rows(), nullptr);
    cuda::Workspace workspace(
        {.num_envs = 20, .max_rows = batch.max_rows(), .max_contacts = contacts});
    return calls_of([&] { cuda::solve(problem, results.view(), options, workspace, nullptr); });
  };
  SolveOptions pyramid;
  pyramid.law = Law::pyramid;
  EXPECT_EQ(calls_for(4, {}).launches, 3);
  EXPECT_EQ(calls_for(4, pyramid).launches, 2);
  EXPECT_EQ(calls_for(8, {}).launches, 5);
  EXPECT_EQ(calls_for(4, {}).streams.size(), 1U);
  EXPECT_EQ(calls_for(8, {}).streams.size(), 2U) << "its two classes do not run at once";
}

// Rung 0 for all; the later rungs for those that it left unsolved, each in its own class.
TEST(Schedule, later_rungs_run_the_unsolved_alone) {
  const auto small = support::make_problems(support::Family::cage, 4, 300);  // 12 rows
  auto problems = small;
  for (const auto& p : support::make_problems(support::Family::stackheavy, 8, 40)) {
    problems.push_back(p);  // 24 rows
  }
  const auto batch = support::to_batch<double>(problems);
  const int envs = batch.num_envs();
  HostResults<double> cpu(envs, batch.max_rows());
  SolveOptions first;
  first.max_rung = 0;
  solve(batch.view(), cpu.view(), first);
  int left[2] = {};
  for (int env = 0; env < envs; ++env) {
    left[env < 300 ? 0 : 1] += cpu.status(env) == EnvStatus::solved ? 0 : 1;
  }
  ASSERT_GT(left[0] + left[1], 0) << "no environment was hard";

  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const auto problem = memory.copy(batch.view());
  support::DeviceResults<double> results(envs, batch.max_rows(), stream);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = batch.max_rows(), .max_contacts = batch.num_envs()});
  fake::solved_by_launch().clear();
  cuda::solve(problem, results.view(), {}, workspace, stream);
  // The larger class first, each with its later rungs.
  EXPECT_EQ(fake::solved_by_launch(), (std::vector<int>{40, left[1], 300, left[0]}));

  solve(batch.view(), cpu.view());
  const auto& got = results.host();
  for (int env = 0; env < envs; ++env) {
    EXPECT_EQ(got.residual[std::size_t(env)], cpu.residual(env)) << env;
    EXPECT_EQ(got.rung[std::size_t(env)], cpu.rung(env)) << env;
  }
}

TEST(Schedule, one_rung_is_one_pass) {
  const auto batch = support::to_batch<double>(support::make_problems(support::Family::box, 2, 20));
  support::DeviceMemory memory(nullptr);
  const auto problem = memory.copy(batch.view());
  support::DeviceResults<double> results(20, batch.max_rows(), nullptr);
  cuda::Workspace workspace({.num_envs = 20, .max_rows = batch.max_rows(), .max_contacts = 2});
  SolveOptions pyramid, box;
  pyramid.law = Law::pyramid;
  box.law = Law::box;
  box.max_rung = 0;
  for (const SolveOptions& options : {pyramid, box}) {
    fake::solved_by_launch().clear();
    cuda::solve(problem, results.view(), options, workspace, nullptr);
    EXPECT_EQ(fake::solved_by_launch(), std::vector<int>{20});
  }
}

TEST(Schedule, large_environments_use_global_memory) {
  support::DyadicMechanisms<double> m(3);
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  auto problem = memory.copy(m.problem());
  auto step = memory.copy(m.step());
  support::DeviceResults<double> small(3, m.kMaxRows, stream), large(3, m.kMaxRows, stream);
  cuda::Workspace fits(
      {.num_envs = 3, .max_rows = m.kMaxRows, .max_contacts = m.kMaxContacts, .nv = m.kDofs});
  cuda::Workspace does_not({.num_envs = 3,
                            .max_rows = m.kMaxRows,
                            .max_contacts = m.kMaxContacts,
                            .nv = 200});  // L alone takes 320 kB
  cuda::solve_mechanism(step, problem, small.view(), {}, fits, stream);
  cuda::solve_mechanism(step, problem, large.view(), {}, does_not, stream);
  for (int env = 0; env < 3; ++env) {
    EXPECT_EQ(large.host().hash(env, m.rows(env)), small.host().hash(env, m.rows(env)));
  }
}

// One block then takes all environments.
TEST(Schedule, little_free_memory_changes_no_bits) {
  const auto batch = support::to_batch<double>(support::make_problems(support::Family::box, 40, 5));
  support::DeviceMemory memory(nullptr);
  const auto problem = memory.copy(batch.view());
  std::vector<support::DeviceResults<double>> results;
  for (const std::size_t free : {std::size_t(80) << 30, std::size_t(1) << 20}) {
    fake::set_free_memory(free);
    cuda::Workspace workspace({.num_envs = 5, .max_rows = batch.max_rows(), .max_contacts = 40});
    results.emplace_back(5, batch.max_rows(), nullptr);
    cuda::solve(problem, results.back().view(), {}, workspace, nullptr);
  }
  fake::set_free_memory(std::size_t(80) << 30);
  for (int env = 0; env < 5; ++env) {
    EXPECT_EQ(results[1].host().hash(env, 120), results[0].host().hash(env, 120));
  }
}

}  // namespace
}  // namespace stickslip
