// Standard forms, Stewart and Trinkle's matrices and mixed NCPs against Eigen and the oracle.
#include "stickslip/formulation.hpp"

#include <gtest/gtest.h>

#include "stickslip/mncp.hpp"
#include "tests/reference/lcp.hpp"
#include "tests/support/count.hpp"
#include "tests/support/lcp_batch.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using reference::Vector;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using support::LcpKind;
using support::LcpProblems;

Matrix random_matrix(support::Random& random, int rows, int cols) {
  Matrix out(rows, cols);
  for (double& entry : out.reshaped()) entry = random.normal();
  return out;
}

/// Solutions of the standard problems.
HostLcpResults solve_standard(const StandardForm& form, const LcpOptions& options = {}) {
  HostLcpResults results(form.problem().num_envs(), form.problem().max_rows());
  solve_lcp(form.problem().view(), results.view(), options);
  return results;
}

/// A z of the mixed problem from the standard problem's solution.
Vector restored(const StandardForm& form, const HostLcpResults& results, int env) {
  const int envs = form.problem().num_envs(), n = form.max_free() + form.problem().max_rows();
  std::vector<double> z(std::size_t(envs * n));
  form.restore({results.z(0), form.problem().max_rows()}, {z.data(), n});
  return Eigen::Map<Vector>(&z[std::size_t(env * n)], form.n_free(env) + form.problem().rows(env));
}

TEST(StandardForm, of_mixed_problems_has_their_solutions) {
  const int count = support::test_count(300);
  const LcpProblems<double> problems(count, 24, LcpKind::mixed);
  const StandardForm form(problems.view());
  const HostLcpResults results = solve_standard(form);
  for (int env = 0; env < count; ++env) {
    const reference::Lcp mixed = reference::from_batch(problems.view(), 0.0, env);
    ASSERT_EQ(form.n_free(env), mixed.n_free);
    ASSERT_EQ(results.status(env), EnvStatus::solved) << env;
    const Vector z = restored(form, results, env);
    ASSERT_EQ(z.size(), mixed.q.size());
    const double size = (mixed.M.cwiseAbs() * z.cwiseAbs() + mixed.q.cwiseAbs()).maxCoeff();
    EXPECT_LE(reference::residual(mixed, z), results.residual(env) + 1e-12 * size) << env;
  }
}

/// a - B D^-1 r, F - B D^-1 C by Eigen's LU, for blocks without symmetry and of uneven units.
TEST(StandardForm, is_the_schur_complement) {
  support::Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const int f = 1 + random.integer(8), m = 1 + random.integer(10), n = f + m;
    Matrix M = random_matrix(random, n, n);
    Vector q = random_matrix(random, n, 1);
    Vector units(n);  // kg and kg m^2
    for (double& u : units) u = std::pow(10.0, random.uniform(-3.0, 3.0));
    M = units.asDiagonal() * M * units.asDiagonal();
    q = units.asDiagonal() * q;
    HostLcp mixed(1, n);
    mixed.n_free(0) = f;
    Eigen::Map<RowMajor>(mixed.M(0), n, n) = M;
    Eigen::Map<Vector>(mixed.q(0), n) = q;
    const StandardForm form(mixed.view());
    const auto D = M.topLeftCorner(f, f).fullPivLu();
    const Matrix T = -D.solve(M.topRightCorner(f, m));
    const Vector t = -D.solve(q.head(f));
    const Matrix A = M.bottomRightCorner(m, m) + M.bottomLeftCorner(m, f) * T;
    const Vector a = q.tail(m) + M.bottomLeftCorner(m, f) * t;
    const auto scaled = [&](const Matrix& found, const Matrix& expected, const Vector& left,
                            const Vector& right) {
      const Matrix error = left.asDiagonal() * (found - expected) * right.asDiagonal();
      const Matrix size = left.asDiagonal() * expected * right.asDiagonal();
      // In both eliminations, rounding is amplified by the condition of D in equal units.
      const Matrix even = units.head(f).cwiseInverse().asDiagonal() * M.topLeftCorner(f, f) *
                          units.head(f).cwiseInverse().asDiagonal();
      const auto values = even.jacobiSvd().singularValues();
      const double condition = values[0] / values[f - 1];
      EXPECT_LE(error.cwiseAbs().maxCoeff(),
                1e-14 * condition * (1.0 + size.cwiseAbs().maxCoeff()));
    };
    const Vector one = Vector::Ones(1), by_row = units.tail(m).cwiseInverse();
    const Vector free = units.head(f);
    scaled(Eigen::Map<const RowMajor>(form.problem().M(0), m, m), A, by_row, by_row);
    scaled(Eigen::Map<const Vector>(form.problem().q(0), m), a, by_row, one);
    scaled(Eigen::Map<const RowMajor>(form.T(0), f, m), T, free, by_row);
    scaled(Eigen::Map<const Vector>(form.t(0), f), t, free, one);
  }
}

