// Derivatives without W of mechanisms in sparse form: those by W.
#include "stickslip/stickslip.hpp"
#include "tests/support/count.hpp"
#include "tests/support/pile.hpp"

namespace stickslip {
namespace {

constexpr SolveOptions kOptions{.atol = 1e-11, .rtol = 1e-11};

using Vector = std::vector<double>;

struct Report {
  GradientStatus status{};
  double kink_distance = 0, inconsistency = 0;
  std::int32_t redundant = 0;
  GradientReport view() { return {&status, &kink_distance, &inconsistency, &redundant}; }
};

/// The derivatives of a loss.
struct Gradient {
  Vector b, R, mu, lo, hi;
  Report report;
  explicit Gradient(const support::Pile& pile) {
    for (Vector* each : {&b, &R, &mu, &lo, &hi}) each->assign(std::size_t(3 * pile.rows), -7.0);
  }
  GradientBatch<double> view() {
    GradientBatch<double> g;
    g.b = {b.data(), 0};
    g.R = {R.data(), 0};
    g.mu = {mu.data(), 0};
    g.lo = {lo.data(), 0};
    g.hi = {hi.data(), 0};
    g.report = report.view();
    return g;
  }
};

/// A solved pile; a loss of its velocities and of the motion that its impulses give, and a change
/// that the mechanism can make.
struct Case {
  support::Pile pile;
  Law law;
  Vector r, g_r, g_u, db, dmu, dhi, dlo;
  EnvStatus status{};
  double residual = 0;
  Workspace workspace;

