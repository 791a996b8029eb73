// Results do not depend on the units of a problem.
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;

/// One metre is `length` new units, one kilogram `mass` of them; the second stays. Velocities are
/// length / s, impulses mass length / s, those of torsional and rolling rows 1 / s and
/// mass length^2 / s, whose friction coefficients are lengths.
struct Units {
  double mass = 1.0, length = 1.0;
};

/// The factor for an impulse of each row.
Vector impulse_factors(const Problem& p, const Units& units) {
  Vector factors = Vector::Constant(reference::rows(p), units.mass * units.length);
  Eigen::Index row = p.counts.n_free + p.counts.n_nonneg + p.counts.n_box;
  for (int dim : p.dims) {
    if (dim > 3) factors.segment(row + 3, dim - 3) *= units.length;
    row += dim;
  }
  return factors;
}

Problem rewrite(const Problem& problem, const Units& units) {
  Problem p = problem;
  const Vector impulse = impulse_factors(p, units);
  // Power, impulse times velocity, is mass length^2 on every row.
  const Vector velocity = (units.mass * units.length * units.length) * impulse.cwiseInverse();
  p.W = velocity.asDiagonal() * p.W * impulse.cwiseInverse().asDiagonal();
  p.b = velocity.cwiseProduct(p.b);
  p.R = velocity.cwiseProduct(p.R).cwiseQuotient(impulse);
  p.lo *= units.mass * units.length;
  p.hi *= units.mass * units.length;
  Eigen::Index at = 0;
  for (int dim : p.dims) {
    for (int j = 1; j < dim; ++j, ++at) {
      if (j > 2) p.mu[at] *= units.length;
    }
  }
  return p;
}

/// Whether the residual of every row is a velocity. Its unit is that of a contact's first
/// coefficient of friction (mathematics, §1): if that is a torsional one, radians per second.
bool is_a_velocity(const Problem& p) {
  Eigen::Index at = 0;
  for (int dim : p.dims) {
    if (p.mu.segment<2>(at).isZero() && !p.mu.segment(at, dim - 1).isZero()) return false;
    at += dim - 1;
  }
  return true;
}

/// Whether max|b|, which decides when Newton's iterates are judged, is a velocity too.
bool has_velocity_scale(const Problem& p) {
  Eigen::Index row = p.counts.n_free + p.counts.n_nonneg + p.counts.n_box;
  double velocity = p.b.head(row).size() == 0 ? 0.0 : p.b.head(row).lpNorm<Eigen::Infinity>();
  double turning = 0.0;
  for (int dim : p.dims) {
    velocity = std::max(velocity, p.b.segment<3>(row).lpNorm<Eigen::Infinity>());
    for (int j = 3; j < dim; ++j) turning = std::max(turning, std::abs(p.b[row + j]));
    row += dim;
  }
  return turning <= velocity;
}

/// Solves to an absolute tolerance, which is a velocity.
SolveOptions in_units(SolveOptions o, const Units& units) {
  o.atol = units.length * (o.precision == Precision::float32 ? 1e-5 : 1e-9);
  o.rtol = 0.0;
  return o;
}
HostResults<double> solve(const std::vector<Problem>& problems, const SolveOptions& options,
                          const Units& units) {
  std::vector<Problem> rewritten;
  for (const Problem& p : problems) rewritten.push_back(rewrite(p, units));
  return support::solve_batch(support::to_batch<double>(rewritten), in_units(options, units));
}

/// The problems whose velocities have one unit, solved in other units: the same bits.
void expect_the_same_steps(std::vector<Problem> all, const SolveOptions& options,
                           const std::vector<Units>& others) {
  std::erase_if(all, [](const Problem& p) { return !is_a_velocity(p) || !has_velocity_scale(p); });
  ASSERT_GE(int(all.size()), support::test_count(60) / 3);
  const auto before = solve(all, options, {});
  for (const Units& units : others) {
    const auto after = solve(all, options, units);
    for (int env = 0; env < int(all.size()); ++env) {
      SCOPED_TRACE(testing::Message() << "mass " << units.mass << ", length " << units.length
                                      << ", environment " << env);
      const Vector factors = impulse_factors(all[std::size_t(env)], units);
      EXPECT_EQ(before.status(env), after.status(env));
      EXPECT_EQ(before.iterations(env), after.iterations(env));
      EXPECT_EQ(units.length * before.residual(env), after.residual(env));
      for (Eigen::Index i = 0; i < factors.size(); ++i) {
        EXPECT_EQ(factors[i] * before.impulse(env)[i], after.impulse(env)[i]);
      }
    }
  }
}

