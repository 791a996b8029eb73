// Environments that fall apart: each island has the bits that it has as an environment of its own,
// in any order of the rows, on any group and any number of threads; the verdict is that of the
// whole.
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "tests/support/archipelago.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using support::Archipelago;
using support::Origin;
using support::PlainResults;

PlainResults<double> solve_all(const std::vector<Problem>& problems, const SolveOptions& options,
                               int threads = 1) {
  const auto batch = support::to_batch<double>(problems);
  PlainResults<double> results(batch.num_envs(), batch.max_rows());
  Workspace workspace(batch.max_rows(), batch.max_contacts(), threads);
  solve(batch.view(), results.view(), options, workspace);
  return results;
}

/// Newton's ladders: sweeps and pivots take environments as a whole.
bool divides(const support::Case& c) {
  return c.solver != Solver::pgs && c.law != Law::box && c.law != Law::pyramid;
}

/// Whether the problem is one island, and something moves every row (else a row is judged with the
/// rho of the environment's largest).
bool holds_together(const Problem& p) {
  const long n = p.W.rows();
  reference::Matrix reach = reference::Matrix::Zero(n, n);
  int row = p.counts.n_free + p.counts.n_nonneg + p.counts.n_box;
  for (int dim : p.dims) {
    reach.block(row, row, dim, dim).setOnes();
    row += dim;
  }
  reach += p.W.cwiseAbs();
  for (long length = 1; length < n; length *= 2)
    reach = (reach * reach).unaryExpr([](double x) { return x > 0 ? 1.0 : 0.0; });
  return reach.minCoeff() > 0 && ((p.W.diagonal() + p.R).array() > 0.0).all();
}

class Islands : public testing::TestWithParam<support::Case> {
 protected:
  void SetUp() override {
    if (!divides(GetParam())) GTEST_SKIP() << "not divided";
    options_ = GetParam().options();
    options_.atol = GetParam().precision == Precision::float32 ? 1e-4 : 1e-8;
    options_.rtol = 0.0;  // the same tolerance for a part and the whole
  }
  SolveOptions options_;
};

