// Batches of random problems for the benchmarks, and counters on their solves.
#pragma once
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "kernels/ladder/ladder.hpp"
#include "stickslip/stickslip.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/families.hpp"

namespace stickslip::bench {

/// A family of problems with a number of contacts.
struct Case {
  support::Family family;
  int contacts;
};

/// All families with the given numbers of contacts, if they exist.
std::vector<Case> all_cases(const std::vector<int>& contacts);
std::string name(const Case& c);

/// Problems 0 ... count - 1 of a case.
template <class Scalar>
HostProblems<Scalar> make_batch(const Case& c, int count);

/// Share of environments with status solved.
template <class Scalar>
double solved_share(const HostResults<Scalar>& results, int num_envs) {
  int solved = 0;
  for (int env = 0; env < num_envs; ++env) solved += results.status(env) == EnvStatus::solved;
  return num_envs > 0 ? double(solved) / num_envs : 1.0;
}

/// Counters `solved`, and `rung0` ... `rung3`: shares of environments solved on each rung.
template <class Counters, class Scalar>
void count_rungs(Counters& counters, const HostResults<Scalar>& results, int num_envs) {
  counters["solved"] = solved_share(results, num_envs);
  for (int rung = 0; rung < 4; ++rung) {
    int here = 0;
    for (int env = 0; env < num_envs; ++env) {
      here += results.status(env) == EnvStatus::solved && results.rung(env) == rung;
    }
    counters["rung" + std::to_string(rung)] = num_envs > 0 ? double(here) / num_envs : 0.0;
  }
}

/// Run time of f() in seconds.
template <class F>
double seconds(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The quantile `q` of the values.
double quantile(std::vector<double> values, double q);

/// Solves one environment of a batch on the calling thread with the kernel's entry point, without
/// the checks and threads that a call of `solve` needs once per batch.
template <class Scalar>
class SingleSolve {
 public:
  SingleSolve(const HostProblems<Scalar>& problems, HostResults<Scalar>& results,
              const SolveOptions& o);
  void operator()(int env);

 private:
  ProblemBatch<Scalar> problem_;
  ResultBatch<Scalar> result_;
  kernels::Ladder ladder_;
  support::AlignedBytes memory_;
};

/// Seconds of each environment solved alone, the minimum of `rounds` measurements.
template <class Scalar>
std::vector<double> seconds_each(const HostProblems<Scalar>& problems, HostResults<Scalar>& results,
                                 const SolveOptions& options, int rounds = 3) {
  SingleSolve<Scalar> solve_one(problems, results, options);
  std::vector<double> least(std::size_t(problems.num_envs()), 1e30);
  for (int round = 0; round < rounds; ++round) {
    for (int env = 0; env < problems.num_envs(); ++env) {
      double& time = least[std::size_t(env)];
      time = std::min(time, seconds([&] { solve_one(env); }));
    }
  }
  return least;
}

}  // namespace stickslip::bench
