// A Grashof four-bar linkage, driven by its crank and free, in maximal coordinates: four hinges are
// twenty rows C(q) = 0, three of them redundant, on eighteen velocities. Document 001 "How LCPs are
// used in physics simulation"; docs/gallery/four_bar.md.
#include <Eigen/Core>
#include <complex>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/linkage.hpp"
#include "gallery/cpp/support.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;
using enum rigid::Level;
using Complex = std::complex<double>;

constexpr double kTime = 1.;  // s
constexpr int kTimes = 50;    // that are stored
constexpr int kFew = 50;      // variations that are repeated with half the step

/// Crank, coupler and rocker: angles phi (rad, from the vertical) and d phi / d theta.
struct Pose {
  double coupler, rocker, coupler_rate, rocker_rate;
};

/// Crank a and rocker c on a horizontal ground d, coupler b between them. The crank is the
/// shortest, and a + longest < the two others (Grashof): it can make full turns.
struct FourBar {
  double a, b, c, d, theta, rate;  // m; rad, rad/s: initial, of the crank
  double m_a, m_b, m_c;            // kg
  bool driven = false;

  /// The plane as complex numbers, 1 down and i to the left: a e^(i theta) + b e^(i beta) is the
  /// joint of coupler and rocker, d e^(-i pi/2) + c e^(i psi).
  Pose pose(double angle) const {
    const Complex D(0., -d), B = std::polar(a, angle), f = D - B;
    const double l = std::abs(f);
    const double beta = std::arg(f) - std::acos((l * l + b * b - c * c) / (2. * l * b));
    const double psi = std::arg(B + std::polar(b, beta) - D);
    return {beta, psi, -a * std::sin(angle - psi) / (b * std::sin(beta - psi)),
            -a * std::sin(angle - beta) / (c * std::sin(beta - psi))};
  }
  rigid::Motion crank(double t) const { return {theta + rate * t, rate, 0.}; }

  rigid::System system() const {
    const Pose p = pose(theta);
    const rigid::Vec3 D = {d, 0., 0.}, B = along(theta, a);
    rigid::System s = {
        .bodies = {bar(m_a, a, {}, theta), bar(m_b, b, B, p.coupler), bar(m_c, c, D, p.rocker)},
        .joints = {hinge_y(rigid::kWorld, {}, 0, a / 2.), hinge_y(0, {0., 0., -a / 2.}, 1, b / 2.),
                   hinge_y(1, {0., 0., -b / 2.}, 2, -c / 2.),
                   hinge_y(rigid::kWorld, D, 2, c / 2.)}};
    const auto move = [&](int body, double L, double angle, double spin, const rigid::Vec3& top) {
      const rigid::Vec3 r = along(angle + M_PI / 2., spin * L / 2.);
      s.bodies[body].velocity = {top[0] + r[0], 0., top[2] + r[2]};
      s.bodies[body].spin = {0., spin, 0.};
    };
    move(0, a, theta, rate, {});
    move(1, b, p.coupler, p.coupler_rate * rate, along(theta + M_PI / 2., rate * a));
    move(2, c, p.rocker, p.rocker_rate * rate, {});
    if (driven) s.joints[0].drive = [self = *this](double t) { return self.crank(t); };
    return s;
  }
};

FourBar vary_four_bar(int i) {
  const double d = vary(i, 0, 0.5, 1.), b = d * vary(i, 1, 0.6, 1.2), c = d * vary(i, 2, 0.6, 1.2);
  const double longest = std::max({b, c, d});
  return {.a = (b + c + d - 2. * longest) * vary(i, 3, 0.3, 0.8),
          .b = b,
          .c = c,
          .d = d,
          .theta = vary(i, 4, -M_PI, M_PI),
          .rate = vary(i, 5, -8., 8.),
          .m_a = 1.,
          .m_b = vary_log(i, 6, 0.2, 5.),
          .m_c = vary_log(i, 7, 0.2, 5.)};
}

void add_motion(const std::vector<FourBar>& all, rigid::Level level, double dt,
                const std::string& name, Kept& kept, Largest& off, Record& record) {
  const int n = int(all.size()), every = int(std::lround(kTime / dt / kTimes));
  Run run(all, level, dt, kept);
  MatrixXd theta(n, kTimes), psi(n, kTimes);
  for (int t = 0; t < kTimes * every; ++t) {
    run.step();
    for (int i = 0; i < n; ++i) {
      const FourBar& f = all[i];
      theta(i, t / every) = run.sim.coordinate(i, 0);
      psi(i, t / every) = run.sim.coordinate(i, 3);
      const Pose p = f.pose(f.driven ? f.crank(run.sim.time()).value : theta(i, t / every));
      // Gaps of up to sqrt(2) C in four hinges, and C in the crank's angle, turn the rocker.
      const double turned = std::abs(std::remainder(psi(i, t / every) - p.rocker, 2. * M_PI));
      off(turned * f.c * std::abs(std::sin(p.coupler - p.rocker)) /
          (7. * run.sim.drift(i) + 1e-12));
    }
  }
  record.series.push_back(series(name + "theta", theta));
  record.series.push_back(series(name + "psi", psi));
}

}  // namespace

Record four_bar(int variations) {
  std::vector<FourBar> all;
  MatrixXd parameters(variations, 9);
  for (int i = 0; i < variations; ++i) {
    const FourBar& f = all.emplace_back(vary_four_bar(i));
    parameters.row(i) << f.a, f.b, f.c, f.d, f.theta, f.rate, f.m_a, f.m_b, f.m_c;
  }
  const std::vector<FourBar> few(all.begin(), all.begin() + std::min(kFew, variations));
  Record record;
  Kept kept;
  Largest free, driven;
  record.series.push_back(series("a, b, c, d, theta, rate, m_a, m_b, m_c", parameters));
  add_motion(all, acceleration, 0.01, "acceleration, 10 ms: ", kept, free, record);
  for (const auto level : {acceleration, velocity}) {
    const std::string name = level == velocity ? "velocity, " : "acceleration, ";
    add_motion(few, level, 0.005, name + "5 ms: ", kept, free, record);
    add_motion(few, level, 0.0025, name + "2.5 ms: ", kept, free, record);
    add_minute(all, 10, level, kept, record);
  }
  for (FourBar& each : all) each.driven = true;
  add_motion(all, acceleration, 0.02, "driven, acceleration, 20 ms: ", kept, driven, record);
  add_motion(all, velocity, 0.01, "driven, velocity, 10 ms: ", kept, driven, record);
  record.checks = {{"free: rocker against the closed form, of what C allows", free, 1.},
                   {"driven: rocker against the closed form, of what C allows", driven, 1.}};
  kept.check(record);
  return record;
}

}  // namespace stickslip::gallery
