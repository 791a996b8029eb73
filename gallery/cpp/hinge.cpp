// A hinge with dry friction and a stop, and a hinge that is driven: box, nonneg and free rows of
// one joint. Document 001 "How LCPs are used in physics simulation"; docs/gallery/hinge.md.
#include <Eigen/Core>
#include <algorithm>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/linkage.hpp"
#include "gallery/cpp/support.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;
using enum rigid::Level;

/// A rod that falls from its angle with friction tau = kappa m g d, as far as theta >= -stop.
struct Rubbing {
  Rod rod;
  double kappa, stop;  // 1, rad
  rigid::System system() const {
    rigid::System system = rod.system();
    system.joints[0].friction = kappa * rod.m * g * rod.d;
    system.joints[0].lower = -stop;
    return system;
  }
  /// The angle of final rest. From rest at theta it swings until friction dissipates the energy,
  ///   cos(theta') - cos(theta) = kappa |theta' - theta|,
  /// or to the stop, and repeats this as long as gravity exceeds friction: |sin(theta)| > kappa.
  double rest() const {
    double theta = rod.angle;
    while (std::abs(std::sin(theta)) > kappa) {
      const double from = std::abs(theta);
      double least = -std::asin(kappa), most = from;  // beyond the lowest point
      for (int i = 0; i < 60; ++i) {
        const double to = (least + most) / 2.;
        (std::cos(to) - std::cos(from) > kappa * (from + to) ? least : most) = to;
      }
      theta = std::max(theta > 0. ? -least : least, -stop);
    }
    return theta;
  }
};

void add_rubbing(const std::vector<Rubbing>& rods, Kept& kept, Record& record) {
  const double dt = 0.01;
  const int n = int(rods.size()), steps = 800, every = 4;
  Run run(rods, velocity, dt, kept);
  MatrixXd theta(n, steps / every), found(n, 8);
  Largest beyond, statics, off, creep;
  double at_stop = 0.;
  for (int t = 0; t < steps; ++t) {
    run.step();
    for (int i = 0; i < n; ++i) {
      theta(i, t / every) = run.sim.coordinate(i, 0);
      beyond(-rods[i].stop - theta(i, t / every));
    }
  }
  for (int i = 0; i < n; ++i) {
    const auto& [rod, kappa, stop] = rods[i];
    const double now = run.sim.coordinate(i, 0), closed = rods[i].rest();
    creep(std::abs(now - theta(i, steps / every - 26)));
    at_stop += now < -stop + 1e-9;
    statics(now < -stop + 1e-9 ? 0. : std::abs(std::sin(now)) / kappa);
    off(std::abs(now - closed) / std::pow(rod.omega_0() * dt, 2));
    found.row(i) << rod.m, rod.L, rod.d, rod.angle, kappa, stop, now, closed;
  }
  record.checks.insert(record.checks.end(),
                       {{"friction: angle beyond the stop, rad", beyond, 1e-12},
                        {"friction: movement in the last second, rad", creep, 1e-10},
                        {"friction: m g d sin(theta) / tau at rest", statics, 1.},
                        {"friction: angle at rest, off / (omega_0 dt)^2", off, 1.}});
  record.numbers.emplace_back("friction: rods that rest at the stop", at_stop);
  record.series.push_back(series("theta", theta));
  record.series.push_back(series("m, L, d, theta_0, kappa, stop, rest, closed form", found));
}

/// C(q, t) = theta - f(t), with f(t) = A sin(nu t).
struct Driven {
  Rod rod;
  double A, nu;  // rad, rad/s
  rigid::Motion f(double t) const {
    return {A * std::sin(nu * t), A * nu * std::cos(nu * t), -A * nu * nu * std::sin(nu * t)};
  }
  rigid::System system() const {
    rigid::System system = rod.system();
    system.bodies[0].spin = {0., A * nu, 0.};
    system.bodies[0].velocity = {-A * nu * rod.d, 0., 0.};
    system.joints[0].drive = [self = *this](double t) { return self.f(t); };
    return system;
  }
  /// The torque that the motor must apply, and its largest possible value, in m g d.
  double torque(double t) const {
    return f(t).acceleration / std::pow(rod.omega_0(), 2) + std::sin(f(t).value);
  }
  double scale() const { return 1. + A * std::pow(nu / rod.omega_0(), 2); }
  double fastest() const { return rod.omega_0() + nu + A * nu; }  // 1/s
};

void add_driven(const std::vector<Driven>& rods, rigid::Level level, Kept& kept, Record& record) {
  const bool acc = level == acceleration;
  const double dt = acc ? 0.02 : 0.01;
  const int n = int(rods.size()), steps = acc ? 150 : 300;
  Run run(rods, level, dt, kept);
  MatrixXd torque(n, steps), closed(n, steps), C(n, steps);
  Largest angle, motor;
  for (int t = 0; t < steps; ++t) {
    run.step();
    for (int i = 0; i < n; ++i) {
      const Driven& r = rods[i];
      const double y = dt * r.fastest(), x = dt * std::abs(run.sim.bodies(i)[0].spin[1]);
      // Forces are those of the last stage, at the end; impulses act on the pose at the start.
      closed(i, t) = r.torque(run.sim.time() - (acc ? 0. : dt));
      torque(i, t) = run.sim.joint_impulse(i, 0).back() / (acc ? 1. : dt) / (r.rod.m * g * r.rod.d);
      C(i, t) = std::abs(run.sim.coordinate(i, 0) - r.f(run.sim.time()).value);
      angle(C(i, t) / (acc ? std::pow(y, 4) : std::pow(x, 3) / 12. + 1e-12));
      if (t > 1)  // the first impulses correct the initial velocities
        motor(std::abs(torque(i, t) - closed(i, t)) / r.scale() / std::pow(y, acc ? 3 : 2));
    }
  }
  const std::string name = acc ? "driven, acceleration: " : "driven, velocity: ";
  const std::string C_scale = acc ? "(Omega dt)^4" : "((theta' dt)^3 / 12)";
  record.checks.push_back({name + "C / " + C_scale, angle, 1.});
  record.checks.push_back({name + "torque, off / (Omega dt)^" + (acc ? "3" : "2"), motor, 1.});
  record.series.push_back(series(name + "torque", torque));
  record.series.push_back(series(name + "torque in closed form", closed));
  record.series.push_back(series(name + "C", C));
}

}  // namespace

Record hinge(int variations) {
  std::vector<Rubbing> rubbing;
  std::vector<Driven> driven;
  for (int i = 0; i < variations; ++i) {
    Rod rod = vary_rod(i);
    rubbing.push_back({rod, vary_log(i, 4, 0.1, 1.), vary(i, 5, 0.05, 0.8)});
    rod.angle = 0.;
    driven.push_back({rod, vary(i, 4, 0.2, 2.5), vary(i, 5, 1., 6.)});
  }
  Record record;
  Kept kept;
  add_rubbing(rubbing, kept, record);
  for (const auto level : {acceleration, velocity}) add_driven(driven, level, kept, record);
  kept.check(record);
  return record;
}

}  // namespace stickslip::gallery
