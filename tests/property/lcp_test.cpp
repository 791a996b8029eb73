// Symmetries and limits of linear complementarity problems.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/reference/lcp.hpp"
#include "tests/support/count.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using reference::Vector;
using support::LcpKind;

/// A problem with a unique solution: M positive definite, not symmetric.
struct Definite {
  Matrix M;
  Vector q;
  explicit Definite(int n, std::uint64_t seed) : M(n, n), q(n) {
    support::Random random(seed);
    Matrix J(n, n);
    for (double& x : J.reshaped()) x = random.normal();
    for (double& x : q) x = random.normal();
    M = J * J.transpose() / n + 0.2 * Matrix::Identity(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        const double skew = 0.3 * random.normal();
        M(i, j) += skew;
        M(j, i) -= skew;
      }
    }
  }
};

Vector solve(const Matrix& M, const Vector& q, int n_free = 0, double cfm = 0.0,
             LcpMethod method = LcpMethod::automatic) {
  const Eigen::Matrix<double, -1, -1, Eigen::RowMajor> rows = M;
  const std::int32_t free = n_free;
  LcpBatch<double> p;
  p.num_envs = 1;
  p.max_rows = int(q.size());
  p.n_free = {&free, 0};
  p.M = {rows.data(), rows.size()};
  p.q = {q.data(), q.size()};
  LcpOptions options;
  options.cfm = cfm;
  options.method = method;
  options.atol = options.rtol = 1e-12;
  const auto answers = support::solve_problems(p, options);
  EXPECT_EQ(answers.status[0], EnvStatus::solved);
  return Eigen::Map<const Vector>(answers.z.data(), q.size());
}

constexpr int kRows = 12;

TEST(LcpProperty, rows_and_columns_may_be_scaled) {
  for (int seed = 0; seed < support::test_count(20); ++seed) {
    const Definite p(kRows, std::uint64_t(seed));
    support::Random random(std::uint64_t(seed) + 77);
    Vector row(kRows), column(kRows);
    for (double& x : row) x = std::exp2(random.uniform(-6, 6));
    for (double& x : column) x = std::exp2(random.uniform(-6, 6));
    // w' = row w, z = column z'
    const Vector scaled =
        solve(row.asDiagonal() * p.M * column.asDiagonal(), row.cwiseProduct(p.q));
    EXPECT_LE((column.cwiseProduct(scaled) - solve(p.M, p.q)).lpNorm<Eigen::Infinity>(), 1e-7);
  }
}

TEST(LcpProperty, rows_may_be_permuted) {
  for (int seed = 0; seed < support::test_count(20); ++seed) {
    const Definite p(kRows, std::uint64_t(seed));
    Eigen::PermutationMatrix<Eigen::Dynamic> permutation(kRows);
    support::Random random(std::uint64_t(seed) + 5);
    permutation.setIdentity();
    for (int i = kRows - 1; i > 0; --i) {
      std::swap(permutation.indices()[i], permutation.indices()[random.integer(i + 1)]);
    }
    const Vector moved = solve(permutation * p.M * permutation.transpose(), permutation * p.q);
    EXPECT_LE((permutation.transpose() * moved - solve(p.M, p.q)).lpNorm<Eigen::Infinity>(), 1e-9);
  }
}

TEST(LcpProperty, both_methods_find_the_unique_solution) {
  for (int seed = 0; seed < support::test_count(20); ++seed) {
    const Definite p(kRows, std::uint64_t(seed));
    const Vector pivots = solve(p.M, p.q, 3, 0.0, LcpMethod::lemke);
    const Vector steps = solve(p.M, p.q, 3, 0.0, LcpMethod::newton);
    EXPECT_LE((pivots - steps).lpNorm<Eigen::Infinity>(), 1e-9);
  }
}

TEST(LcpProperty, free_rows_mean_their_schur_complement) {
  for (int seed = 0; seed < support::test_count(20); ++seed) {
    const Definite p(kRows, std::uint64_t(seed));
    constexpr int f = 4, rest = kRows - f;
    const Vector z = solve(p.M, p.q, f);
    const auto lu = p.M.topLeftCorner(f, f).partialPivLu();
    const Matrix through = lu.solve(p.M.topRightCorner(f, rest));
    const Vector constant = lu.solve(p.q.head(f));
    const Vector reduced =
        solve(p.M.bottomRightCorner(rest, rest) - p.M.bottomLeftCorner(rest, f) * through,
              p.q.tail(rest) - p.M.bottomLeftCorner(rest, f) * constant);
    EXPECT_LE((z.tail(rest) - reduced).lpNorm<Eigen::Infinity>(), 1e-9);
    EXPECT_LE((z.head(f) + constant + through * reduced).lpNorm<Eigen::Infinity>(), 1e-9);
  }
}

TEST(LcpProperty, constraint_force_mixing_vanishes_with_its_number) {
  for (int seed = 0; seed < support::test_count(20); ++seed) {
    const Definite p(kRows, std::uint64_t(seed));
    const Vector exact = solve(p.M, p.q);
    double before = std::numeric_limits<double>::infinity();
    for (double cfm : {1e-1, 1e-3, 1e-5, 1e-7}) {
      const Vector mixed = solve(p.M, p.q, 0, cfm);
      Matrix regularised = p.M;
      regularised.diagonal() *= 1.0 + cfm;
      EXPECT_LE((mixed - solve(regularised, p.q)).lpNorm<Eigen::Infinity>(), 1e-9);
      const double distance = (mixed - exact).lpNorm<Eigen::Infinity>();
      EXPECT_TRUE(distance < before || distance == 0.0) << cfm;
      before = distance;
    }
    EXPECT_LE(before, 1e-4);
  }
}

TEST(LcpProperty, a_start_that_solves_is_the_answer) {
  const support::LcpProblems<double> problems(40, 12, LcpKind::boxed);
  LcpBatch<double> p = problems.view();
  const auto first = support::solve_problems(p, {});
  p.start = {first.z.data(), 12};
  const auto second = support::solve_problems(p, {});
  EXPECT_EQ(second.z, first.z);
  for (int iterations : second.iterations) EXPECT_EQ(iterations, 0);
}

/// A friction index on a row whose solution is known is a bound: fixing it has no effect.
TEST(LcpProperty, friction_indices_are_bounds_at_the_solution) {
  support::LcpProblems<double> problems(60, 12, LcpKind::boxed);
  const auto first = support::solve_problems(problems.view(), {});
  for (int env = 0; env < problems.num_envs(); ++env) {
    for (int i = problems.n_free(env); i < problems.rows(env); ++i) {
      const int j = problems.findex(env, i);
      if (j < 0) continue;
      const double scale = std::max(0.0, first.z[std::size_t(env * 12 + j)]);
      problems.lo(env, i) *= scale;
      problems.hi(env, i) *= scale;
      problems.findex(env, i) = -1;
    }
    const reference::Lcp fixed = reference::from_batch(problems.view(), 0.0, env);
    const Eigen::Map<const Vector> z(&first.z[std::size_t(env) * 12], fixed.q.size());
    EXPECT_LE(reference::residual(fixed, z), first.residual[std::size_t(env)] + 1e-12);
  }
}

}  // namespace
}  // namespace stickslip
