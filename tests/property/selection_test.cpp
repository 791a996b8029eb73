// Of many solutions the limit of stiff contacts: against the solution of least norm where
// everything sticks, and against what the law leaves open: warm starts, copies of contacts, the
// order of contacts.
#include <Eigen/QR>
#include <numbers>

#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using reference::Problem;
using reference::Vector;
using support::Family;

/// The problem of contacts of dimension 3.
Problem problem_of(const Matrix& J, const Vector& inverse_mass, const Vector& v, double mu) {
  const Eigen::Index contacts = J.rows() / 3;
  Problem p;
  p.shape.n_contacts = std::int32_t(contacts);
  p.dims.assign(std::size_t(contacts), 3);
  p.W = J * inverse_mass.asDiagonal() * J.transpose();
  p.W = (0.5 * (p.W + p.W.transpose())).eval();
  p.b = J * v;
  p.mu = Vector::Constant(2 * contacts, mu);
  p.R = Vector::Zero(J.rows());
  p.lo = p.hi = Vector::Zero(0);
  return p;
}

/// Boxes of these masses on each other and on the floor, at rest after a time step h without
/// contacts; four contacts each, at the corners.
Problem tower(const std::vector<double>& masses, double h, double mu) {
  constexpr double kHalf = 0.1;
  const auto bodies = Eigen::Index(masses.size());
  Matrix J = Matrix::Zero(12 * bodies, 6 * bodies);
  Vector inverse_mass(6 * bodies), v = Vector::Zero(6 * bodies);
  for (Eigen::Index i = 0; i < bodies; ++i) {
    const double mass = masses[std::size_t(i)], inertia = mass * 8.0 * kHalf * kHalf / 12.0;
    inverse_mass.segment<6>(6 * i) << Vector::Constant(3, 1.0 / mass),
        Vector::Constant(3, 1.0 / inertia);
    v[6 * i + 2] = -9.81 * h;
    for (int corner = 0; corner < 4; ++corner) {
      const double x = (corner & 1) != 0 ? kHalf : -kHalf, y = (corner & 2) != 0 ? kHalf : -kHalf;
      for (const Eigen::Index body : {i, i - 1}) {
        if (body < 0) continue;
        const double sign = body == i ? 1.0 : -1.0;
        const Eigen::Vector3d at(x, y, -sign * kHalf);
        for (int d = 0; d < 3; ++d) {
          const Eigen::Vector3d direction = Eigen::Vector3d::Unit((d + 2) % 3);
          const Eigen::Index row = 12 * i + 3 * corner + d;
          J.block<1, 3>(row, 6 * body) += sign * direction.transpose();
          J.block<1, 3>(row, 6 * body + 3) += sign * at.cross(direction).transpose();
        }
      }
    }
  }
  return problem_of(J, inverse_mass, v, mu);
}

/// A body of 1 kg on `count` feet in a circle, falling, shoved and turned.
Problem feet(int count, support::Random& random) {
  const Eigen::Vector3d inverse_inertia = Eigen::Vector3d::Constant(1.0 / (0.08 / 3.0));
  const double shove = std::array{0.1, 1.0, 3.0}[std::size_t(random.integer(3))];
  const double turn = std::array{0.0, 1.0, 5.0}[std::size_t(random.integer(3))];
  const Eigen::Vector3d v(shove * random.normal(), shove * random.normal(), -1.0);
  const Eigen::Vector3d omega = turn * Eigen::Vector3d(random.normal(), random.normal(), 0.5);
  Matrix J(3 * count, 6);
  for (int k = 0; k < count; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / count;
    const Eigen::Vector3d at(0.3 * std::cos(angle), 0.3 * std::sin(angle), -0.2);
    for (int d = 0; d < 3; ++d) {
      const Eigen::Vector3d direction = Eigen::Vector3d::Unit((d + 2) % 3);
      J.row(3 * k + d) << direction.transpose(), at.cross(direction).transpose();
    }
  }
  Vector inverse_mass(6), velocity(6);
  inverse_mass << 1.0, 1.0, 1.0, inverse_inertia;
  velocity << v, omega;
  return problem_of(J, inverse_mass, velocity, random.uniform(0.2, 1.2));
}

Vector solve_one(const Problem& p, const SolveOptions& options, const Vector& start = {},
                 double* residual = nullptr) {
  auto batch = support::to_batch<double>(std::vector{p});
  for (Eigen::Index i = 0; i < start.size(); ++i) batch.warm_start(0)[i] = start[i];
  const auto results = support::solve_batch(batch, options);
  if (residual != nullptr) {
    *residual = results.residual(0);
  } else {
    EXPECT_EQ(results.status(0), EnvStatus::solved);
  }
  return support::impulse_of(results, 0, reference::rows(p));
}

double difference(const Vector& a, const Vector& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / b.lpNorm<Eigen::Infinity>();
}

