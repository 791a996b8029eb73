// solve_mechanism has the bits of delassus, solve and apply_impulse, called one after the other.
#include <cmath>
#include <cstring>

#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic_mechanism.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

template <class Scalar>
using Mechanisms = support::DyadicMechanisms<Scalar>;
using Hashes = std::vector<std::uint64_t>;

/// The bits of the result and of the velocities.
template <class Scalar>
std::uint64_t hash(const Mechanisms<Scalar>& m, const support::PlainResults<Scalar>& results,
                   int env) {
  std::uint64_t out = results.hash(env, m.rows(env));
  support::hash_bytes(out, &m.v_next[std::size_t(env * m.kDofs)], m.kDofs * sizeof(Scalar));
  return out;
}
template <class Scalar>
Hashes hashes(const Mechanisms<Scalar>& m, const support::PlainResults<Scalar>& results, int envs) {
  Hashes out;
  for (int env = 0; env < envs; ++env) out.push_back(hash(m, results, env));
  return out;
}

template <class Scalar>
Hashes one_after_the_other(Mechanisms<Scalar>& m, const SolveOptions& options, int envs) {
  constexpr int n = Mechanisms<Scalar>::kMaxRows;
  support::PlainResults<Scalar> results(envs, n);
  std::vector<Scalar> W(std::size_t(envs) * n * n);
  std::vector<std::int32_t> rows, ok(std::size_t(envs), -1);
  for (int env = 0; env < envs; ++env) rows.push_back(m.rows(env));
  MechanismStep<Scalar> step = m.step();
  step.mechanism.rows = {rows.data(), 1};
  Workspace workspace(n, m.kMaxContacts, 1);
  delassus(step.mechanism, EnvArray<Scalar>{W.data(), n * n}, n, ok.data(), workspace);
  ProblemBatch<Scalar> problem = m.problem();
  problem.W = {W.data(), n * n};
  solve(problem, results.view(), options, workspace);
  apply_impulse(step.mechanism, EnvArray<const Scalar>{results.impulse.data(), n}, step.v_free,
                step.v_next, ok.data(), workspace);
  EXPECT_EQ(ok, std::vector<std::int32_t>(std::size_t(envs), 1));
  return hashes(m, results, envs);
}

template <class Scalar>
Hashes fused(Mechanisms<Scalar>& m, const SolveOptions& options, int envs, int threads) {
  support::PlainResults<Scalar> results(envs, m.kMaxRows);
  std::fill(m.v_next.begin(), m.v_next.end(), Scalar(-7));
  Workspace workspace(m.kMaxRows, m.kMaxContacts, threads);
  solve_mechanism(m.step(), m.problem(), results.view(), options, workspace);
  return hashes(m, results, envs);
}

class MechanismBits : public testing::TestWithParam<support::Case> {
 protected:
  template <class Scalar>
  void expect_same_bits() {
    const SolveOptions options = GetParam().options();
    const int envs = support::test_count(100);
    Mechanisms<Scalar> m(envs, options.law);
    const Hashes expected = one_after_the_other(m, options, envs);
    EXPECT_EQ(fused(m, options, envs, 1), expected);
    EXPECT_EQ(fused(m, options, envs, 3), expected) << "on threads";
  }
};

TEST_P(MechanismBits, are_those_of_the_three_calls) {
  expect_same_bits<double>();
  if (GetParam().precision == Precision::float32) expect_same_bits<float>();
}

INSTANTIATE_TEST_SUITE_P(all, MechanismBits, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

TEST(MechanismStep, what_cannot_be_solved_moves_on_as_it_was) {
  constexpr int envs = 8;
  Mechanisms<double> clean(envs), m(envs);
  const Hashes expected = fused(clean, {}, envs, 1);
  constexpr int n = m.kMaxRows, nv = m.kDofs;
  m.M[std::size_t(nv * nv) + 5] = std::nan("");  // environment 1
  m.M[std::size_t(2 * nv * nv)] = -1.0;          // 2: not positive definite
  m.counts[3] = {};                              // 3: no rows, and
  m.M[std::size_t(3 * nv * nv)] = 0.0;           // an invalid mass matrix
  m.b[std::size_t(4 * n)] = std::nan("");        // 4
  m.counts[5].n_contacts = m.kMaxContacts + 1;   // 5: over capacity
  m.counts[6].n_nonneg = -1;                     // 6
  support::PlainResults<double> results(envs, n);
  std::fill(m.v_next.begin(), m.v_next.end(), -7.0);
  Workspace workspace(n, m.kMaxContacts, 1);
  solve_mechanism(m.step(), m.problem(), results.view(), {}, workspace);
  for (int env = 1; env < 7; ++env) {
    EXPECT_EQ(results.status[std::size_t(env)],
              env == 5 ? EnvStatus::over_capacity : EnvStatus::bad_input)
        << env;
    for (int k = 0; k < nv; ++k) {
      EXPECT_EQ(m.v_next[std::size_t(env * nv + k)], m.v_free[std::size_t(env * nv + k)]);
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(results.impulse[std::size_t(env * n + i)], 0.0);
  }
  EXPECT_GT(results.rows_needed[5], 3 * m.kMaxContacts);
  for (int env : {0, 7}) EXPECT_EQ(hash(m, results, env), expected[std::size_t(env)]) << env;
}

TEST(MechanismStep, velocities_are_optional) {
  constexpr int envs = 5;
  Mechanisms<double> m(envs);
  support::PlainResults<double> with(envs, m.kMaxRows), without(envs, m.kMaxRows);
  Workspace workspace(m.kMaxRows, m.kMaxContacts, 1);
  MechanismStep<double> step = m.step();
  solve_mechanism(step, m.problem(), with.view(), {}, workspace);
  step.v_free = {};
  step.v_next = {};
  solve_mechanism(step, m.problem(), without.view(), {}, workspace);
  for (int env = 0; env < envs; ++env) {
    EXPECT_EQ(with.hash(env, m.rows(env)), without.hash(env, m.rows(env)));
  }
}

}  // namespace
}  // namespace stickslip
