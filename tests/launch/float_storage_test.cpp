// Arrays in float solved in double have the bits of the same numbers in double, rounded; those of
// an engine have the bits of dense matrices. On the CPU, and on devices as in launch_test.cpp.
#include <algorithm>
#include <cmath>

#include "tests/launch/on_device.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/engine_arrays.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

using support::EngineArrays;
using support::PlainResults;
template <class Scalar>
using Mechanisms = support::DyadicMechanisms<Scalar>;

/// Impulses rounded to float.
PlainResults<float> rounded(const PlainResults<double>& from, int envs) {
  PlainResults<float> to(envs, from.max_rows);
  std::transform(from.impulse.begin(), from.impulse.end(), to.impulse.begin(),
                 [](double r) { return float(r); });
  to.residual = from.residual;
  to.certificate = from.certificate;
  to.status = from.status;
  to.iterations = from.iterations;
  to.rows_needed = from.rows_needed;
  to.rung = from.rung;
  to.solver = from.solver;
  return to;
}

class FloatStorage : public testing::TestWithParam<support::Case> {
 protected:
  const SolveOptions options_ = GetParam().options();
};
class EngineStorage : public FloatStorage {};

/// Those whose arithmetic is not in float, where nothing is converted.
std::vector<support::Case> wide_cases() {
  std::vector<support::Case> cases = support::supported_cases();
  std::erase_if(cases, [](const support::Case& c) { return c.precision == Precision::float32; });
  return cases;
}

TEST_P(FloatStorage, of_matrices_has_the_bits_of_double) {
  const int envs = support::test_count(150);
  const support::DyadicBatch<double> wide(envs, options_.law);
  const support::DyadicBatch<float> narrow(envs, options_.law);
  PlainResults<double> expected(envs, wide.kMaxRows);
  solve(wide.view(), expected.view(), options_);
  const auto hashes = support::hashes(narrow, rounded(expected, envs), envs);
  for (const int threads : {1, 3}) {
    PlainResults<float> results(envs, narrow.kMaxRows);
    Workspace workspace(narrow.kMaxRows, narrow.kMaxContacts, threads);
    solve(narrow.view(), results.view(), options_, workspace);
    EXPECT_EQ(support::hashes(narrow, results, envs), hashes) << threads;
  }
  if (!cuda::available()) return;
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const ProblemBatch<float> problem = memory.copy(narrow.view());
  support::DeviceResults<float> device(envs, narrow.kMaxRows, stream);
  cuda::Workspace workspace({.num_envs = envs,
                             .max_rows = narrow.kMaxRows,
                             .max_contacts = narrow.kMaxContacts,
                             .float_storage = true});
  support::Capture graph(stream);
  cuda::solve(problem, device.view(), options_, workspace, stream);
  graph.end();
  graph.replay();
  EXPECT_EQ(support::hashes(narrow, device.host(), envs), hashes);
  PlainResults<float> host(envs, narrow.kMaxRows);
  cuda::solve_host(narrow.view(), host.view(), options_);
  EXPECT_EQ(support::hashes(narrow, host, envs), hashes);
}

TEST_P(FloatStorage, of_mechanisms_has_the_bits_of_double) {
  const int envs = support::test_count(60);
  Mechanisms<double> wide(envs, options_.law);
  Mechanisms<float> narrow(envs, options_.law);
  PlainResults<double> expected(envs, wide.kMaxRows);
  PlainResults<float> results(envs, wide.kMaxRows);
  Workspace host(wide.kMaxRows, wide.kMaxContacts, 2);
  solve_mechanism(wide.step(), wide.problem(), expected.view(), options_, host);
  std::vector<float> v_next;
  for (const double v : wide.v_next) v_next.push_back(float(v));
  const auto hashes = support::hashes(narrow, rounded(expected, envs), envs);
  solve_mechanism(narrow.step(), narrow.problem(), results.view(), options_, host);
  EXPECT_EQ(support::hashes(narrow, results, envs), hashes);
  EXPECT_EQ(narrow.v_next, v_next);
  if (!cuda::available()) return;
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const MechanismStep<float> step = memory.copy(narrow.step());
  support::DeviceResults<float> device(envs, narrow.kMaxRows, stream);
  cuda::Workspace workspace({.num_envs = envs,
                             .max_rows = narrow.kMaxRows,
                             .max_contacts = narrow.kMaxContacts,
                             .nv = narrow.kDofs,
                             .float_storage = true});
  cuda::solve_mechanism(step, memory.copy(narrow.problem()), device.view(), options_, workspace,
                        stream);
  EXPECT_EQ(support::hashes(narrow, device.host(), envs), hashes);
  EXPECT_EQ(memory.download(step.v_next, envs), v_next);
}

