// Limits in which laws agree: no friction, no compliance.
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using reference::Problem;
using reference::Vector;
using support::Family;

/// Velocities after the solve; skipped environments are left empty.
std::vector<Vector> velocities(const std::vector<Problem>& problems, Law law) {
  SolveOptions options;
  options.law = law;
  options.atol = options.rtol = 1e-11;
  const auto batch = support::to_batch<double>(problems);
  const auto results = support::solve_batch(batch, options);
  std::vector<Vector> out;
  int solved = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    const Problem& p = problems[std::size_t(env)];
    out.emplace_back();
    if (results.status(env) != EnvStatus::solved) continue;
    out.back() = reference::velocity(p, support::impulse_of(results, env, reference::rows(p)));
    ++solved;
  }
  EXPECT_GE(solved, 0.95 * batch.num_envs());
  return out;
}

double largest_difference(const std::vector<Vector>& a, const std::vector<Vector>& b) {
  double worst = 0.0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    if (a[e].size() == 0 || b[e].size() == 0) continue;
    worst = std::max(worst, (a[e] - b[e]).lpNorm<Eigen::Infinity>());
  }
  return worst;
}

class Limits : public testing::TestWithParam<Law> {
 protected:
  void SetUp() override {
    if (!supports(Solver::automatic, GetParam())) GTEST_SKIP() << "no solver for this law yet";
  }
  static std::vector<Problem> problems(double mu, double softness) {
    auto all = make_problems(Family::box, 4, support::test_count(40));
    for (auto& p : all) {
      if (mu >= 0.0) p.mu.setConstant(mu);
      p.R = softness * p.W.diagonal();
    }
    return all;
  }
};

// The velocity of the frictionless problem is unique (a strictly convex program in v).
TEST_P(Limits, without_friction_every_law_is_signorinis) {
  const auto smooth = velocities(problems(0.0, 0.0), Law::frictionless);
  EXPECT_LE(largest_difference(velocities(problems(0.0, 0.0), GetParam()), smooth), 1e-8);
}

TEST_P(Limits, friction_fades_with_its_coefficient) {
  const auto smooth = velocities(problems(0.0, 0.0), Law::frictionless);
  for (double mu : {1e-3, 1e-5, 1e-7}) {
    const double difference = largest_difference(velocities(problems(mu, 0.0), GetParam()), smooth);
    EXPECT_LE(difference, 100.0 * mu + 1e-8) << "mu = " << mu;
  }
}

TEST(Compliance, fades_with_its_size) {
  // With the convex law, whose velocity is unique.
  const auto rigid_problems = make_problems(Family::box, 4, support::test_count(40));
  const auto rigid = velocities(rigid_problems, Law::convex);
  for (double softness : {1e-3, 1e-5, 1e-7}) {
    auto soft_problems = rigid_problems;
    for (auto& p : soft_problems) p.R = softness * p.W.diagonal();
    const auto soft = velocities(soft_problems, Law::convex);
    EXPECT_LE(largest_difference(soft, rigid), 100.0 * softness + 1e-8) << softness;
  }
}

// For laws whose velocity is not unique: the compliant solution is wrong by at most R r. The
// natural map changes by as much as u on every row, including mu |u_t| in the normal one.
TEST_P(Limits, compliance_fades_with_its_size) {
  const double mu = 1.0;
  for (double softness : {1e-2, 1e-4, 1e-6}) {
    const auto soft = problems(mu, softness);
    SolveOptions options;
    options.law = GetParam();
    options.max_sweeps = 20000;  // the law `box` has no other solver
    const auto batch = support::to_batch<double>(soft);
    const auto results = support::solve_batch(batch, options);
    int solved = 0;
    for (int env = 0; env < batch.num_envs(); ++env) {
      if (results.status(env) != EnvStatus::solved) continue;
      ++solved;
      Problem rigid = soft[std::size_t(env)];
      const Vector r = support::impulse_of(results, env, reference::rows(rigid));
      const double change = 2.0 * (1.0 + mu) * rigid.R.cwiseProduct(r).lpNorm<Eigen::Infinity>();
      rigid.R.setZero();
      EXPECT_LE(reference::residual(rigid, r, options.law),
                (change + results.residual(env)) * (1.0 + softness) + 1e-12);
    }
    // Sweeps alone fail more often.
    EXPECT_GE(solved, 0.95 * batch.num_envs()) << softness;
  }
}

// With one contact and W_nt = 0, exact Coulomb and the associated law differ by the lift mu |u_t|.
TEST(Convex, lifts_a_sliding_contact_by_mu_times_its_speed) {
  Problem p;
  p.counts.n_contacts = 1;
  p.dims = {3};
  p.W = Vector{{1.0, 3.5, 3.5}}.asDiagonal();
  p.b = Vector{{-1.0, 9.0, 0.0}};
  p.mu = Vector{{0.3, 0.3}};
  p.R = Vector::Zero(3);
  p.lo = p.hi = Vector::Zero(0);
  const auto coulomb = velocities({p}, Law::coulomb);
  const auto convex = velocities({p}, Law::convex);
  EXPECT_NEAR(coulomb[0][0], 0.0, 1e-10);
  EXPECT_NEAR(convex[0][0], 0.3 * convex[0][1], 1e-10);
  EXPECT_GT(convex[0][0], 1.0);
}

INSTANTIATE_TEST_SUITE_P(laws, Limits, testing::ValuesIn(support::laws()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