/// Random articulated systems in contact, and the matrices for eq. 12 and 14.
struct Systems {
  static constexpr double kDt = 0.01;
  int count, nv = 12, contacts = 3, directions;
  std::vector<double> M, tau, J, mu;
  std::vector<std::int32_t> n_contacts;
  ContactColumns columns;
  ContactSystems view;

  Systems(int envs, int d, bool scaled) : count(envs), directions(d) {
    support::Random random(17);
    for (int env = 0; env < count; ++env) {
      const Matrix G = random_matrix(random, nv, nv);
      const RowMajor mass = G * G.transpose() / nv + Matrix::Identity(nv, nv);
      M.insert(M.end(), mass.data(), mass.data() + mass.size());
      for (int k = 0; k < nv; ++k) tau.push_back(random.normal());
      for (int k = 0; k < 3 * contacts * nv; ++k) J.push_back(random.normal());
      for (int k = 0; k < contacts; ++k) mu.push_back(random.uniform(0.0, 1.0));
      n_contacts.push_back(random.integer(contacts + 1));
    }
    columns = contact_columns(count, nv, contacts, d, {J.data(), 3 * contacts * nv});
    view.num_envs = count;
    view.nv = nv;
    view.max_contacts = contacts;
    view.directions = d;
    view.dt = kDt;
    view.scaled = scaled;
    view.n_contacts = {n_contacts.data(), 1};
    view.M = {M.data(), nv * nv};
    view.tau = {tau.data(), nv};
    view.N = {columns.N.data(), nv * contacts};
    view.B = {columns.B.data(), nv * contacts * d};
    view.mu = {mu.data(), contacts};
  }
  Matrix mass(int env) const {
    return Eigen::Map<const RowMajor>(&M[std::size_t(env * nv * nv)], nv, nv);
  }
  Matrix jacobian(int env) const {
    return Eigen::Map<const RowMajor>(&J[std::size_t(env * 3 * contacts * nv)],
                                      3 * n_contacts[std::size_t(env)], nv);
  }
  Vector tau_star(int env) const {
    return Eigen::Map<const Vector>(&tau[std::size_t(env * nv)], nv);
  }
  /// (N, B) of the contacts in use.
  std::pair<Matrix, Matrix> blocks(int env) const {
    const int p = n_contacts[std::size_t(env)], d = directions;
    const Matrix rows = jacobian(env);
    Matrix N(nv, p), B(nv, p * d);
    for (int j = 0; j < p; ++j) {
      N.col(j) = rows.row(3 * j);
      for (int k = 0; k < d; ++k) {
        const double angle = 2.0 * EIGEN_PI * k / d;
        B.col(j * d + k) =
            std::cos(angle) * rows.row(3 * j + 1) + std::sin(angle) * rows.row(3 * j + 2);
      }
    }
    return {N, B};
  }
};

class StewartTrinkle : public testing::TestWithParam<int> {};

TEST_P(StewartTrinkle, reduced_is_equation_14) {
  const int d = GetParam();
  for (bool scaled : {false, true}) {
    const Systems systems(support::test_count(30), d, scaled);
    const StandardForm form(stewart_trinkle(systems.view).view());
    for (int env = 0; env < systems.count; ++env) {
      const auto [N, B] = systems.blocks(env);
      const int p = int(N.cols()), n = p * (d + 2);
      ASSERT_EQ(form.problem().rows(env), n);
      ASSERT_EQ(form.n_free(env), systems.nv);
      const double dt = Systems::kDt, s = scaled ? dt : 1.0;
      Matrix both(systems.nv, p + p * d);
      both << N, B;
      const auto inverse = systems.mass(env).llt();
      Matrix A = Matrix::Zero(n, n);
      A.topLeftCorner(p + p * d, p + p * d) = dt * both.transpose() * inverse.solve(both);
      for (int j = 0; j < p; ++j) {
        A(p + p * d + j, j) = s * systems.mu[std::size_t(env * systems.contacts + j)];
        A.block(p + j * d, p + p * d + j, d, 1).setConstant(s);
        A.block(p + p * d + j, p + j * d, 1, d).setConstant(-s);
      }
      Vector q = Vector::Zero(n);
      q.head(p + p * d) = both.transpose() * inverse.solve(systems.tau_star(env));
      const int ld = form.problem().max_rows();
      const Matrix found = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(
          form.problem().M(env), n, n, Eigen::OuterStride<>(ld));
      EXPECT_LE((found - A).cwiseAbs().sum(), 1e-12 * (1.0 + A.cwiseAbs().sum()));
      const Vector right = Eigen::Map<const Vector>(form.problem().q(env), n);
      EXPECT_LE((right - q).cwiseAbs().sum(), 1e-12 * (1.0 + q.cwiseAbs().sum()));
    }
  }
}