/// Solutions in other units solve the problems as given. Returns how many there are.
int count_solutions(const std::vector<Problem>& all, const SolveOptions& options,
                    const Units& units) {
  const auto results = solve(all, options, units);
  int solved = 0;
  for (int env = 0; env < int(all.size()); ++env) {
    if (results.status(env) != EnvStatus::solved) continue;
    SCOPED_TRACE(testing::Message() << "mass " << units.mass << ", length " << units.length
                                    << ", environment " << env);
    ++solved;
    const Problem& p = all[std::size_t(env)];
    const Vector r = support::impulse_of(results, env, reference::rows(p))
                         .cwiseQuotient(impulse_factors(p, units));
    EXPECT_LE(reference::residual(p, r, options.law),
              in_units(options, {}).atol + 10.0 * support::rounding(p, r));
  }
  return solved;
}

class OtherUnits : public testing::TestWithParam<support::Case> {
 protected:
  std::vector<Problem> problems() const {
    return support::make_mixed_problems(support::test_count(60),
                                        support::kinds_for(GetParam().law));
  }
};

// Powers of two for lengths, of four for masses (blocks are scaled by square roots): the same bits.
TEST_P(OtherUnits, by_powers_of_two_take_the_same_steps) {
  expect_the_same_steps(problems(), GetParam().options(), {{1.0, 8.0}, {0.25, 2.0}, {16.0, 2.0}});
}

// Any other units: a solution of the rewritten problem solves the original one.
TEST_P(OtherUnits, of_any_size_have_the_same_solutions) {
  auto all = problems();
  std::erase_if(all, [](const Problem& p) { return !is_a_velocity(p); });
  for (const auto& p : support::make_problems(support::Family::cage, 4, 20)) all.push_back(p);
  for (const Units& units : {Units{2.0, 1.0}, Units{3.7, 0.3}, Units{1e-3, 100.0}}) {
    EXPECT_GE(count_solutions(all, GetParam().options(), units), 0.5 * double(all.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(all, OtherUnits, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

/// The law `pyramid` where it is solved as a mixed LCP: rows of every kind, or more directions.
class PyramidUnits : public testing::TestWithParam<Precision> {
 protected:
  SolveOptions options(int directions) const {
    return {.law = Law::pyramid, .precision = GetParam(), .directions = directions};
  }
};

TEST_P(PyramidUnits, by_powers_of_two_take_the_same_steps) {
  const auto all = support::make_mixed_problems(support::test_count(100));
  for (const int directions : {4, 8}) {
    expect_the_same_steps(all, options(directions),
                          {{2.0, 1.0}, {1.0, 8.0}, {0x1p40, 1.0}, {0x1p-40, 4.0}, {0x1p64, 1.0}});
  }
}

// The rotor of a drive, a ship: all are solved.
TEST_P(PyramidUnits, of_any_size_have_the_same_solutions) {
  auto all = support::make_mixed_problems(support::test_count(100));
  std::erase_if(all, [](const Problem& p) { return !is_a_velocity(p); });
  for (const double mass : {1e-9, 1e-3, 1e4, 1e6, 1e9, 1e12}) {
    const Units units{mass, 1.0};
    EXPECT_EQ(count_solutions(all, options(4), units), int(all.size())) << mass;
  }
}

INSTANTIATE_TEST_SUITE_P(all, PyramidUnits, testing::ValuesIn(support::precisions()),
                         [](const auto& info) { return name(info.param); });

}  // namespace
}  // namespace stickslip
