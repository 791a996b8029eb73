// Lists of work: complete, sorted, in a fixed order; and no result depends on it. Runs on every
// machine, as launch_test.cpp.
#include <algorithm>
#include <numeric>

#include "kernels/gpu/work_list.hpp"
#include "src/cuda/enqueue.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

class Lists : public support::GpuTest<> {
 protected:
  const cuda::Stream stream_ = cuda::available() ? support::stream(1) : nullptr;
};

/// What lists are made from, without matrices: so thousands of environments are tested quickly.
/// Shapes of all sizes, some of them invalid.
struct Shapes {
  static constexpr int kMaxContacts = 12, kMaxRows = 40;
  std::vector<RowCounts> counts;
  std::vector<double> b;
  std::vector<std::int32_t> dims, work;

  explicit Shapes(int envs) : b(std::size_t(envs) * kMaxRows) {
    support::Random random(7);
    for (int env = 0; env < envs; ++env) {
      counts.push_back({random.integer(4) - (random.chance(0.02) ? 4 : 0), random.integer(3),
                        random.integer(2), random.integer(kMaxContacts + 2)});
      work.push_back(random.chance(0.2) ? kernels::kUnknownWork : random.integer(2000));
      for (int k = 0; k < kMaxContacts; ++k) dims.push_back(random.chance(0.1) ? 6 : 3);
    }
    for (double& x : b) x = random.integer(9) - 4;
  }
  ProblemBatch<double> view() const {
    ProblemBatch<double> p;
    p.num_envs = int(counts.size());
    p.max_rows = kMaxRows;
    p.max_contacts = kMaxContacts;
    p.counts = {counts.data(), 1};
    p.dims = {dims.data(), kMaxContacts};
    p.b = {b.data(), kMaxRows};
    return p;
  }
  /// The environments of each class, as they should be listed.
  std::vector<std::vector<int>> sorted(const kernels::SizeClasses& classes) const {
    const ProblemBatch<double> p = view();
    std::vector<std::vector<int>> lists(std::size_t(classes.count));
    std::vector<std::uint32_t> keys;
    for (int env = 0; env < p.num_envs; ++env) {
      keys.push_back(kernels::list_key(classes, p, env, work[std::size_t(env)]));
      const int c = kernels::size_class(classes, kernels::usable_rows(p, env));
      lists[std::size_t(c)].push_back(env);
    }
    for (auto& list : lists) {
      std::stable_sort(list.begin(), list.end(),
                       [&](int a, int b) { return keys[std::size_t(a)] < keys[std::size_t(b)]; });
    }
    return lists;
  }
};

/// The lists that the device has made. Those of the second pass begin empty at the same places.
std::vector<std::vector<int>> listed(const cuda::Workspace::Impl& w, int envs,
                                     cuda::Stream stream) {
  const auto classes = std::size_t(w.classes.count);
  std::vector<std::int32_t> lists(4 * std::size_t(w.config.num_envs)), counters(4 * classes);
  w.lists.download(lists.data(), w.lists.bytes(), stream);
  w.counters.download(counters.data(), w.counters.bytes(), stream);
  cuda::wait(stream);
  const auto* list = lists.data() + 3 * std::size_t(w.config.num_envs);
  const auto* end = counters.data();
  std::vector<std::vector<int>> out;
  for (std::size_t c = 0; c < classes; ++c) {
    const int first = end[classes + c];
    EXPECT_TRUE(0 <= first && first <= end[c] && end[c] <= envs) << c;
    EXPECT_EQ(end[2 * classes + c], first) << c;
    EXPECT_EQ(end[3 * classes + c], first) << c;
    out.emplace_back(list + first, list + std::max(first, end[c]));
  }
  return out;
}