TEST_P(EngineStorage, has_the_bits_of_dense_matrices) {
  const int envs = support::test_count(60);
  Mechanisms<double> m(envs, options_.law);
  const EngineArrays arrays(m, envs);
  PlainResults<double> expected(envs, m.kMaxRows);
  Workspace host(m.kMaxRows, m.kMaxContacts, 2);
  solve_mechanism(m.step(), m.problem(), expected.view(), options_, host);
  const auto hashes = support::hashes(m, expected, envs);
  const std::vector<double> v_next = m.v_next;
  for (const bool compressed : {false, true}) {
    std::fill(m.v_next.begin(), m.v_next.end(), -7.0);
    PlainResults<double> results(envs, m.kMaxRows);
    const EngineStep step{arrays.view(compressed), m.step().v_free, m.step().v_next};
    solve_mechanism(step, m.problem(), results.view(), options_, host);
    EXPECT_EQ(support::hashes(m, results, envs), hashes) << compressed;
    EXPECT_EQ(m.v_next, v_next) << compressed;
    if (!cuda::available()) continue;
    const cuda::Stream stream = support::stream(1);
    support::DeviceMemory memory(stream);
    const EngineStep there = memory.copy(step);
    const ProblemBatch<double> problem = memory.copy(m.problem());
    support::DeviceResults<double> device(envs, m.kMaxRows, stream);
    cuda::Workspace workspace(
        {.num_envs = envs, .max_rows = m.kMaxRows, .max_contacts = m.kMaxContacts, .nv = m.kDofs});
    support::Capture graph(stream);
    cuda::solve_mechanism(there, problem, device.view(), options_, workspace, stream);
    graph.end();
    graph.replay();
    EXPECT_EQ(support::hashes(m, device.host(), envs), hashes) << compressed;
    EXPECT_EQ(memory.download(there.v_next, envs), v_next) << compressed;
  }
}

INSTANTIATE_TEST_SUITE_P(all, FloatStorage, testing::ValuesIn(wide_cases()), support::case_name);
INSTANTIATE_TEST_SUITE_P(all, EngineStorage, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

// One environment with an index outside the arrays is bad input; the others keep their bits.
TEST(EngineMechanism, indices_outside_its_arrays_are_bad_input) {
  constexpr int envs = 6;
  Mechanisms<double> m(envs);
  for (RowCounts& counts : m.counts) counts = {1, 1, 0, 1};  // every environment uses some rows
  const EngineArrays clean(m, envs);
  EngineArrays broken = clean;
  const auto row = [&](int env) {
    return std::size_t(env * clean.kRowsOfJ + clean.row_of[std::size_t(env * clean.kRows)]);
  };
  broken.row_of[std::size_t(clean.kRows)] = clean.kRowsOfJ;                        // environment 1
  broken.row_of[std::size_t(2 * clean.kRows)] = -1;                                // 2
  broken.adr[row(3)] = clean.kSize;                                                // 3
  broken.columns[std::size_t(4 * clean.kSize + clean.adr[row(4)])] = clean.kDofs;  // 4
  Workspace workspace(m.kMaxRows, m.kMaxContacts, 1);
  PlainResults<double> expected(envs, m.kMaxRows), results(envs, m.kMaxRows);
  EngineStep step{clean.view(true), m.step().v_free, m.step().v_next};
  solve_mechanism(step, m.problem(), expected.view(), {}, workspace);
  step.mechanism = broken.view(true);
  solve_mechanism(step, m.problem(), results.view(), {}, workspace);
  for (int env = 0; env < envs; ++env) {
    const auto e = std::size_t(env);
    const bool bad = env >= 1 && env <= 4;
    EXPECT_EQ(results.status[e] == EnvStatus::bad_input, bad) << env;
    if (bad) continue;
    EXPECT_EQ(results.hash(env, m.rows(env)), expected.hash(env, m.rows(env))) << env;
  }
  broken = clean;
  broken.col[5] = 7;  // above the diagonal: of all environments
  step.mechanism = broken.view(false);
  solve_mechanism(step, m.problem(), results.view(), {}, workspace);
  for (const EnvStatus status : results.status) EXPECT_EQ(status, EnvStatus::bad_input);
}

TEST(EngineMechanism, misuse_is_refused_by_name) {
  Mechanisms<double> m(1);
  const EngineArrays arrays(m, 1);
  PlainResults<double> results(1, m.kMaxRows);
  Workspace workspace(m.kMaxRows, m.kMaxContacts, 1);
  const auto refusal = [&](auto change) {
    EngineStep step{arrays.view(true), m.step().v_free, m.step().v_next};
    change(step);
    return support::refusal_of(
        [&] { solve_mechanism(step, m.problem(), results.view(), {}, workspace); });
  };
  EXPECT_EQ(refusal([](EngineStep&) {}), "");
  EXPECT_EQ(refusal([](EngineStep& s) { s.mechanism.M = {}; }),
            "mechanism.M: expected an array, got none");
  EXPECT_EQ(refusal([](EngineStep& s) { s.mechanism.J_col = {}; }),
            "mechanism.J_nnz, J_adr, J_col: expected all or none of them, got 2");
  EXPECT_EQ(refusal([](EngineStep& s) { s.mechanism.tree.n = 3; }),
            "mechanism.tree.n: expected 0 or nv, got 3");
  EXPECT_EQ(refusal([](EngineStep& s) { s.v_free = {}; }), "v_free: expected an array, got none");
  EXPECT_EQ(
      refusal([](EngineStep& s) { s.mechanism.row_of = {}, s.mechanism.J_rows = 2; }),
      "mechanism.J_rows: expected at least problem.max_rows, because row_of is absent, got 2");
}

}  // namespace
}  // namespace stickslip