/// The forces are those of the law `pyramid`: judged by the oracle as impulses r = dt (f_n, D f_d).
TEST_P(StewartTrinkle, solutions_obey_the_law_pyramid_and_the_equation_of_motion) {
  const int d = GetParam();
  if (d == 2) return;  // planar: there is no such law
  for (bool scaled : {false, true}) {
    const Systems systems(support::test_count(100), d, scaled);
    const StandardForm form(stewart_trinkle(systems.view).view());
    const HostLcpResults results = solve_standard(form);
    for (int env = 0; env < systems.count; ++env) {
      ASSERT_EQ(results.status(env), EnvStatus::solved);
      const auto [N, B] = systems.blocks(env);
      const int p = int(N.cols()), nv = systems.nv;
      const Vector z = restored(form, results, env), qdot = z.head(nv);
      const Vector f_n = z.segment(nv, p), f_d = z.segment(nv + p, p * d);
      const Vector impulse = Systems::kDt * (N * f_n + B * f_d);
      EXPECT_LE((systems.mass(env) * qdot - systems.tau_star(env) - impulse).norm(), 1e-10);
      reference::Problem problem;
      problem.counts.n_contacts = p;
      problem.dims.assign(std::size_t(p), 3);
      problem.W = reference::delassus(systems.mass(env), systems.jacobian(env));
      problem.b = systems.jacobian(env) * systems.mass(env).llt().solve(systems.tau_star(env));
      problem.R = Vector::Zero(3 * p);
      problem.mu = Vector(2 * p);
      problem.directions = d;
      Vector r(3 * p);
      for (int j = 0; j < p; ++j) {
        problem.mu.segment(2 * j, 2).setConstant(
            systems.mu[std::size_t(env * systems.contacts + j)]);
        r[3 * j] = Systems::kDt * f_n[j];
        r.segment(3 * j + 1, 2).setZero();
        for (int k = 0; k < d; ++k) {
          const double angle = 2.0 * EIGEN_PI * k / d, f = Systems::kDt * f_d[j * d + k];
          r[3 * j + 1] += std::cos(angle) * f;
          r[3 * j + 2] += std::sin(angle) * f;
        }
      }
      EXPECT_LE(reference::residual(problem, r, Law::pyramid), 1e-7) << env;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, StewartTrinkle, testing::Values(2, 4, 8), [](const auto& info) {
  return std::to_string(info.param) + "_directions";
});

/// An LCP is an NCP whose map is affine: solved from the same start, judged by the same oracle.
TEST(Mncp, solves_linear_problems) {
  const int count = support::test_count(200);
  const LcpProblems<double> problems(count, 16, LcpKind::mixed, 5);
  std::vector<reference::Lcp> all;
  std::vector<std::int32_t> n_x, n_w;
  for (int env = 0; env < count; ++env) {
    all.push_back(reference::from_batch(problems.view(), 0.0, env));
    n_w.push_back(all.back().n_free);
    n_x.push_back(int(all.back().q.size()) - n_w.back());
  }
  MncpBatch p;
  p.num_envs = count;
  p.max_x = p.max_w = 16;
  p.n_x = {n_x.data(), 1};
  p.n_w = {n_w.data(), 1};
  p.map = [&](const MncpPoint& at) {
    const reference::Lcp& lcp = all[std::size_t(at.env)];
    Vector z(lcp.q.size());
    z << Eigen::Map<const Vector>(at.w, at.n_w), Eigen::Map<const Vector>(at.x, at.n_x);
    const Vector value = lcp.M * z + lcp.q;
    Eigen::Map<Vector>(at.z, at.n_w) = value.head(at.n_w);
    Eigen::Map<Vector>(at.y, at.n_x) = value.tail(at.n_x);
    if (at.jacobian == nullptr) return;
    Eigen::Map<RowMajor> J(at.jacobian, z.size(), z.size());
    J << lcp.M.bottomRightCorner(at.n_x, at.n_x), lcp.M.bottomLeftCorner(at.n_x, at.n_w),
        lcp.M.topRightCorner(at.n_w, at.n_x), lcp.M.topLeftCorner(at.n_w, at.n_w);
  };
  std::vector<double> x(std::size_t(count) * 16), w(x.size()), residual(x.size());
  std::vector<EnvStatus> status(x.size());
  std::vector<std::int32_t> iterations(x.size());
  solve_mncp(
      p, {{x.data(), 16}, {w.data(), 16}, {}, residual.data(), status.data(), iterations.data()});
  LcpOptions options;
  options.method = LcpMethod::newton;
  options.restarts = 0;
  const auto linear = support::solve_problems(problems.view(), options);
  int solved = 0, solved_as_lcp = 0;
  for (int env = 0; env < count; ++env) {
    const auto e = std::size_t(env);
    Vector z(all[e].q.size());
    z << Eigen::Map<const Vector>(&w[16 * e], n_w[e]), Eigen::Map<const Vector>(&x[16 * e], n_x[e]);
    EXPECT_NEAR(residual[e], reference::residual(all[e], z), 1e-12 * (1.0 + residual[e]));
    solved += status[e] == EnvStatus::solved ? 1 : 0;
    solved_as_lcp += linear.status[e] == EnvStatus::solved ? 1 : 0;
  }
  // The same method from the same start; with dependent joints, rounding decides the pivots.
  EXPECT_GE(solved, solved_as_lcp * 98 / 100);
  EXPECT_GE(solved_as_lcp, count * 9 / 10);
}

}  // namespace
}  // namespace stickslip