/// The solution of least norm in D = W_nn of each contact of dimension 3, of all rows with u = 0.
Vector least_norm(const Problem& p) {
  Vector root(p.b.size());
  for (Eigen::Index i = 0; i < root.size(); ++i) root[i] = std::sqrt(p.W(i - i % 3, i - i % 3));
  const Vector inverse = root.cwiseInverse();
  Eigen::CompleteOrthogonalDecomposition<Matrix> scaled(inverse.asDiagonal() * p.W *
                                                        inverse.asDiagonal());
  scaled.setThreshold(1e-9);
  return inverse.asDiagonal() * scaled.solve(inverse.asDiagonal() * -p.b);
}

constexpr std::array kLaws = {Law::coulomb, Law::pyramid, Law::convex, Law::frictionless};

TEST(Selection, four_feet_at_rest_carry_a_quarter_each_without_friction) {
  for (const Law law : kLaws) {
    for (const double mu : {0.1, 0.5, 2.0}) {
      SolveOptions options;
      options.law = law;
      const Vector r = solve_one(tower({8.0}, 0.002, mu), options);
      const double quarter = 8.0 * 9.81 * 0.002 / 4.0;
      for (Eigen::Index i = 0; i < r.size(); ++i) {
        EXPECT_NEAR(r[i], i % 3 == 0 ? quarter : 0.0, 1e-6 * quarter) << name(law) << mu;
      }
    }
  }
}

TEST(Selection, is_the_solution_of_least_norm_where_everything_sticks) {
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    const Problem p = support::make_scene(Family::stackrest, 4 * (1 + i % 3), i).problem;
    const Vector expected = least_norm(p), r = solve_one(p, {});
    bool sticks = true;
    for (Eigen::Index a = 0; a < r.size(); a += 3) {
      const double mu = p.mu[2 * (a / 3)];
      sticks = sticks && expected[a] > 0.0 && expected.segment<2>(a + 1).norm() < mu * expected[a];
    }
    if (!sticks) continue;
    ++compared;
    EXPECT_LT(difference(r, expected), 1e-5) << i;
  }
  EXPECT_GT(compared, 50);
}

TEST(Selection, does_not_depend_on_the_warm_start) {
  support::Random random(5);
  for (const Family family : {Family::boxrest, Family::stackrest, Family::stackheavy}) {
    for (int i = 0; i < 60; ++i) {
      const Problem p = support::make_scene(family, 4 + 4 * (i % 2), i).problem;
      const Vector r = solve_one(p, {});
      Vector skewed = r;
      for (double& x : skewed) x *= random.uniform(0.3, 1.7);
      EXPECT_LT(difference(solve_one(p, {}, r), r), 1e-5) << support::name(family) << i;
      EXPECT_LT(difference(solve_one(p, {}, skewed), r), 1e-5) << support::name(family) << i;
    }
  }
}

// The solution of sweeps has other shares of the load, often far from the selected one.
TEST(Selection, does_not_depend_on_the_solution_where_it_starts) {
  SolveOptions sweeps;
  sweeps.solver = Solver::pgs;
  sweeps.max_sweeps = 20000;
  int differ = 0;
  for (const Family family : {Family::box, Family::boxrest, Family::stack}) {
    for (int i = 0; i < 60; ++i) {
      const Problem p = support::make_scene(family, 8, i).problem;
      const Vector r = solve_one(p, {}), from_sweeps = solve_one(p, {}, solve_one(p, sweeps));
      const double change = (from_sweeps - r).lpNorm<Eigen::Infinity>();
      if (change > 1e-5 * r.lpNorm<Eigen::Infinity>()) ++differ;
    }
  }
  EXPECT_EQ(differ, 0);
}

TEST(Selection, of_feet_does_not_depend_on_the_solution_where_it_starts) {
  support::Random random(1);
  SolveOptions sweeps, options;
  sweeps.solver = Solver::pgs;
  sweeps.max_sweeps = 20000;
  for (const Law law : {Law::coulomb, Law::convex}) {
    options.law = sweeps.law = law;
    int differ = 0;
    for (int i = 0; i < 300; ++i) {
      const Problem p = feet(4 + 2 * (i % 3), random);
      const Vector r = solve_one(p, options);
      double residual = 0.0;  // some sweeps do not converge
      const Vector start = solve_one(p, sweeps, {}, &residual);
      if (difference(solve_one(p, options, start), r) > 1e-3) ++differ;
    }
    EXPECT_EQ(differ, 0) << name(law);
  }
}