// One block lists up to kSmallBatch environments. A workspace has room for more. What the counters
// hold before does not matter.
TEST_F(Lists, have_every_environment_once_in_the_order_of_the_guesses) {
  for (const int envs :
       {1, 2, 31, 129, 1000, kernels::kSmallBatch, kernels::kSmallBatch + 1, 20000}) {
    const Shapes shapes(envs);
    support::DeviceMemory memory(stream_);
    const ProblemBatch<double> problem = memory.copy(shapes.view());
    cuda::Workspace workspace({.num_envs = envs + 3 * (envs % 2),
                               .max_rows = Shapes::kMaxRows,
                               .max_contacts = Shapes::kMaxContacts});
    auto& w = impl_of(workspace);
    SS_CUDA(cudaMemsetAsync(w.counters.data(), 7, w.counters.bytes(), stream_));
    Shapes unknown = shapes;
    std::fill(unknown.work.begin(), unknown.work.end(), kernels::kUnknownWork);
    cuda::WorkLists(w, envs).fill(problem, stream_);
    EXPECT_EQ(listed(w, envs, stream_), unknown.sorted(w.classes)) << envs;
    w.work.upload(shapes.work.data(), shapes.work.size() * sizeof(std::int32_t), stream_);
    cuda::WorkLists(w, envs).fill(problem, stream_);
    EXPECT_EQ(listed(w, envs, stream_), shapes.sorted(w.classes)) << envs;
  }
}

TEST_F(Lists, of_arrays_in_float_are_the_same) {
  Shapes shapes(kernels::kSmallBatch + 1);
  for (auto& work : shapes.work) work = std::max(work, 0);  // no guess from b
  const int envs = int(shapes.counts.size());
  ProblemBatch<float> floats;
  floats.num_envs = envs;
  floats.max_rows = Shapes::kMaxRows;
  floats.max_contacts = Shapes::kMaxContacts;
  floats.counts = {shapes.counts.data(), 1};
  floats.dims = {shapes.dims.data(), Shapes::kMaxContacts};
  support::DeviceMemory memory(stream_);
  const ProblemBatch<float> problem = memory.copy(floats);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = Shapes::kMaxRows, .max_contacts = Shapes::kMaxContacts});
  auto& w = impl_of(workspace);
  w.work.upload(shapes.work.data(), shapes.work.size() * sizeof(std::int32_t), stream_);
  cuda::WorkLists(w, envs).fill(problem, stream_);
  EXPECT_EQ(listed(w, envs, stream_), shapes.sorted(w.classes));
}

// Their shapes fit the batch only because dimensions that nobody has checked are negative: the rows
// that they claim to have are not read.
TEST_F(Lists, have_environments_whose_shapes_lie) {
  Shapes shapes(5);
  shapes.counts = {{0, 1 << 20, 0, 1},
                   {1 << 30, 1 << 30, 1 << 30, 2},
                   {0, 0, 1 << 20, 1},
                   {1 << 20, 0, 0, 1},
                   {0, 30, 0, 3}};
  std::fill(shapes.dims.begin(), shapes.dims.end(), 10 - (1 << 20));
  shapes.dims[Shapes::kMaxContacts] = shapes.dims[Shapes::kMaxContacts + 1] = 5 - (3 << 29);
  support::DeviceMemory memory(stream_);
  const ProblemBatch<double> problem = memory.copy(shapes.view());
  cuda::Workspace workspace(
      {.num_envs = 5, .max_rows = Shapes::kMaxRows, .max_contacts = Shapes::kMaxContacts});
  auto& w = impl_of(workspace);
  std::fill(shapes.work.begin(), shapes.work.end(), kernels::kUnknownWork);
  cuda::WorkLists(w, 5).fill(problem, stream_);
  const auto lists = listed(w, 5, stream_);
  EXPECT_EQ(lists, shapes.sorted(w.classes));
  std::size_t listed_envs = 0;
  for (const auto& list : lists) listed_envs += list.size();
  EXPECT_EQ(listed_envs, 5U);
}

// What a workspace keeps from one solve to the next is the work of each environment.
TEST_F(Lists, follow_the_work_of_the_solve_before) {
  const int envs = support::test_count(60);
  const support::DyadicBatch<double> batch(envs);
  support::DeviceMemory memory(stream_);
  const ProblemBatch<double> problem = memory.copy(batch.view());
  support::DeviceResults<double> results(envs, batch.kMaxRows, stream_);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = batch.kMaxRows, .max_contacts = batch.kMaxContacts});
  auto& w = impl_of(workspace);
  SolveOptions options;
  options.max_rung = 0;  // so that the results are those of rung 0
  cuda::solve(problem, results.view(), options, workspace, stream_);
  const support::PlainResults<double>& host = results.host();
  std::vector<std::int32_t> work(std::size_t(envs), 0);
  w.work.download(work.data(), w.work.bytes(), stream_);
  cuda::wait(stream_);
  std::vector<int> order(std::size_t(envs), 0);
  std::iota(order.begin(), order.end(), 0);
  for (int env = 0; env < envs; ++env) {
    int loaded = 0;
    for (int i = 0; i < batch.rows(env); ++i)
      loaded += host.impulse[std::size_t(env * batch.kMaxRows + i)] != 0.0;
    const int expected = kernels::guessed_work(host.iterations[std::size_t(env)], loaded);
    EXPECT_EQ(work[std::size_t(env)], expected) << env;
  }
  cuda::solve(problem, results.view(), options, workspace, stream_);
  std::vector<std::int32_t> lists(4 * std::size_t(envs));
  w.lists.download(lists.data(), w.lists.bytes(), stream_);
  cuda::wait(stream_);
  const auto key = [&](int env) {
    return kernels::list_key(w.classes, batch.rows(env), work[std::size_t(env)]);
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  EXPECT_EQ(std::vector<int>(lists.begin() + 3 * envs, lists.end()), order);
}