TEST_P(Islands, have_the_bits_of_environments_of_their_own) {
  int compared = 0;
  for (int index = 0; index < 12; ++index) {
    const Archipelago all = support::make_archipelago(index, GetParam().law);
    const auto whole = solve_all({all.whole}, options_);
    const auto parts = solve_all(all.parts, options_);
    EnvStatus worst = EnvStatus::solved;
    double residual = 0.0;
    for (std::size_t k = 0; k < all.parts.size(); ++k) {
      worst = std::max(worst, parts.status[k]);
      residual = std::max(residual, parts.residual[k]);
    }
    EXPECT_EQ(whole.status[0], worst) << index;
    // The bound of rounding errors counts the rows of the environment.
    EXPECT_GE(whole.residual[0], residual) << index;
    EXPECT_LE(whole.residual[0], residual + 1e-2 * options_.atol) << index;
    for (std::size_t i = 0; i < all.origin.size(); ++i) {
      const Origin& o = all.origin[i];
      const double apart = parts.impulse[std::size_t(o.part * parts.max_rows + o.row)];
      if (holds_together(all.parts[std::size_t(o.part)])) {
        EXPECT_EQ(whole.impulse[i], apart) << index << " row " << i;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 300);
}

TEST_P(Islands, are_judged_as_the_environment) {
  for (int index = 0; index < 12; ++index) {
    const Archipelago all = support::make_archipelago(index, GetParam().law);
    const auto result = solve_all({all.whole}, GetParam().options());
    const auto batch = support::to_batch<double>(std::vector<Problem>{all.whole});
    Measures measures;
    Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
    measure(batch.view(), EnvArray<const double>{result.impulse.data(), 0}, GetParam().law,
            &measures, workspace);
    if (GetParam().solver == Solver::automatic && GetParam().precision != Precision::float32) {
      EXPECT_EQ(result.status[0], EnvStatus::solved);
    }
    EXPECT_EQ(result.residual[0], measures.residual) << index;
    const double b_max = all.whole.b.cwiseAbs().maxCoeff();
    if (result.status[0] == EnvStatus::solved) {
      EXPECT_LE(result.residual[0], tolerance(GetParam().options(), b_max));
    }
  }
}

TEST_P(Islands, give_the_same_bits_on_threads_and_groups) {
  std::vector<Problem> problems;
  for (int index = 0; index < 6; ++index)
    problems.push_back(support::make_archipelago(index, GetParam().law).whole);
  SolveOptions options = options_;
  options.max_newton = 4;  // so that later rungs have work
  const auto expected = solve_all(problems, options);
  const auto hash = [&](const PlainResults<double>& r, int env) {
    return r.hash(env, reference::rows(problems[std::size_t(env)]));
  };
  const auto on_threads = solve_all(problems, options, 3);
  for (int env = 0; env < 6; ++env) EXPECT_EQ(hash(on_threads, env), hash(expected, env));
  if (GetParam().precision != Precision::float64) return;
  const auto batch = support::to_batch<double>(problems);
  support::EnvMemory<double, double, double> memory(batch.max_rows(), batch.max_contacts());
  memory.poison();
  PlainResults<double> permuted(6, batch.max_rows()), lanes(6, batch.max_rows());
  kernels::PermutedGroup<1> group;
  group.seed = 17;
  for (int env = 0; env < 6; ++env)
    kernels::solve_env<double, double>(group, batch.view(), permuted.view(), options, env,
                                       memory.scratch());
  kernels::run_lanes(3, [&](const kernels::ThreadGroup& thread) {
    for (int env = 0; env < 2; ++env)
      kernels::solve_env<double, double>(thread, batch.view(), lanes.view(), options, env,
                                         memory.scratch());
  });
  for (int env = 0; env < 6; ++env) EXPECT_EQ(hash(permuted, env), hash(expected, env));
  for (int env = 0; env < 2; ++env) EXPECT_EQ(hash(lanes, env), hash(expected, env));
}

/// Two opposite normals on a part that cannot move apart.
Problem jam() {
  Problem p;
  p.counts.n_contacts = 2;
  p.dims = {3, 3};
  p.W = reference::Matrix::Zero(6, 6);
  const int sign[] = {1, -1};
  for (int a = 0; a < 2; ++a)
    for (int c = 0; c < 2; ++c)
      for (int j = 0; j < 3; ++j) p.W(3 * a + j, 3 * c + j) = sign[a] * sign[c];
  p.b = reference::Vector::Zero(6);
  p.b(0) = p.b(3) = -1.0;
  p.mu = reference::Vector::Zero(4);
  p.R = reference::Vector::Zero(6);
  return p;
}

TEST(IslandsVerdict, one_without_a_solution_is_proved_and_harms_no_other) {
  Archipelago calm = support::make_archipelago(3, Law::coulomb);
  std::vector<Problem> parts = calm.parts;
  parts.push_back(jam());
  support::Random random(5);
  const Archipelago all = join(parts, random);
  const auto batch = support::to_batch<double>(std::vector<Problem>{all.whole});
  const auto result = solve_all({all.whole}, {});
  const auto apart = solve_all(parts, {});
  EXPECT_EQ(result.status[0], EnvStatus::infeasible);
  std::uint8_t holds = 0;
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  check_certificates(batch.view(), EnvArray<const double>{result.certificate.data(), 0}, {}, &holds,
                     workspace);
  EXPECT_EQ(holds, 1);
  const int jammed = int(parts.size()) - 1;
  for (std::size_t i = 0; i < all.origin.size(); ++i) {
    const Origin& o = all.origin[i];
    if (o.part == jammed) continue;
    EXPECT_EQ(result.certificate[i], 0.0);
    EXPECT_NEAR(result.impulse[i], apart.impulse[std::size_t(o.part * apart.max_rows + o.row)],
                1e-6);
  }
}

TEST(IslandsVerdict, a_bad_number_in_one_is_the_environments) {
  Archipelago all = support::make_archipelago(1, Law::coulomb);
  all.whole.b(7) = std::numeric_limits<double>::quiet_NaN();
  const auto result = solve_all({all.whole}, {});
  EXPECT_EQ(result.status[0], EnvStatus::bad_input);
  for (double r : result.impulse) EXPECT_EQ(r, 0.0);
}

INSTANTIATE_TEST_SUITE_P(All, Islands, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
