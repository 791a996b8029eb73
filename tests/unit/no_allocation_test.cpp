// `solve` and `measure` with a workspace allocate nothing, for all kinds of environments.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/cases.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/lcp_batch.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/tree.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void* allocate(std::size_t size, std::size_t alignment) {
  if (counting) ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Replacing these two replaces operator new for the whole program: the others forward to them.
void* operator new(std::size_t size) { return allocate(size, 16); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, std::size_t(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace stickslip {
namespace {

template <class F>
int allocations_in(F&& f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

TEST(Allocations, are_counted) {
  const int counted = allocations_in([] {
    int* volatile used = new int(1);  // a compiler may leave out a pair that nothing sees
    delete used;
  });
  EXPECT_GE(counted, 1);
}

class NoAllocation : public testing::TestWithParam<support::Case> {};

TEST_P(NoAllocation, in_solve_and_measure) {
  auto problems = support::make_mixed_problems(20);
  for (const auto& p : support::make_problems(support::Family::stackheavy, 8, 5)) {
    problems.push_back(p);
  }
  auto batch = support::to_batch<double>(problems);
  batch.b(3)[0] = -std::numeric_limits<double>::infinity();
  HostResults<double> results(batch.num_envs(), batch.max_rows());
  std::vector<Measures> measures(problems.size());
  for (int threads : {1, 2}) {
    Workspace workspace(batch.max_rows(), batch.max_contacts(), threads);
    const auto problem = batch.view();
    const auto result = results.view();
    const SolveOptions options = GetParam().options();
    solve(problem, result, options, workspace);  // OpenMP starts its threads once
    EXPECT_EQ(allocations_in([&] { solve(problem, result, options, workspace); }), 0);
    const EnvArray<const double> impulse{result.impulse.data, result.impulse.stride};
    EXPECT_EQ(
        allocations_in([&] { measure(problem, impulse, options.law, measures.data(), workspace); }),
        0);
  }
}

TEST(NoAllocationOfMechanisms, without_their_zeros) {
  support::Random random(3);
  const support::TreeMechanism mechanism(20, 12, random);
  HostProblems<double> problems(1, 12, 2);
  problems.counts(0) = {0, 3, 3, 2};
  std::fill_n(problems.b(0), 12, -1.0);
  std::fill_n(problems.R(0), 12, 0.1);
  std::fill_n(problems.mu(0), 4, 0.5);
  std::fill_n(problems.hi(0), 3, 0.2);
  HostResults<double> results(1, 12);
  const std::vector<double> start(20);
  const SolveOptions options{.law = Law::convex};
  Workspace workspace(12, 2, 1);
  const auto run = [&] {
    delassus(mechanism.view(), problems.W(0), 12, workspace);
    solve_convex(problems.view(), mechanism.view(), start.data(), results.view(), options,
                 workspace);
  };
  run();  // the workspace grows once
  EXPECT_EQ(allocations_in(run), 0);
  EXPECT_EQ(results.status(0), EnvStatus::solved);
}

INSTANTIATE_TEST_SUITE_P(all, NoAllocation, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

TEST(NoAllocationOfLcp, in_solve_lcp) {
  const support::LcpProblems<double> problems(30, 16, support::LcpKind::boxed);
  support::LcpAnswers<double> answers(30, 16);
  for (int threads : {1, 2}) {
    LcpWorkspace workspace({.max_rows = 16, .boxed = true, .threads = threads});
    const auto problem = problems.view();
    const auto result = answers.view();
    solve_lcp(problem, result, {}, workspace);
    EXPECT_EQ(allocations_in([&] { solve_lcp(problem, result, {}, workspace); }), 0);
  }
}

}  // namespace
}  // namespace stickslip
