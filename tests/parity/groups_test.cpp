// The same body on every group: one lane after another in any order, any number of rows per lane,
// lanes that are real threads. All give the bits of the library's own backend.
#include "kernels/group/host_group.hpp"
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "src/api/matrix_sources.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/dyadic_mechanism.hpp"
#include "tests/support/engine_arrays.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 6;
using Batch = support::DyadicBatch<double>;
using Results = support::PlainResults<double>;

std::vector<std::uint64_t> hashes(const Batch& batch, const Results& results) {
  std::vector<std::uint64_t> out;
  for (int env = 0; env < kEnvs; ++env) out.push_back(results.hash(env, batch.rows(env)));
  return out;
}

template <class Real, class Factor, class Group>
std::vector<std::uint64_t> run_on(const Group& group, const SolveOptions& options) {
  const Batch batch(kEnvs, options.law);
  Results results(kEnvs, batch.kMaxRows);
  support::EnvMemory<Real, Factor, double> memory(batch.kMaxRows, batch.kMaxContacts);
  for (int env = 0; env < kEnvs; ++env) {
    kernels::solve_env<Real, Factor>(group, batch.view(), results.view(), options, env,
                                     memory.scratch());
  }
  return hashes(batch, results);
}

template <class Real, class Factor>
std::vector<std::uint64_t> run_on_threads(int lanes, const SolveOptions& options) {
  const Batch batch(kEnvs, options.law);
  Results results(kEnvs, batch.kMaxRows);
  support::EnvMemory<Real, Factor, double> memory(batch.kMaxRows, batch.kMaxContacts);
  kernels::run_lanes(lanes, [&](const kernels::ThreadGroup& group) {
    for (int env = 0; env < kEnvs; ++env) {
      kernels::solve_env<Real, Factor>(group, batch.view(), results.view(), options, env,
                                       memory.scratch());
    }
  });
  return hashes(batch, results);
}

kernels::PermutedGroup<1> permuted(std::uint32_t seed) {
  kernels::PermutedGroup<1> group;
  group.seed = seed;
  return group;
}

enum class Stored { dense, by_an_engine, compressed };

/// Where the matrices of the mechanisms are read.
kernels::MatrixSource<double> source_of(support::DyadicMechanisms<double>& m,
                                        const support::EngineArrays& arrays, Stored stored) {
  if (stored == Stored::dense) return stickslip::source_of(m.step());
  const MechanismStep<double> step = m.step();
  return stickslip::source_of(
      EngineStep{arrays.view(stored == Stored::compressed), step.v_free, step.v_next});
}

/// Solves mechanisms with run(problem, result, source, memory).
template <class Real, class Factor, class Run>
std::vector<std::uint64_t> run_mechanisms(const SolveOptions& options, Stored stored, Run run) {
  support::DyadicMechanisms<double> m(kEnvs, options.law);
  const support::EngineArrays arrays(m, kEnvs);
  Results results(kEnvs, m.kMaxRows);
  support::EnvMemory<Real, Factor, double> memory(m.kMaxRows, m.kMaxContacts, {m.kDofs});
  run(m.problem(), results.view(), source_of(m, arrays, stored), memory);
  std::vector<std::uint64_t> out;
  for (int env = 0; env < kEnvs; ++env) {
    out.push_back(results.hash(env, m.rows(env)));
    support::hash_bytes(out.back(), &m.v_next[std::size_t(env * m.kDofs)],
                        m.kDofs * sizeof(double));
  }
  return out;
}

class Groups : public testing::TestWithParam<support::Case> {
 protected:
  template <class Real, class Factor>
  void expect_same_bits() {
    const SolveOptions options = GetParam().options();
    const Batch batch(kEnvs, options.law);
    Results results(kEnvs, batch.kMaxRows);
    solve(batch.view(), results.view(), options);
    const auto expected = hashes(batch, results);
    for (std::uint32_t seed : {1U, 2U, 17U, 1000U}) {
      EXPECT_EQ((run_on<Real, Factor>(permuted(seed), options)), expected) << seed;
    }
    EXPECT_EQ((run_on_threads<Real, Factor>(3, options)), expected);
  }

  template <class Real, class Factor>
  void expect_same_bits_of_mechanisms() {
    const SolveOptions options = GetParam().options();
    const auto expected = run_mechanisms<Real, Factor>(
        options, Stored::dense,
        [&](const auto& problem, const auto& result, const auto& source, auto&) {
          Workspace workspace(problem.max_rows, problem.max_contacts, 1);
          solve_mechanism(source.step, problem, result, options, workspace);
        });
    const auto on = [&](const auto& group) {
      return [&](const auto& problem, const auto& result, const auto& source, auto& memory) {
        for (int env = 0; env < kEnvs; ++env) {
          kernels::solve_env<Real, Factor>(group, problem, result, options, env, memory.scratch(),
                                           kernels::Rungs::all, source);
        }
      };
    };
    for (const Stored stored : {Stored::dense, Stored::by_an_engine, Stored::compressed}) {
      for (std::uint32_t seed : {1U, 2U, 17U}) {
        EXPECT_EQ((run_mechanisms<Real, Factor>(options, stored, on(permuted(seed)))), expected)
            << seed;
      }
      const auto threads = run_mechanisms<Real, Factor>(
          options, stored,
          [&](const auto& problem, const auto& result, const auto& source, auto& memory) {
            kernels::run_lanes(3, [&](const kernels::ThreadGroup& group) {
              on(group)(problem, result, source, memory);
            });
          });
      EXPECT_EQ(threads, expected);
    }
  }
};

TEST_P(Groups, give_the_same_bits_of_mechanisms) {
  switch (GetParam().precision) {
    case Precision::float64:
      return expect_same_bits_of_mechanisms<double, double>();
    case Precision::float32:
      return expect_same_bits_of_mechanisms<float, float>();
    case Precision::mixed:
      return expect_same_bits_of_mechanisms<double, float>();
  }
}

TEST_P(Groups, give_the_same_bits) {
  switch (GetParam().precision) {
    case Precision::float64:
      return expect_same_bits<double, double>();
    case Precision::float32:
      return expect_same_bits<float, float>();
    case Precision::mixed:
      return expect_same_bits<double, float>();
  }
}

INSTANTIATE_TEST_SUITE_P(all, Groups, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
