// A cube is thrown along the ground. With Coulomb's law, an NCP, it stays on the ground; with the
// relaxed law, a CCP, it first hops, then slides above it. Document 002 "Contact Dynamics";
// docs/gallery/sliding_cube.md.
//
// The cube translates: q = (phi, x, y), M = m 1 and J = 1, so that v = c, its velocity along
// (N, T1, T2). Semi-implicit Euler, M (c_{t+1} - c_t) = -m g dt e_N + lambda, then gives
//   c_bar_{t+1} = c_{t+1} + phi_t/dt e_N = W lambda + b,   W = 1/m,
//   b = c_t + (phi_t/dt - g dt) e_N.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

constexpr double g = 9.81, kTolerance = 1e-12;                   // m/s², m/s
constexpr double kMu[] = {0.2, 0.8}, kSpeed[] = {0.5, 2.0};      // 1, m/s
constexpr double kStep[] = {2e-3, 2e-2}, kMass[] = {0.1, 10.0};  // s, kg

const Vector3d e_N = Vector3d::UnitX();

struct Cube {
  double m, mu, dt;
  Vector3d c;  // initial
  double energy(Vector3d now, double phi) const { return m * (0.5 * now.squaredNorm() + g * phi); }
};

Cube vary_cube(int i) {
  const double speed = vary(i, 0, kSpeed[0], kSpeed[1]), angle = vary(i, 1, 0., 2. * M_PI);
  return {.m = vary_log(i, 2, kMass[0], kMass[1]),
          .mu = vary(i, 3, kMu[0], kMu[1]),
          .dt = vary_log(i, 4, kStep[0], kStep[1]),
          .c = {0., speed * std::cos(angle), speed * std::sin(angle)}};
}

/// Motion under one law: a row of a matrix is a cube, a column a time.
struct Slide {
  MatrixXd phi, c_T, c_N, lambda_N;  // m, norm in m/s, m/s, N s of the step to this time
  double unsolved = 0.;
  Largest turn = {}, growth = {};  // c_T x e|, m/s; of the energy, relative to the initial one
};

Slide slide(Law law, const std::vector<Cube>& cubes, int steps) {
  const int n = int(cubes.size());
  HostProblems<double> problems(n, 3, 1);
  HostResults<double> results(n, 3);
  Workspace workspace(3, 1);
  const MatrixXd zero = MatrixXd::Zero(n, steps + 1);
  Slide s{.phi = zero, .c_T = zero, .c_N = zero, .lambda_N = zero};
  std::vector<Vector3d> c;
  for (int i = 0; i < n; ++i) {
    problems.counts(i).n_contacts = 1;
    for (int k = 0; k < 3; ++k) problems.W(i)[4 * k] = 1. / cubes[i].m;
    problems.mu(i)[0] = problems.mu(i)[1] = cubes[i].mu;
    c.push_back(cubes[i].c);
    s.c_T(i, 0) = c[i].tail<2>().norm();
  }
  const SolveOptions options{.law = law, .atol = kTolerance, .rtol = kTolerance};
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      Eigen::Map<Vector3d>(problems.b(i)) =
          c[i] + (s.phi(i, t) / cubes[i].dt - g * cubes[i].dt) * e_N;
    solve(problems.view(), results.view(), options, workspace);
    for (int i = 0; i < n; ++i) {
      const Cube& cube = cubes[i];
      const double before = cube.energy(c[i], s.phi(i, t));
      const Eigen::Map<const Vector3d> lambda(results.impulse(i));
      c[i] += lambda / cube.m - g * cube.dt * e_N;
      s.phi(i, t + 1) = s.phi(i, t) + cube.dt * c[i][0];
      s.c_T(i, t + 1) = c[i].tail<2>().norm();
      s.c_N(i, t + 1) = c[i][0];
      s.lambda_N(i, t + 1) = lambda[0];
      s.unsolved += results.status(i) != EnvStatus::solved;
      s.turn(std::abs(c[i][1] * cube.c[2] - c[i][2] * cube.c[1]) / cube.c.norm());
      s.growth((cube.energy(c[i], s.phi(i, t + 1)) - before) / cube.energy(cube.c, 0.));
    }
  }
  return s;
}

/// Violations of the closed-form motion, m/s and m, and of the law, m.
struct Violation {
  Largest c_T, phi, law;
};

Violation compare(Law law, const std::vector<Cube>& cubes, const Slide& s) {
  Violation worst;
  const double relaxed = law == Law::convex;  // alpha
  for (int i = 0; i < int(cubes.size()); ++i) {
    const auto& [m, mu, dt, c] = cubes[i];
    double phi = 0., c_N = 0., c_T = c.norm();
    for (int t = 1; t < s.phi.cols(); ++t) {
      const double b_N = c_N + phi / dt - g * dt;
      double lambda_m = std::max(0., (relaxed * mu * c_T - b_N) / (1. + relaxed * mu * mu));
      if (mu * lambda_m >= c_T) lambda_m = std::max(0., -b_N);  // the cube sticks
      c_T = std::max(0., c_T - mu * lambda_m);
      c_N += lambda_m - g * dt;
      phi += dt * c_N;
      worst.c_T(std::abs(s.c_T(i, t) - c_T));
      worst.phi(std::abs(s.phi(i, t) - phi));
      // NCP: phi_{t+1} = 0. CCP: phi_{t+1} = dt mu ||c_T||, and not less without a contact force.
      const double gap = s.phi(i, t) - relaxed * dt * mu * s.c_T(i, t);
      worst.law(!relaxed || s.lambda_N(i, t) > 0. ? std::abs(gap) : std::max(0., -gap));
    }
  }
  return worst;
}

}  // namespace

Record sliding_cube(int variations) {
  std::vector<Cube> cubes;
  MatrixXd parameters(variations, 3);
  for (int i = 0; i < variations; ++i) {
    cubes.push_back(vary_cube(i));
    parameters.row(i) << cubes[i].m, cubes[i].mu, cubes[i].dt;
  }
  // The longest hop and the longest slide, with the shortest steps.
  const int steps = int((2. * kMu[1] + 1. / kMu[0]) * kSpeed[1] / g / kStep[0]);
  Record record;
  record.series.push_back(series("m, mu, dt", parameters));
  for (const Law law : {Law::coulomb, Law::convex}) {
    const bool ncp = law == Law::coulomb;
    const std::string name = ncp ? "NCP" : "CCP";
    const Slide s = slide(law, cubes, steps);
    const Violation worst = compare(law, cubes, s);
    record.checks.insert(
        record.checks.end(),
        {{name + ": steps not solved", s.unsolved, 0.},
         {name + (ncp ? ": height, m" : ": height against dt mu c_T, m"), worst.law, 2e-13},
         {name + ": speed against the closed form, m/s", worst.c_T, 5e-9},
         {name + ": height against the closed form, m", worst.phi, 1e-10},
         {name + ": velocity across the first one, m/s", s.turn, 5e-9},
         {name + ": energy won in a step, of the first", s.growth, 2e-10}});
    record.series.push_back(series(name + " phi", s.phi));
    record.series.push_back(series(name + " c_T", s.c_T));
    record.series.push_back(series(name + " c_N", s.c_N));
    record.series.push_back(series(name + " lambda_N", s.lambda_N));
    if (!ncp) record.numbers.emplace_back("CCP: highest hop, mm", 1e3 * s.phi.maxCoeff());
  }
  return record;
}

}  // namespace stickslip::gallery