  Case(int i, Law of)
      : pile(i, 3 + i % 14, 10 + 2 * (i % 30)),
        law(of),
        workspace(pile.rows, pile.counts.n_contacts, 1) {
    r.resize(std::size_t(pile.rows));
    ResultBatch<double> result;
    std::int32_t iterations = 0;
    result.impulse = {r.data(), 0};
    result.status = &status;
    result.residual = &residual;
    result.iterations = &iterations;
    solve(with_W(), result, options(), workspace);
    support::Random random(17 + std::uint64_t(i));
    const reference::Matrix J = pile.scene.J();
    const auto motion = [&] {
      reference::Vector v(J.cols());
      for (int k = 0; k < v.size(); ++k) v[k] = random.normal();
      const reference::Vector of_rows = J * v;
      return Vector(of_rows.data(), of_rows.data() + pile.rows);
    };
    g_r = motion();
    db = motion();
    g_u.resize(r.size());
    for (double& x : g_u) x = random.normal();
    for (std::size_t k = 0; k < pile.mu.size(); ++k) dmu.push_back(0.1 * random.normal());
    for (std::size_t k = 0; k < pile.hi.size(); ++k) dhi.push_back(0.1 * random.normal());
    for (const double x : dhi) dlo.push_back(-x);
  }
  SolveOptions options() const {
    SolveOptions o = kOptions;
    o.law = law;
    return o;
  }
  ProblemBatch<double> with_W() const {
    ProblemBatch<double> p = pile.problem();
    p.W = {pile.W.data(), 0};
    return p;
  }
  SolutionBatch<double> solution() const { return {{r.data(), 0}, &status}; }
  bool differentiate(bool sparse, Gradient& to) {
    const LossBatch<double> loss{{g_r.data(), 0}, {g_u.data(), 0}};
    if (sparse)
      return solve_vjp(pile.problem(), pile.mechanism(), solution(), loss, to.view(), options(),
                       workspace);
    solve_vjp(with_W(), solution(), loss, to.view(), options(), workspace);
    return true;
  }
  bool change(bool sparse, bool for_motion, Vector& dr, Vector& du, Report& report) {
    ChangeBatch<double> given;
    given.b = {db.data(), 0};
    given.mu = {dmu.data(), 0};
    given.lo = {dlo.data(), 0};
    given.hi = {dhi.data(), 0};
    dr.assign(r.size(), -7.0);
    du.assign(r.size(), -7.0);
    const SolutionChange<double> to{{dr.data(), 0}, {du.data(), 0}, report.view(), for_motion};
    if (sparse)
      return solve_jvp(pile.problem(), pile.mechanism(), solution(), given, to, options(),
                       workspace);
    solve_jvp(with_W(), solution(), given, to, options(), workspace);
    return true;
  }
};

/// max|a - b| / max|b|
double difference(const Vector& a, const Vector& b) {
  double most = 1e-3, off = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    most = std::max(most, std::abs(b[i]));
    off = std::max(off, std::abs(a[i] - b[i]));
  }
  return off / most;
}

bool usable(const Report& r) { return r.status == GradientStatus::valid; }

class SparseGradient : public testing::TestWithParam<Law> {};

TEST_P(SparseGradient, of_a_loss_is_that_by_W) {
  int compared = 0, redundant = 0;
  for (int i = 0; i < support::test_count(60); ++i) {
    Case c(i, GetParam());
    Gradient found(c.pile), expected(c.pile);
    if (!c.differentiate(true, found)) continue;
    c.differentiate(false, expected);
    EXPECT_EQ(usable(found.report), usable(expected.report)) << i;
    EXPECT_NEAR(found.report.kink_distance, expected.report.kink_distance,
                1e-6 * (1e-3 + expected.report.kink_distance))
        << i;
    redundant += found.report.redundant;
    if (!usable(found.report)) continue;
    EXPECT_EQ(found.report.redundant, expected.report.redundant) << i;
    ++compared;
    EXPECT_LT(difference(found.b, expected.b), 1e-6) << i;
    EXPECT_LT(difference(found.R, expected.R), 1e-6) << i;
    EXPECT_LT(difference(found.mu, expected.mu), 1e-6) << i;
    EXPECT_LT(difference(found.lo, expected.lo), 1e-6) << i;
    EXPECT_LT(difference(found.hi, expected.hi), 1e-6) << i;
  }
  EXPECT_GT(compared, support::test_count(60) / 4);
  EXPECT_GT(redundant, 0);
}

TEST_P(SparseGradient, of_a_change_is_that_by_W) {
  int compared = 0;
  for (int i = 0; i < support::test_count(60); ++i) {
    Case c(i, GetParam());
    for (const bool for_motion : {true, false}) {
      Vector dr, du, expected_dr, expected_du;
      Report found, expected;
      if (!c.change(true, for_motion, dr, du, found)) continue;
      c.change(false, for_motion, expected_dr, expected_du, expected);
      EXPECT_EQ(usable(found), usable(expected)) << i;
      if (!usable(found)) continue;
      EXPECT_EQ(found.redundant, expected.redundant) << i;
      ++compared;
      EXPECT_LT(difference(du, expected_du), 1e-6) << i;
      if (found.redundant) continue;
      EXPECT_LT(difference(dr, expected_dr), 1e-6) << i;
    }
  }
  EXPECT_GT(compared, support::test_count(60) / 4);
}

// <dL/dz, dz> = <dL/d(problem), d(problem)>
TEST_P(SparseGradient, of_a_loss_and_of_a_change_are_transposed) {
  int compared = 0;
  for (int i = 0; i < support::test_count(60); ++i) {
    Case c(i, GetParam());
    Gradient g(c.pile);
    Vector dr, du;
    Report report;
    if (!c.differentiate(true, g) || !c.change(true, true, dr, du, report)) continue;
    if (!usable(g.report) || !usable(report)) continue;
    ++compared;
    double by_solution = 0, by_problem = 0, size = 0;
    const auto add = [&](double& sum, const Vector& a, const Vector& b) {
      for (std::size_t k = 0; k < b.size(); ++k) {
        sum += a[k] * b[k];
        size += std::abs(a[k] * b[k]);
      }
    };
    add(by_solution, c.g_r, dr);
    add(by_solution, c.g_u, du);
    add(by_problem, g.b, c.db);
    add(by_problem, g.mu, c.dmu);
    add(by_problem, g.lo, c.dlo);
    add(by_problem, g.hi, c.dhi);
    EXPECT_NEAR(by_solution, by_problem, 1e-8 * size) << i;
  }
  EXPECT_GT(compared, support::test_count(60) / 4);
}

INSTANTIATE_TEST_SUITE_P(Laws, SparseGradient,
                         testing::Values(Law::coulomb, Law::convex, Law::box, Law::frictionless),
                         [](const auto& law) { return std::string(stickslip::name(law.param)); });

TEST(SparseGradientMisuse, names_the_argument) {
  Case c(0, Law::coulomb);
  Gradient g(c.pile);
  const auto message = [&](auto&& change) {
    GradientBatch<double> to = g.view();
    ProblemBatch<double> problem = c.pile.problem();
    change(problem, to);
    try {
      solve_vjp(problem, c.pile.mechanism(), c.solution(), {{}, {c.g_u.data(), 0}}, to, kOptions,
                c.workspace);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](auto&, auto& to) { to.b = {}; }).find("gradient.b"), 0u);
  EXPECT_EQ(message([&](auto&, auto& to) { to.W = {g.b.data(), 0}; }).find("gradient.W"), 0u);
  EXPECT_EQ(message([](auto& p, auto&) { p.num_envs = 2; }).find("problem.num_envs"), 0u);
}

}  // namespace
}  // namespace stickslip