// An iterate that a looser tolerance accepts is seen, and kept, by the search for a better one, to
// a factor of 2: along a descent, iterates are judged only near the tolerance.
TEST(BestImpulse, is_not_worse_for_a_tighter_tolerance) {
  for (const std::vector<double>& masses :
       {std::vector{1.0, 1e4, 1e8}, std::vector{1.0, 1e3, 1e6, 1e9}, std::vector{1.0, 1e7}}) {
    for (int i = 0; i < 10; ++i) {
      const Problem p = tower(masses, 0.01 * (1 + i), 0.5);
      double looser = std::numeric_limits<double>::infinity();
      for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
        double residual = 0.0;
        const SolveOptions options{.atol = tolerance, .rtol = tolerance, .thorough = i % 2 == 0};
        solve_one(p, options, {}, &residual);
        EXPECT_LE(residual, 2.0 * looser) << masses.size() << ' ' << i;
        looser = std::max(residual, tolerance);
      }
    }
  }
}

// The feet carry .0065, .0035, .0065, .0035 of .02: a solution, but not the one of stiff feet.
TEST(Selection, forgets_a_skewed_solution) {
  const Problem p = tower({1.0}, 0.002, 0.5);
  const Vector r = solve_one(p, {});
  Vector skewed = r;
  for (int k = 0; k < 4; ++k) skewed[3 * k] *= k == 0 || k == 3 ? 1.3 : 0.7;
  EXPECT_LT(reference::velocity(p, skewed).lpNorm<Eigen::Infinity>(), 1e-12) << "a solution too";
  EXPECT_LT(difference(solve_one(p, {}, skewed), r), 1e-6);
}

TEST(Selection, copies_of_a_contact_carry_half_each) {
  for (int i = 0; i < 30; ++i) {
    const Problem p = support::make_scene(Family::stackrest, 4, i).problem;
    Problem twice = p;
    const Eigen::Index n = p.b.size();
    twice.W = p.W.replicate(2, 2);
    twice.b = p.b.replicate(2, 1);
    twice.mu = p.mu.replicate(2, 1);
    twice.R = p.R.replicate(2, 1);
    twice.shape.n_contacts *= 2;
    twice.dims.insert(twice.dims.end(), p.dims.begin(), p.dims.end());
    const Vector once = solve_one(p, {}), both = solve_one(twice, {});
    EXPECT_LT(difference(2.0 * both.head(n), once), 1e-5) << i;
    EXPECT_LT(difference(2.0 * both.tail(n), once), 1e-5) << i;
  }
}

TEST(Selection, does_not_depend_on_the_order_of_contacts) {
  for (int i = 0; i < 30; ++i) {
    const Problem p = support::make_scene(Family::boxrest, 8, i).problem;
    const Eigen::Index n = p.b.size();
    Eigen::PermutationMatrix<Eigen::Dynamic> order(n), friction(p.mu.size());
    for (Eigen::Index r = 0; r < n; ++r) order.indices()[r] = int(n - 3 - r / 3 * 3 + r % 3);
    for (Eigen::Index r = 0; r < p.mu.size(); ++r)
      friction.indices()[r] = int(p.mu.size() - 2 - r / 2 * 2 + r % 2);
    Problem other = p;
    other.W = order * p.W * order.transpose();
    other.b = order * p.b;
    other.mu = friction * p.mu;
    other.R = order * p.R;
    EXPECT_LT(difference(order.transpose() * solve_one(other, {}), solve_one(p, {})), 1e-5) << i;
  }
}

// Total mass ratios up to 10^7. Velocities so small move nothing by 10 um in 5 s. Rounding of 10^6
// times W_nn may hide the tolerance, which the status then says; no guess replaces the impulse.
TEST(Selection, heavy_on_light_stands_still) {
  std::vector<double> eight;
  for (int i = 0; i < 8; ++i) eight.push_back(std::pow(10.0, i));
  for (const auto& masses :
       {eight, {1.0, 1e3, 1e6}, {1.0, 1e6}, {1e6, 1.0}, {1.0, 1e2, 1e4, 1e6}}) {
    for (const double h : {5e-4, 2e-3, 1e-2}) {
      for (const bool thorough : {false, true}) {
        SolveOptions options;
        options.thorough = thorough;
        const Problem p = tower(masses, h, 0.5);
        double reported = 0.0;
        const Vector r = solve_one(p, options, {}, &reported);
        EXPECT_LT(reported, 2e-6) << masses.size() << " bodies, h = " << h;
        EXPECT_LT(reference::velocity(p, r).lpNorm<Eigen::Infinity>(), 2e-6);
      }
    }
  }
}

// What is known is the answer: a tighter tolerance never gives a larger residual.
TEST(Selection, a_tighter_tolerance_never_gives_a_larger_residual) {
  for (int i = 0; i < 100; ++i) {
    const Problem p = support::make_scene(Family::stackheavy, 8, i).problem;
    double before = 1e9;
    for (const double tolerance : {1e-6, 1e-9, 1e-11, 1e-13, 1e-15}) {
      SolveOptions options;
      options.atol = options.rtol = tolerance;
      double residual = 0.0;
      solve_one(p, options, {}, &residual);
      EXPECT_LE(residual, std::max(before, 1e-11)) << i << " " << tolerance;
      before = std::min(before, residual);
    }
  }
}

}  // namespace
}  // namespace stickslip
