// Of many solutions the limit of stiff contacts: against the solution of least norm where
// everything sticks, and against what the law leaves open: warm starts, copies of contacts, the
// order of contacts.
#include "tests/property/redundant.hpp"
#include "tests/support/families.hpp"

namespace stickslip {
namespace {

using property::difference;
using property::feet;
using property::least_norm;
using property::solve_one;
using property::tower;
using reference::Problem;
using reference::Vector;
using support::Family;

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
    twice.counts.n_contacts *= 2;
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

/// The contacts `which` of dimension 3 alone.
Problem part_of(const Problem& p, const std::vector<int>& which) {
  Eigen::VectorXi rows(3 * Eigen::Index(which.size()));
  for (Eigen::Index i = 0; i < rows.size(); ++i)
    rows[i] = 3 * which[std::size_t(i / 3)] + int(i % 3);
  Problem part;
  part.W = p.W(rows, rows);
  part.b = p.b(rows);
  part.dims.assign(which.size(), 3);
  part.mu = Vector::Constant(2 * Eigen::Index(which.size()), p.mu[0]);
  return part;
}

// A body at rest on 16 feet whose gaps differ by what rounding makes. Compliance of 1e-4 closes
// them all; rigid, it stands on some of them.
TEST(Selection, is_that_of_the_contacts_that_close_where_others_are_as_near) {
  for (const double noise : {2e-8, 5e-8, 1e-7, 1e-6, 1e-5}) {  // m/s; the tolerance is 1e-9
    support::Random random(7);
    for (int i = 0; i < 20; ++i) {
      Problem p = feet(16, Vector::Unit(6, 2) * -0.025, 0.7);
      for (Eigen::Index a = 0; a < p.b.size(); a += 3) p.b[a] += noise * random.uniform();
      const Vector r = solve_one(p, {});
      std::vector<int> closed;
      for (int k = 0; k < 16; ++k)
        if (r[3 * k] > 1e-9 * r.maxCoeff()) closed.push_back(k);
      const Problem part = part_of(p, closed);
      Vector others(part.b.size());
      for (std::size_t k = 0; k < closed.size(); ++k)
        others.segment<3>(3 * Eigen::Index(k)) = r.segment<3>(3 * closed[k]);
      EXPECT_LT(difference(others, least_norm(part)), 2e-3) << noise << " " << i;
    }
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
