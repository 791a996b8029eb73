// A ball is thrown along a plane with backspin and sidespin: it slides on a parabola, then rolls on
// a straight line, backwards if it spun fast. Coriolis 1835; docs/gallery/backspin_ball.md.
//
// With I = kappa m r², the slip s = v - r omega x e_z of the lowest point follows from friction F
// by
//   m v' = F,   I omega' = -r e_z x F,   s' = (1 + 1/kappa) F/m,   F = -mu m g s/|s|.
// So s keeps its direction, and ends at the time t_r = |s_0| / (mu g (1 + 1/kappa)):
//   v(t) = v_0 - mu g min(t, t_r) s_0/|s_0|,   v_f = v_0 - kappa/(1 + kappa) s_0.
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

constexpr double g = 9.81, kappa = 0.4, h = 2e-3;                // m/s², 1 (solid ball), s
constexpr double kSpeed[] = {0.5, 2.}, kSpin[] = {0., 8.};       // v and r omega, m/s
constexpr double kSide = 3., kMu[] = {0.2, 0.6};                 // r omega, m/s; 1
constexpr double kMass[] = {0.1, 10.}, kRadius[] = {0.02, 0.2};  // kg, m
const Vector3d e_z = Vector3d::UnitZ();

struct Ball {
  double m, r, mu;
  Vector3d v, omega;

  Vector3d slip() const { return v - r * omega.cross(e_z); }
  double rolls_at() const { return slip().norm() / (mu * g * (1. + 1. / kappa)); }
  Vector3d position_at(double t) const {
    const double sliding = std::min(t, rolls_at());
    return r * e_z + t * v - mu * g * sliding * (t - 0.5 * sliding) * slip().normalized();
  }
  Ball at(double t) const {
    const Vector3d now = v - mu * g * std::min(t, rolls_at()) * slip().normalized();
    return {m, r, mu, now, omega - e_z.cross(now - v) / (kappa * r)};
  }
  double energy() const { return 0.5 * m * (v.squaredNorm() + kappa * (r * omega).squaredNorm()); }
  rigid::System system() const {
    const double inertia = kappa * m * r * r;
    return {.bodies = {{.mass = m,
                        .inertia = {inertia, inertia, inertia},
                        .pose = {.position = {0., 0., r}},
                        .velocity = array(v),
                        .spin = array(omega)}},
            .contacts = {{.gap = rigid::ball_on_plane(r), .mu = mu}},
            .gravity = {0., 0., -g}};
  }
};

Ball vary_ball(int i) {
  const double r = vary_log(i, 0, kRadius[0], kRadius[1]);
  return {.m = vary_log(i, 1, kMass[0], kMass[1]),
          .r = r,
          .mu = vary(i, 2, kMu[0], kMu[1]),
          .v = {vary(i, 3, kSpeed[0], kSpeed[1]), 0., 0.},
          .omega = {vary(i, 4, -kSide, kSide) / r, -vary(i, 5, kSpin[0], kSpin[1]) / r, 0.}};
}

/// Motion of the balls: a row of a matrix is a ball, a column a time.
struct Throw {
  MatrixXd x, y, v_x, energy;  // m, m, m/s, of the first value
  Eigen::VectorXd rolls_at;    // s
  double unsolved = 0.;
  Largest height = {}, v = {}, omega = {}, place = {}, work = {}, growth = {};

  /// Records ball `i` after step `k` and compares it with the closed form.
  void note(const Ball& first, const rigid::Sim& sim, int i, int k) {
    const rigid::Body& body = sim.bodies(i)[0];
    const Ball now{first.m, first.r, first.mu, vec(body.velocity), vec(body.spin)};
    const Ball expected = first.at(k * h);
    const Vector3d position = vec(body.pose.position);
    x(i, k) = position[0];
    y(i, k) = position[1];
    v_x(i, k) = now.v[0];
    energy(i, k) = now.energy() / first.energy();
    unsolved += k > 0 && sim.status(i) != EnvStatus::solved;
    height(std::abs(position[2] - first.r));
    v((now.v - expected.v).norm());
    omega(first.r * (now.omega - expected.omega).norm());
    const double lost = kappa / (1. + kappa) * first.slip().norm();  // |v_f - v_0|
    place((position - first.position_at(k * h)).norm() / (0.5 * h * lost));
    work(std::abs(energy(i, k) - expected.energy() / first.energy()));
    if (k > 0) growth(energy(i, k) - energy(i, k - 1));
    if (now.slip().norm() > 1e-8) rolls_at[i] = (k + 1) * h;
  }
};

}  // namespace

Record backspin_ball(int variations) {
  std::vector<Ball> balls;
  std::vector<rigid::System> systems;
  MatrixXd parameters(variations, 4);
  for (int i = 0; i < variations; ++i) {
    const Ball ball = vary_ball(i);
    parameters.row(i) << ball.v[0], -ball.r * ball.omega[1], ball.mu, ball.rolls_at();
    balls.push_back(ball);
    systems.push_back(ball.system());
  }
  rigid::SimOptions options{.time_step = h};
  options.solve.atol = options.solve.rtol = 1e-12;
  rigid::Sim sim(std::move(systems), options);
  const int steps = 20 + int(parameters.col(3).maxCoeff() / h);
  const MatrixXd zero = MatrixXd::Zero(variations, steps + 1);
  Throw all{.x = zero, .y = zero, .v_x = zero, .energy = zero, .rolls_at = zero.col(0)};
  for (int k = 0; k <= steps; ++k) {
    if (k > 0) sim.step();
    for (int i = 0; i < variations; ++i) all.note(balls[i], sim, i, k);
  }
  const auto late = (all.rolls_at - parameters.col(3)).array() / h;
  return {.checks = {{"steps not solved", all.unsolved, 0.},
                     {"height of the lowest point, m", all.height, 1e-13},
                     {"v against the closed form, m/s", all.v, 1e-8},
                     {"r omega against the closed form, m/s", all.omega, 1e-8},
                     {"place against the closed form, of h (v_0 - v_f)/2", all.place, 1. + 1e-6},
                     {"energy against the closed form, of the first", all.work, 1e-8},
                     {"energy won in a step, of the first", all.growth, 2e-11},
                     {"rolls later than t_r, steps", late.maxCoeff(), 1. + 1e-6},
                     {"rolls earlier than t_r, steps", -late.minCoeff(), 1e-6}},
          .numbers = {{"balls that come back", (all.v_x.col(steps).array() < 0.).count()},
                      {"longest slide, s", all.rolls_at.maxCoeff()}},
          .series = {series("v_x, r omega, mu, t_r", parameters), series("x", all.x),
                     series("y", all.y), series("v", all.v_x), series("energy", all.energy),
                     series("rolls at", all.rolls_at)}};
}

}  // namespace stickslip::gallery
