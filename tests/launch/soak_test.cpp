// Many mixed problems, one in a hundred of them poisoned: on a device all others have the bits of
// the CPU, in every run and in any order of the batch. STICKSLIP_TEST_COUNT sets the number.
#include <algorithm>
#include <cmath>

#include "tests/launch/on_device.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

constexpr int kBatch = 10000;
using Hashes = std::vector<std::uint64_t>;

/// Makes an environment with a contact invalid, in one of six ways.
void poison(HostProblems<double>& batch, int env, int kind) {
  switch (kind % 6) {
    case 0:
      batch.b(env)[0] = std::nan("");
      break;
    case 1:
      batch.W(env)[0] = std::numeric_limits<double>::infinity();
      break;
    case 2:
      batch.mu(env)[0] = -1.0;
      break;
    case 3:
      batch.counts(env).n_contacts = batch.max_contacts() + 1;
      break;
    case 4:
      batch.counts(env).n_free = -1;
      break;
    default:
      batch.dims(env)[0] = 5;
  }
}

Hashes hashes(const support::PlainResults<double>& results, const HostProblems<double>& batch) {
  Hashes out;
  for (int env = 0; env < batch.num_envs(); ++env) {
    out.push_back(results.hash(env, batch.max_rows()));
  }
  return out;
}

Hashes solve_on_device(const HostProblems<double>& batch, const SolveOptions& options) {
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const auto problem = memory.copy(batch.view());
  support::DeviceResults<double> results(batch.num_envs(), batch.max_rows(), stream);
  cuda::Workspace workspace({.num_envs = batch.num_envs(),
                             .max_rows = batch.max_rows(),
                             .max_contacts = batch.max_contacts()});
  cuda::solve(problem, results.view(), options, workspace, stream);
  return hashes(results.host(), batch);
}

class Soak : public support::GpuTest<testing::TestWithParam<Precision>> {};

TEST_P(Soak, poison_stays_where_it_is) {
  const SolveOptions options{.precision = GetParam()};
  const int total = std::max(4, support::test_count(2000));  // fewer have none to poison
  int solved = 0, poisoned = 0, refused = 0;
  for (int first = 0; first < total; first += kBatch) {
    const int count = std::min(kBatch, total - first);
    std::vector<reference::Problem> problems;
    for (int i = 0; i < count; ++i) problems.push_back(support::make_mixed(first + i).problem);
    auto batch = support::to_batch<double>(problems);
    std::reverse(problems.begin(), problems.end());
    auto reversed = support::to_batch<double>(problems);
    for (int next = std::min(50, count / 2); next < count; next += 100) {
      int env = next;
      while (env < count && batch.counts(env).n_contacts == 0) ++env;
      if (env >= std::min(count, next + 100)) continue;
      poison(batch, env, poisoned);
      poison(reversed, count - 1 - env, poisoned++);  // the same environment, counted from the end
    }
    support::PlainResults<double> cpu(count, batch.max_rows());
    solve(batch.view(), cpu.view(), options);
    const Hashes expected = hashes(cpu, batch);
    ASSERT_EQ(solve_on_device(batch, options), expected) << "from " << first;
    ASSERT_EQ(solve_on_device(batch, options), expected) << "again, from " << first;
    Hashes other = solve_on_device(reversed, options);
    std::reverse(other.begin(), other.end());
    ASSERT_EQ(other, expected) << "in another order, from " << first;
    for (const EnvStatus status : cpu.status) {
      solved += status == EnvStatus::solved ? 1 : 0;
      refused += status == EnvStatus::bad_input || status == EnvStatus::over_capacity ? 1 : 0;
    }
  }
  RecordProperty("problems", total);
  RecordProperty("solved", solved);
  RecordProperty("refused", refused);
  EXPECT_GT(poisoned, 0);
  EXPECT_EQ(refused, poisoned);
}

INSTANTIATE_TEST_SUITE_P(all, Soak, testing::Values(Precision::float64, Precision::mixed),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