template <class Scalar>
void expect_the_same_bits(const SolveOptions& options, cuda::Stream stream) {
  const int envs = support::test_count(60);
  const support::DyadicBatch<Scalar> batch(envs, options.law);
  const auto expected = support::hashes_of_cpu<Scalar>(batch, envs, options);
  support::DeviceMemory memory(stream);
  const ProblemBatch<Scalar> problem = memory.copy(batch.view());
  support::DeviceResults<Scalar> results(envs, batch.kMaxRows, stream);
  cuda::Workspace workspace({.num_envs = envs,
                             .max_rows = batch.kMaxRows,
                             .max_contacts = batch.kMaxContacts,
                             .float_storage = true});
  auto& w = impl_of(workspace);
  const auto expect_bits = [&](const char* guesses) {
    cuda::solve(problem, results.view(), options, workspace, stream);
    EXPECT_EQ(support::hashes(batch, results.host(), envs), expected) << guesses;
  };
  expect_bits("none");
  expect_bits("of the solve before");
  std::vector<std::int32_t> wrong(std::size_t(envs), 0);
  support::Random random(3);
  for (auto& x : wrong) x = random.integer(100000);
  w.work.upload(wrong.data(), wrong.size() * sizeof wrong[0], stream);
  expect_bits("of another batch");
  support::Capture graph(stream);
  cuda::solve(problem, results.view(), options, workspace, stream);
  graph.end();
  w.work.upload(wrong.data(), wrong.size() * sizeof wrong[0], stream);
  for (int replay = 0; replay < 3; ++replay) {
    graph.replay();
    EXPECT_EQ(support::hashes(batch, results.host(), envs), expected) << "replay " << replay;
  }
}

TEST_F(Lists, change_no_bits) {
  SolveOptions convex, sweeps, single;
  convex.law = Law::convex;
  sweeps.solver = Solver::pgs;
  single.precision = Precision::float32;
  expect_the_same_bits<double>({}, stream_);
  for (const SolveOptions& options : {convex, sweeps})
    expect_the_same_bits<double>(options, stream_);
  for (const SolveOptions& options : {SolveOptions{}, single})
    expect_the_same_bits<float>(options, stream_);
}

// Fewer environments than the workspace has room for, then none, then all.
TEST_F(Lists, of_smaller_batches_leave_those_of_the_next_one_alone) {
  const int envs = support::test_count(40);
  const support::DyadicBatch<double> batch(envs);
  const auto expected = support::hashes_of_cpu<double>(batch, envs, {});
  support::DeviceMemory memory(stream_);
  ProblemBatch<double> problem = memory.copy(batch.view());
  support::DeviceResults<double> results(envs, batch.kMaxRows, stream_);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = batch.kMaxRows, .max_contacts = batch.kMaxContacts});
  for (const int some : {1, 0, envs, envs / 2, envs}) {
    problem.num_envs = some;
    cuda::solve(problem, results.view(), {}, workspace, stream_);
    auto got = support::hashes(batch, results.host(), some);
    EXPECT_EQ(got, std::vector<std::uint64_t>(expected.begin(), expected.begin() + some)) << some;
  }
}

TEST_F(Lists, need_no_memory_for_no_environments) {
  cuda::Workspace workspace({.num_envs = 0, .max_rows = 12, .max_contacts = 4});
  EXPECT_EQ(impl_of(workspace).work.bytes(), 0U);
  ProblemBatch<double> nothing;
  nothing.max_rows = 12;
  nothing.max_contacts = 4;
  cuda::solve(nothing, ResultBatch<double>{}, {}, workspace, stream_);
}

}  // namespace
}  // namespace stickslip
