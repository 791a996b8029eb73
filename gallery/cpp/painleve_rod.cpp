// A rod slides with its tip on rough ground. Painlevé (1895): with large friction, the forces of
// rigid bodies have no solution, or two. Impulses always have one: the tip stops at once, an impact
// without collision. docs/gallery/painleve_rod.md.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using rigid::Vec3;

constexpr double g = 9.81, l = 0.5, dt = 1e-3;  // m/s², m (half length), s
constexpr int kSteps = 600;

/// A uniform rod inclined to the ground by the angle theta; its tip moves at -v.
struct Rod {
  double theta, mu, v, m;
};

Rod vary_rod(int i) {
  return {.theta = vary(i, 0, 0.1, M_PI / 2. - 0.05),
          .mu = vary(i, 1, 0.1, 3.),
          .v = vary(i, 2, 0.5, 2.),
          .m = vary_log(i, 3, 0.1, 10.)};
}

rigid::System system_of(const Rod& rod) {
  const double I = rod.m * l * l / 3., half = -rod.theta / 2.;  // rotates x towards z
  rigid::Body body{.mass = rod.m, .inertia = {0.01 * I, I, I}};
  body.pose = {{0., 0., l * std::sin(rod.theta)}, {std::cos(half), 0., std::sin(half), 0.}};
  body.velocity = {-rod.v, 0., 0.};
  rigid::System system{.bodies = {body}};
  for (const double end : {-l, l})
    system.contacts.push_back({.gap = rigid::point_on_plane({end, 0., 0.}), .mu = rod.mu});
  return system;
}

/// W of the tip, rows (n, t), from r = -l (cos, sin): W_nn = 1/m + r_t²/I, W_nt = -r_n r_t/I.
Matrix2d delassus(const Rod& rod) {
  const double c = std::cos(rod.theta), s = std::sin(rod.theta);
  Matrix2d W;
  W << 1. + 3. * c * c, -3. * s * c, -3. * s * c, 1. + 3. * s * s;
  return W / rod.m;
}

/// The paradox: with r_t = +mu r_n against the slip, u_n = b_n + p r_n and p is negative.
double slope(const Rod& rod) { return delassus(rod).row(0).dot(Vector2d(1., rod.mu)); }

/// The impulse of the first step, (n, t), by hand: the slip continues, or the tip stops.
Vector2d first_impulse(const Rod& rod) {
  const Matrix2d W = delassus(rod);
  const Vector2d b(-g * dt, -rod.v), sliding(1., rod.mu);
  const Vector2d r = -b[0] / slope(rod) * sliding;
  if (slope(rod) > 0. && (W * r + b)[1] < 0.) return r;
  return -W.inverse() * b;
}

}  // namespace

Record painleve_rod(int variations) {
  std::vector<Rod> rods;
  std::vector<rigid::System> systems;
  Eigen::MatrixXd parameters(variations, 4), impulses(variations, 2);
  for (int i = 0; i < variations; ++i) {
    rods.push_back(vary_rod(i));
    systems.push_back(system_of(rods[i]));
    parameters.row(i) << rods[i].theta, rods[i].mu, rods[i].v, rods[i].m;
  }
  rigid::Sim sim(systems, {.time_step = dt, .solve = {.atol = 1e-12, .rtol = 1e-12}});
  Eigen::MatrixXd angle(variations, kSteps + 1), tip = angle, energy = angle;
  Largest impulse, outside, growth, penetration, apart;
  double unsolved = 0., stopped = 0., misjudged = 0.;
  const auto keep = [&](int i, int step) {
    const auto& [s, x, y, z] = sim.bodies(i)[0].pose.rotation;
    const auto at = sim.bodies(i)[0].pose.position;
    angle(i, step) = -2. * std::atan2(y, s);
    tip(i, step) = at[0] - l * std::cos(angle(i, step));
    const rigid::Energy now = sim.energy(i);
    energy(i, step) = (now.kinetic + now.potential - now.correction) / rods[i].m;
    if (step > 0) growth(energy(i, step) - energy(i, step - 1));
    outside(std::abs(at[1]) + std::abs(x) + std::abs(z));
  };
  for (int i = 0; i < variations; ++i) keep(i, 0);
  for (int step = 1; step <= kSteps; ++step) {
    sim.step();
    for (int i = 0; i < variations; ++i) {
      keep(i, step);
      unsolved += sim.status(i) != EnvStatus::solved;
      penetration(sim.penetration(i));
      if (step > 1) continue;
      const Vec3 r = sim.contact_impulse(i, 0), t1 = sim.contact_frame(i, 0)[1],
                 t2 = sim.contact_frame(i, 0)[2];
      const Vector2d expected = first_impulse(rods[i]) / rods[i].m;
      impulses.row(i) << r[0] / rods[i].m, (r[1] * t1[0] + r[2] * t2[0]) / rods[i].m;
      const double p = rods[i].m * slope(rods[i]);
      impulse((impulses.row(i).transpose() - expected).norm() * std::min(1., std::abs(p)));
      // An impact's impulse is 3/4 v sin cos > 0.08 v; that of sliding is g dt / p.
      const bool stops = impulses(i, 0) > 0.05 * rods[i].v;
      stopped += stops;
      misjudged += (p < 0. && !stops) || (p > 0.5 && stops);
    }
  }
  Record record;
  record.checks = {
      {"steps not solved", unsolved, 0.},
      {"first impulse against the closed form, times m abs(p) below 1, m/s", impulse, 1e-11},
      {"rods that slide on although p < 0, or stop although p > 1/2", misjudged, 0.},
      {"energy won in a step beyond the work of gap corrections, J/kg", growth, 1e-11},
      {"penetration, m", penetration, 4e-7},
      {"motion out of the plane, m or 1", outside, 1e-12}};
  record.numbers = {{"rods whose tip stops at once", stopped}};
  record.series = {series("theta, mu, v, m", parameters), series("first impulse", impulses),
                   series("angle", angle), series("tip", tip), series("energy", energy)};
  return record;
}

}  // namespace stickslip::gallery
