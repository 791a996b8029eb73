// A ball rolls on a table that turns uniformly: on a circle, with 2/7 of the table's angular
// velocity if it is solid. Weltner 1979; docs/gallery/turntable.md, which derives the bounds.
//
// In the plane as complex numbers: x place and v velocity of the ball, s = v - r omega x e_z - i
// Omega x the slip, F friction, I = kappa m r². Rolling is s = 0, and
//   m v' = F,   I omega' = -r e_z x F   give   v' = i w v,   w = kappa/(1 + kappa) Omega,
//   x(t) = x_0 + v_0 (e^{iwt} - 1)/(iw).
// Semi-implicit Euler with s = 0 at the end of each step makes of it, with q = 1 + i h w,
//   v_{k+1} = q v_k,   x_k = x_0 + v_0 (q^k - 1)/(iw).
// The table follows the angle Omega t: a joint constraint C(q, t) = 0 (document 001).
#include <algorithm>
#include <cmath>
#include <complex>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;

constexpr Complex i{0., 1.};
constexpr double h = 2e-3, g = 9.81;                               // s, m/s²
constexpr double kOmega[] = {8., 16.}, kKappa[] = {0.4, 2. / 3.};  // rad/s; solid ball to shell
constexpr double kSpeed[] = {0.1, 0.5}, kPlace = 0.3;              // m/s, m
constexpr double kMass[] = {0.1, 10.}, kRadius[] = {0.02, 0.2}, kMu[] = {0.4, 0.9};  // kg, m, 1

struct Ball {
  double m, r, kappa, mu, Omega;
  Complex x, v;

  double w(double turning) const { return kappa / (1. + kappa) * turning; }
  /// Spin of a table that turns by h Omega in a step: the kinematic map turns by 2 atan(h spin/2).
  double spin() const { return 2. / h * std::tan(0.5 * h * Omega); }
  Complex x_at(double t) const {
    return x + v * (std::exp(i * w(Omega) * t) - 1.) / (i * w(Omega));
  }
  Complex x_after(int k) const {
    const Complex q = 1. + i * h * w(spin());
    return x + v * (std::pow(q, k) - 1.) / (i * w(spin()));
  }
  /// Largest distance of these two: |q - e^{ihw}| <= (hw)²/2 in every step, and `spin` for Omega.
  double bound(int k) const {
    const double t = k * h, hw = h * w(spin());
    return std::abs(v) * t * 0.5 * (hw * std::pow(1. + hw * hw, 0.5 * k) + w(spin() - Omega) * t);
  }
  rigid::System system() const {
    const double inertia = kappa * m * r * r;
    const Complex slope = (v - i * spin() * x) / r;  // omega x e_z
    const rigid::Body table{.mass = 100., .inertia = {10., 10., 10.}, .spin = {0., 0., spin()}};
    const rigid::Body ball{.mass = m,
                           .inertia = {inertia, inertia, inertia},
                           .pose = {.position = {x.real(), x.imag(), r}},
                           .velocity = {v.real(), v.imag(), 0.},
                           .spin = {-slope.imag(), slope.real(), 0.}};
    rigid::Joint hinge = rigid::joint_at({table}, rigid::JointKind::hinge, rigid::kWorld, 0, {});
    hinge.drive = [turn = Omega, lead = h * (spin() - Omega)](double t) {
      return rigid::Motion{turn * t + lead, turn, 0.};
    };
    return {.bodies = {table, ball},
            .joints = {hinge},
            .contacts = {{.a = 0, .b = 1, .gap = rigid::ball_on_plane(r), .mu = mu}},
            .gravity = {0., 0., -g}};
  }
};

Ball vary_ball(int n) {
  return {.m = vary_log(n, 6, kMass[0], kMass[1]),
          .r = vary_log(n, 5, kRadius[0], kRadius[1]),
          .kappa = vary(n, 2, kKappa[0], kKappa[1]),
          .mu = vary(n, 7, kMu[0], kMu[1]),
          .Omega = vary(n, 4, kOmega[0], kOmega[1]),
          .x = {vary(n, 0, -kPlace, kPlace), vary(n, 1, -kPlace, kPlace)},
          .v = std::polar(vary(n, 3, kSpeed[0], kSpeed[1]), 0.)};
}

/// Motion of the balls: a row of a matrix is a ball, a column a time.
struct Orbits {
  MatrixXd x, y, error;    // m
  Eigen::VectorXd turned;  // by the velocity, rad
  double unsolved = 0.;
  Largest height = {}, table = {}, discrete = {}, circle = {};

  void note(const Ball& ball, const rigid::Sim& sim, int n, int k) {
    const rigid::Body& body = sim.bodies(n)[1];
    const auto& [px, py, pz] = body.pose.position;
    const Complex place{px, py};
    x(n, k) = px;
    y(n, k) = py;
    error(n, k) = std::abs(place - ball.x_at(k * h));
    unsolved += k > 0 && sim.status(n) != EnvStatus::solved;
    height(std::abs(pz - ball.r));
    table(std::abs(std::remainder(sim.coordinate(n, 0) - ball.Omega * k * h, 2. * M_PI)));
    discrete(std::abs(place - ball.x_after(k)));
    if (k > 0) circle(error(n, k) / ball.bound(k));
    const auto at = [&](int step) { return Complex{x(n, step), y(n, step)}; };
    if (k > 1) turned[n] += std::arg((place - at(k - 1)) / (at(k - 1) - at(k - 2)));
  }
};

}  // namespace

Record turntable(int variations) {
  std::vector<Ball> balls;
  std::vector<rigid::System> systems;
  MatrixXd parameters(variations, 2);
  for (int n = 0; n < variations; ++n) {
    balls.push_back(vary_ball(n));
    systems.push_back(balls[n].system());
    parameters.row(n) << balls[n].kappa, balls[n].Omega;
  }
  rigid::SimOptions options{.time_step = h};
  options.solve.atol = options.solve.rtol = 1e-12;
  rigid::Sim sim(std::move(systems), options);
  const int steps = int(2. * M_PI / (kKappa[0] / (1. + kKappa[0]) * kOmega[0]) / h) + 1;  // circle
  const MatrixXd zero = MatrixXd::Zero(variations, steps + 1);
  Orbits all{.x = zero, .y = zero, .error = zero, .turned = zero.col(0)};
  for (int k = 0; k <= steps; ++k) {
    if (k > 0) sim.step();
    for (int n = 0; n < variations; ++n) all.note(balls[n], sim, n, k);
  }
  // Ratio of the angular velocity to that of the table, and to its closed form.
  const Eigen::ArrayXd ratio = all.turned.array() / (h * (steps - 1)) / parameters.col(1).array();
  const Eigen::ArrayXd off = ratio * (1. + 1. / parameters.col(0).array()) - 1.;
  return {.checks = {{"steps not solved", all.unsolved, 0.},
                     {"height of the lowest point, m", all.height, 1e-13},
                     {"angle of the table against Omega t, rad", all.table, 1e-11},
                     {"place against the discrete closed form, m", all.discrete, 2e-8},
                     {"place against the circle, of the bound", all.circle, 1.},
                     {"w (1 + 1/kappa)/Omega - 1", off.abs().maxCoeff(),
                      std::pow(h * kOmega[1], 2) / 12.}},
          .numbers = {{"farthest from the circle, mm", 1e3 * all.error.maxCoeff()}},
          .series = {series("kappa, Omega", parameters), series("x", all.x), series("y", all.y),
                     series("error", all.error), series("w/Omega", ratio)}};
}

}  // namespace stickslip::gallery
