// Results do not depend on the coordinates of the rows.
#include "tests/property/transform.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using property::Matrix;
using property::Problem;
using property::Vector;
using support::Family;

/// Residual of impulses by the library.
double measured(const Problem& problem, const Vector& r, Law law) {
  const auto batch = support::to_batch<double>(std::vector{problem});
  Measures m;
  Workspace workspace(batch.max_rows(), batch.max_contacts(), 1);
  measure(batch.view(), EnvArray<const double>{r.data(), r.size()}, law, &m, workspace);
  return m.residual;
}

Vector random_vector(Eigen::Index size, support::Random& random) {
  Vector r(size);
  for (double& x : r) x = random.normal();
  return r;
}

class Coordinates : public testing::TestWithParam<Law> {
 protected:
  /// The residual of r' in the new coordinates is that of r = T r' in the old ones.
  void expect_same_residual(const Problem& problem, const Matrix& T) {
    support::Random random(5);
    const Vector r = random_vector(problem.b.size(), random);
    const double value = measured(property::change_coordinates(problem, T), r, GetParam());
    EXPECT_NEAR(value, measured(problem, T * r, GetParam()), 1e-11 * (1.0 + value));
  }
  /// A solution of the library in the new coordinates solves the problem in the old ones, up to a
  /// factor if the residual itself depends on them.
  void expect_same_solution(const Problem& problem, const Matrix& T, double factor) {
    SolveOptions options;
    options.law = GetParam();
    if (!supports(Solver::automatic, options.law)) return;
    const auto changed = property::change_coordinates(problem, T);
    const auto results =
        support::solve_batch(support::to_batch<double>(std::vector{changed}), options);
    if (results.status(0) != EnvStatus::solved) return;
    const Vector back = T * support::impulse_of(results, 0, reference::rows(problem));
    const double allowed = tolerance(options, changed.b.lpNorm<Eigen::Infinity>());
    EXPECT_LE(reference::residual(problem, back, options.law), factor * allowed + 1e-11);
  }
};

// A quarter turn maps all laws' sets onto themselves and does not change rho or the largest entry.
TEST_P(Coordinates, tangents_may_be_swapped) {
  for (int i = 0; i < support::test_count(20); ++i) {
    const Problem problem = make_scene(Family::cage, 4, i).problem;
    const Matrix T = property::swap_tangents(problem);
    expect_same_residual(problem, T);
    expect_same_solution(problem, T, 1.0);
  }
}

// Circular cones may be turned by any angle. F's largest entry changes by up to sqrt(2), rho by 2.
TEST_P(Coordinates, tangents_may_be_turned) {
  if (GetParam() == Law::pyramid || GetParam() == Law::box) GTEST_SKIP() << "has corners";
  for (int i = 0; i < support::test_count(20); ++i) {
    for (Family family : {Family::box, Family::cage, Family::stack}) {
      SCOPED_TRACE(testing::Message() << name(family) << " #" << i);
      const Problem problem = make_scene(family, 4, i).problem;
      expect_same_solution(problem, property::rotate_tangents(problem, 0.3 + i), 3.0);
    }
  }
}

TEST_P(Coordinates, contacts_may_be_permuted) {
  for (int i = 0; i < support::test_count(20); ++i) {
    for (Family family : {Family::box, Family::cage, Family::stackrest}) {
      SCOPED_TRACE(testing::Message() << name(family) << " #" << i);
      const Problem problem = make_scene(family, 8, i).problem;
      expect_same_residual(problem, property::reverse_contacts(problem));
      expect_same_solution(problem, property::reverse_contacts(problem), 1.0);
    }
  }
}

// In circular coordinates the second tangent's unit of length cancels with its coefficient.
TEST_P(Coordinates, a_tangential_row_may_change_its_unit) {
  for (int i = 0; i < support::test_count(20); ++i) {
    const Problem problem = support::make_scene(Family::cage, 4, i).problem;
    Problem scaled = problem;
    Vector factors = Vector::Ones(problem.b.size());
    for (Eigen::Index k = 2; k < factors.size(); k += 3) factors[k] = 0.37 + 0.5 * double(k);
    scaled.W = factors.asDiagonal() * problem.W * factors.asDiagonal();
    scaled.b = factors.asDiagonal() * problem.b;
    for (int k = 0; k < 4; ++k) scaled.mu[2 * k + 1] /= factors[3 * k + 2];
    support::Random random(6);
    const Vector r = random_vector(problem.b.size(), random);
    // r' = r / factor: the same impulse in the other unit. The frictionless law uses it unscaled.
    if (GetParam() == Law::frictionless) continue;
    EXPECT_NEAR(measured(scaled, r.cwiseQuotient(factors), GetParam()),
                measured(problem, r, GetParam()), 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(laws, Coordinates, testing::ValuesIn(support::laws()),
                         [](const auto& info) { return std::string(name(info.param)); });

class Units : public testing::TestWithParam<support::Case> {};

/// Solves with only the relative tolerance rtol * max|b|.
HostResults<double> solve_relative(const std::vector<Problem>& problems,
                                   const support::Case& param) {
  SolveOptions options = param.options();
  options.atol = 0.0;
  return support::solve_batch(support::to_batch<double>(problems), options);
}

// Velocities in other units by a power of two: the same bits, shifted.
TEST_P(Units, twice_the_velocity_takes_twice_the_impulse) {
  auto problems =
      support::make_mixed_problems(support::test_count(60), support::kinds_for(GetParam().law));
  const auto once = solve_relative(problems, GetParam());
  for (auto& p : problems) {
    p.b *= 2.0;
    p.lo *= 2.0;
    p.hi *= 2.0;
  }
  const auto twice = solve_relative(problems, GetParam());
  for (int env = 0; env < int(problems.size()); ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    EXPECT_EQ(once.iterations(env), twice.iterations(env));
    EXPECT_EQ(2.0 * once.residual(env), twice.residual(env));
    for (Eigen::Index i = 0; i < problems[std::size_t(env)].b.size(); ++i) {
      EXPECT_EQ(2.0 * once.impulse(env)[i], twice.impulse(env)[i]);
    }
  }
}

// Masses in other units by a power of four.
TEST_P(Units, a_quarter_of_the_mass_takes_a_quarter_of_the_impulse) {
  auto problems =
      support::make_mixed_problems(support::test_count(60), support::kinds_for(GetParam().law));
  const auto before = solve_relative(problems, GetParam());
  for (auto& p : problems) {
    p.W *= 4.0;
    p.R *= 4.0;
    p.lo /= 4.0;
    p.hi /= 4.0;
  }
  const auto after = solve_relative(problems, GetParam());
  for (int env = 0; env < int(problems.size()); ++env) {
    SCOPED_TRACE(testing::Message() << "environment " << env);
    EXPECT_EQ(before.residual(env), after.residual(env));
    for (Eigen::Index i = 0; i < problems[std::size_t(env)].b.size(); ++i) {
      EXPECT_EQ(before.impulse(env)[i], 4.0 * after.impulse(env)[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, Units, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
