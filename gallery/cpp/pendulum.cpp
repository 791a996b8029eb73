// Rods swing from a hinge, in maximal coordinates: q = (x, Q), u = (v, omega), and the hinge is
// five rows C(q) = 0, imposed on accelerations or on velocities. Document 001 "How LCPs are used in
// physics simulation"; docs/gallery/pendulum.md.
#include <Eigen/Core>
#include <algorithm>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/linkage.hpp"
#include "gallery/cpp/support.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::ArrayXd;
using Eigen::MatrixXd;
using enum rigid::Level;

constexpr double kSwing = 2.5;  // s

/// The motion in closed form from rest at `angle`, as a clock of any state:
///   sin(theta/2) = kappa sin(phi),  theta'/(2 omega_0) = kappa cos(phi),
///   kappa = k,  F(phi, k) = omega_0 t + K(k).
struct Clock {
  double late;  // time error of the rod, early (-) or late, s
  double off;   // largest of omega_0 late and kappa / k - 1
  Clock(const Rod& rod, double theta, double rate, double t) {
    const double y = std::sin(theta / 2.), x = rate / (2. * rod.omega_0()), T = rod.period();
    late = std::remainder(t + T / 4. - std::ellint_1(rod.k(), std::atan2(y, x)) / rod.omega_0(), T);
    off = std::max(std::abs(rod.omega_0() * late), std::abs(std::hypot(y, x) / rod.k() - 1.));
  }
};

struct Swing {
  MatrixXd theta;       // row: rod, column: step
  ArrayXd off, period;  // error: largest of the state; of the period, relative
};

Swing swing(const std::vector<Rod>& rods, rigid::Level level, double dt, Kept& kept) {
  const int n = int(rods.size()), steps = int(std::lround(kSwing / dt));
  Run run(rods, level, dt, kept);
  Swing s{MatrixXd(n, steps + 1), ArrayXd::Zero(n), ArrayXd::Constant(n, std::nan(""))};
  ArrayXd late = ArrayXd::Zero(n), first = ArrayXd::Zero(n);
  std::vector<int> passes(n);
  for (int i = 0; i < n; ++i) s.theta(i, 0) = rods[i].angle;
  for (int t = 1; t <= steps; ++t) {
    run.step();
    for (int i = 0; i < n; ++i) {
      const double theta = run.sim.coordinate(i, 0), before = s.theta(i, t - 1);
      const Clock now(rods[i], theta, run.sim.bodies(i)[0].spin[1], run.sim.time());
      if (before * theta < 0. && ++passes[i] <= 2) {  // twice through the lowest point: half of T
        const double then = (theta * late[i] - before * now.late) / (theta - before);
        if (passes[i] == 1) first[i] = then;
        if (passes[i] == 2) s.period[i] = 2. * (then - first[i]) / rods[i].period();
      }
      s.theta(i, t) = theta;
      s.off[i] = std::max(s.off[i], now.off);
      late[i] = now.late;
    }
  }
  return s;
}

double median(ArrayXd x) {
  if (x.isNaN().any()) return std::nan("");
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2.;
}

void add_swings(const std::vector<Rod>& rods, rigid::Level level, Kept& kept, Record& record) {
  const bool acc = level == acceleration;
  const double dt = acc ? 0.02 : 0.01;
  const int p = acc ? 4 : 1, p_T = acc ? 4 : 2;
  const Swing coarse = swing(rods, level, dt, kept), fine = swing(rods, level, dt / 2., kept);
  ArrayXd step(rods.size());
  Largest error;
  for (int i = 0; i < step.size(); ++i) {
    step[i] = rods[i].omega_0() * dt;
    error(std::abs(coarse.period[i]) / std::pow(step[i], p_T));
  }
  const std::string name = acc ? "acceleration level: " : "velocity level: ";
  record.checks.insert(
      record.checks.end(),
      {{name + "order of the motion, off " + std::to_string(p),
        std::abs(median((coarse.off / fine.off).log2()) - p), 0.1},
       {name + "order of the period, off " + std::to_string(p_T),
        std::abs(median((coarse.period / fine.period).abs().log2()) - p_T), 0.1},
       {name + "error of the period / (omega_0 dt)^" + std::to_string(p_T), error, 1.}});
  MatrixXd errors(rods.size(), 5);
  errors << step, coarse.period, fine.period, coarse.off, fine.off;
  record.series.push_back(series(name + "omega_0 dt, errors", errors));
  record.series.push_back(series(name + "theta", coarse.theta));
}

}  // namespace

Record pendulum(int variations) {
  std::vector<Rod> rods;
  MatrixXd parameters(variations, 6);
  for (int i = 0; i < variations; ++i) {
    const Rod& r = rods.emplace_back(vary_rod(i));
    parameters.row(i) << r.m, r.L, r.d, r.angle, r.period(), r.omega_0();
  }
  Record record;
  Kept kept;
  record.series.push_back(series("m, L, d, theta_0, T, omega_0", parameters));
  for (const auto level : {acceleration, velocity}) add_swings(rods, level, kept, record);
  for (const auto level : {acceleration, velocity}) add_minute(rods, 25, level, kept, record);
  kept.check(record);
  return record;
}

}  // namespace stickslip::gallery
