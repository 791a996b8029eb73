// How solves are used: by several threads, after a fork, stopped early, with sizes that no machine
// can hold.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <limits>
#include <thread>

#include "stickslip/stickslip.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

using support::refusal_of;

/// Boxes on a floor, whose rows are all weakly coupled.
struct Batch {
  Batch(int num_envs, int contacts)
      : problems(num_envs, 3 * contacts, contacts), results(num_envs, 3 * contacts) {
    const int n = 3 * contacts;
    for (int env = 0; env < num_envs; ++env) {
      problems.counts(env).n_contacts = contacts;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) problems.W(env)[i * n + j] = (i == j ? 1.0 : 0.0) + 0.5 / n;
        problems.b(env)[i] = i % 3 == 0 ? -1.0 - 0.01 * i : 0.1 * (env % 7);
      }
      for (int i = 0; i < 2 * contacts; ++i) problems.mu(env)[i] = 0.5;
    }
  }
  void solve(Workspace& workspace, const SolveOptions& options = {}) {
    stickslip::solve(problems.view(), results.view(), options, workspace);
  }
  std::vector<double> impulses() const {
    std::vector<double> all;
    for (int env = 0; env < problems.num_envs(); ++env)
      all.insert(all.end(), results.impulse(env), results.impulse(env) + problems.max_rows());
    return all;
  }
  HostProblems<double> problems;
  HostResults<double> results;
};

/// Minutes of work for one environment.
SolveOptions endless() {
  SolveOptions options;
  options.solver = Solver::pgs;
  options.fixed_sweeps = true;
  options.max_sweeps = 50'000'000;
  return options;
}

/// A batch that sweeps cannot solve, so that no environment is skipped.
Batch unsettled(int num_envs) {
  Batch batch(num_envs, 60);
  for (int env = 0; env < num_envs; ++env)
    for (int i = 0; i < 180; ++i)
      for (int j = 0; j < 180; ++j) batch.problems.W(env)[180 * i + j] = i == j ? 1.0 : 0.9999;
  return batch;
}

class Watched : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Watched, a_long_call_is_ended) {
  const auto [num_envs, threads] = GetParam();
  Batch batch = unsettled(num_envs);
  Workspace workspace(180, 60, threads);
  const auto caller = std::this_thread::get_id();
  int asked = 0;
  workspace.watch([&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return ++asked < 3;
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(batch.solve(workspace, endless()), Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(asked, 3);
  Batch small(3, 2);  // it can be used again
  small.solve(workspace);
  EXPECT_EQ(small.results.status(2), EnvStatus::solved);
  EXPECT_EQ(asked, 3) << "a short call asks nobody";
}

INSTANTIATE_TEST_SUITE_P(sizes, Watched,
                         testing::Combine(testing::Values(1, 5), testing::Values(1, 3)));

TEST(OneWorkspace, refuses_a_second_call_while_one_is_under_way) {
  Batch batch = unsettled(2);
  Workspace workspace(180, 60, 2);
  std::string message;
  workspace.watch([&] {
    std::thread([&] {
      Batch other(3, 2);
      try {
        other.solve(workspace);
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
    }).join();
    return false;
  });
  EXPECT_THROW(batch.solve(workspace, endless()), Interrupted);
  EXPECT_EQ(message,
            "Workspace: a call is under way in another thread; use one Workspace per thread");
}

TEST(OneWorkspace, refuses_a_call_from_within_its_own) {
  MncpWorkspace workspace(1, 1);
  const auto solve_once = [&](const MncpMap& map) {
    double w = 0.0, residual = 0.0;
    EnvStatus status;
    std::int32_t iterations;
    MncpBatch problem{.num_envs = 1, .max_w = 1, .map = map};
    solve_mncp(problem,
               {.w = {&w, 1}, .residual = &residual, .status = &status, .iterations = &iterations},
               {}, workspace);
  };
  const MncpMap line = [](const MncpPoint& p) {
    p.z[0] = p.w[0] - 1.0;
    if (p.jacobian != nullptr) p.jacobian[0] = 1.0;
  };
  solve_once(line);
  EXPECT_THROW(solve_once([&](const MncpPoint& p) {
                 solve_once(line);
                 line(p);
               }),
               std::runtime_error);
  solve_once(line);
}

TEST(Workspaces, of_several_threads_do_not_disturb_each_other) {
  Batch expected(500, 4);
  Workspace one(12, 4, 1);
  expected.solve(one);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Workspace workspace(12, 4, 3);
      for (int round = 0; round < 20; ++round) {
        Batch batch(500, 4);
        batch.solve(workspace);
        wrong[std::size_t(t)] += batch.impulses() != expected.impulses();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

// In the child, which does not have the parent's threads.
TEST(Fork, the_child_solves_with_old_and_new_workspaces) {
  Batch batch(2000, 4);
  Workspace old(12, 4, 3);
  batch.solve(old);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // instead of hanging
    Batch with_old(2000, 4), with_new(2000, 4);
    with_old.solve(old);
    Workspace fresh(12, 4, 3);
    with_new.solve(fresh);
    const bool same =
        with_old.impulses() == batch.impulses() && with_new.impulses() == batch.impulses();
    _exit(same ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Sizes, that_no_memory_holds_are_refused_by_name) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"num_envs, max_rows", [] { HostProblems<double>(most, 100, 10); }},
      {"num_envs, max_contacts", [] { HostProblems<double>(most, 0, most); }},
      {"num_envs, max_rows", [] { HostProblems<float>(2, most, 0); }},
      {"num_envs, max_rows", [] { HostResults<double>(most, most); }},
      {"num_envs, max_rows", [] { HostLcp(1, most); }},
      {"num_envs, max_rows", [] { HostLcpResults(most, most); }},
      {"max_rows, threads", [] { Workspace(most, 0, 1); }},
      {"max_rows, threads", [] { LcpWorkspace({.max_rows = most, .boxed = true, .threads = 1}); }},
      {"max_unknowns, threads", [] { MncpWorkspace(most, 1); }},
  };
  for (const auto& [arguments, call] : calls) {
    const std::string expected = std::string(arguments) + ": expected sizes that fit";
    EXPECT_EQ(refusal_of(call).substr(0, expected.size()), expected);
  }
}

// Bounds are not read: the environment is over_capacity.
TEST(Bounds, are_not_asked_of_environments_beyond_their_slot) {
  Batch batch(3, 2);
  batch.problems.counts(1) = {.n_box = 9};
  ProblemBatch<double> problem = batch.problems.view();
  problem.lo = problem.hi = {};
  Workspace workspace(6, 2, 1);
  solve(problem, batch.results.view(), {}, workspace);
  EXPECT_EQ(batch.results.status(0), EnvStatus::solved);
  EXPECT_EQ(batch.results.status(1), EnvStatus::over_capacity);
  EXPECT_EQ(batch.results.status(2), EnvStatus::solved);
}

}  // namespace
}  // namespace stickslip
