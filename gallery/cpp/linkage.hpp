// Linkages of slender bars in the plane y = 0, in maximal coordinates: bodies, hinges, and the
// invariants that every step of all of them must satisfy.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gallery/cpp/support.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery {

inline constexpr double g = 9.81;  // m/s²

/// The solver's tolerance has no visible effect; m/s, at acceleration level m/s².
inline constexpr SolveOptions kTight = {.atol = 1e-11, .rtol = 1e-11};

inline constexpr double kAlpha = 10.;  // of Baumgarte's terms, 1/s

/// A point of the plane: `distance` from the origin in the direction of a bar at `angle`.
inline rigid::Vec3 along(double angle, double distance) {
  return {-distance * std::sin(angle), 0., -distance * std::cos(angle)};
}

/// A slender bar (kg, m) with one end at `top`: at angle 0 it hangs down; +angle rotates it about
/// y.
inline rigid::Body bar(double mass, double length, const rigid::Vec3& top, double angle) {
  const double I = mass * length * length / 12., r = length / 2.;
  return {.mass = mass,
          .inertia = {I, I, 1e-3 * I},
          .pose = {{top[0] - r * std::sin(angle), 0., top[2] - r * std::cos(angle)},
                   {std::cos(angle / 2.), 0., std::sin(angle / 2.), 0.}}};
}

/// A hinge about y between points on the axes of two bars, given as heights above their centres
/// (for the world: a point). Its coordinate is the angle of b relative to a.
inline rigid::Joint hinge_y(int a, const rigid::Vec3& at_a, int b, double height_b) {
  return {.kind = rigid::JointKind::hinge,
          .a = a,
          .b = b,
          .anchor_a = at_a,
          .anchor_b = {0., 0., height_b},
          .axis = {0., 1., 0.}};
}

/// A rod that swings from the origin.
struct Rod {
  double m, L, d, angle;  ///< kg; m; m, hinge to centre of mass; rad, initial
  double omega_0() const { return std::sqrt(g * d / (L * L / 12. + d * d)); }
  double k() const { return std::sin(angle / 2.); }
  double period() const { return 4. * std::comp_ellint_1(k()) / omega_0(); }
  rigid::System system() const {
    return {.bodies = {bar(m, L, along(angle, d - L / 2.), angle)},
            .joints = {hinge_y(rigid::kWorld, {}, 0, d)}};
  }
};

inline Rod vary_rod(int i) {
  const double L = vary(i, 0, 0.4, 1.1);
  return {.m = vary_log(i, 1, 0.1, 10.),
          .L = L,
          .d = L * vary(i, 2, 0.2, 0.5),
          .angle = vary(i, 3, 0.1, 2.6)};
}

inline double length_of(const rigid::Body& bar) {
  return std::sqrt(12. * bar.inertia[0] / bar.mass);
}

/// The worst values over all steps of all runs of an example.
struct Kept {
  double unsolved = 0.;                ///< steps
  Largest norm;                        ///< | ||Q|| - 1 |
  Largest plane;                       ///< motion out of the plane: x_y (m), Q_x, Q_z
  Largest C_velocity, C_acceleration;  ///< of the joints, divided by their bound
  Largest growth;  ///< velocity level: energy gained in a step, minus the correction's work

  void check(Record& record) const {
    record.checks.insert(
        record.checks.end(),
        {{"steps not solved", unsolved, 0.},
         {"norm of Q, off 1", norm, 1e-15},
         {"out of the plane: x_y, m, Q_x, Q_z", plane, 1e-12},
         {"acceleration level: C over its bound", C_acceleration, 1.},
         {"velocity level: C over its bound", C_velocity, 1.},
         {"velocity level: energy won beyond the correction's work, of m g L", growth, 1e-10}});
  }
};

/// Variants of a linkage that step in one batch, with checks.
class Run {
 public:
  template <class Variant>
  Run(const std::vector<Variant>& variants, rigid::Level level, double dt, Kept& kept)
      : sim(systems(variants),
            {.time_step = dt, .level = level, .stabilisation = kAlpha, .solve = kTight}),
        level_(level),
        dt_(dt),
        kept_(kept),
        fastest_(variants.size()),
        bound_(variants.size()) {
    for (int i = 0; i < sim.num_envs(); ++i) {
      energy.push_back(sim.energy(i));
      scale.push_back(0.);
      for (const rigid::Body& b : sim.bodies(i)) scale[i] += b.mass * g * length_of(b);
    }
  }

  void step() {
    sim.step();
    for (int i = 0; i < sim.num_envs(); ++i) {
      kept_.unsolved += sim.status(i) != EnvStatus::solved;
      for (const rigid::Body& b : sim.bodies(i)) {
        const auto& [s, x, y, z] = b.pose.rotation;
        kept_.norm(std::abs(std::sqrt(s * s + x * x + y * y + z * z) - 1.));
        kept_.plane(std::max({std::abs(b.pose.position[1]), std::abs(x), std::abs(z)}));
      }
      const bool velocity = level_ == rigid::Level::velocity;
      (velocity ? kept_.C_velocity : kept_.C_acceleration)(sim.drift(i) / next_bound(i));
      const rigid::Energy now = sim.energy(i), &old = energy[i];
      if (velocity)
        kept_.growth((now.kinetic - old.kinetic + now.potential - old.potential - now.correction +
                      old.correction) /
                     scale[i]);
      energy[i] = now;
    }
  }

  rigid::Sim sim;
  std::vector<rigid::Energy> energy = {};  ///< present
  std::vector<double> scale = {};          ///< sum m g L, J

 private:
  template <class Variant>
  static std::vector<rigid::System> systems(const std::vector<Variant>& variants) {
    std::vector<rigid::System> all;
    for (const Variant& variant : variants) all.push_back(variant.system());
    return all;
  }

  /// Upper bound of |C| after a step (docs/gallery/pendulum.md), m.
  double next_bound(int i) {
    double arms = 0., turned = 0., most = 0.;  // m; m; rad
    for (const rigid::Body& b : sim.bodies(i)) {
      const double r = length_of(b) / 2., angle = dt_ * std::abs(b.spin[1]);
      fastest_[i] = std::max(fastest_[i], std::sqrt(g / (2. * r)) + std::abs(b.spin[1]));
      arms += r;
      turned += angle * angle * r / 2.;
      most = std::max(most, angle);
    }
    bound_[i] = level_ == rigid::Level::velocity
                    ? turned + most * bound_[i] + 1e-11
                    : std::pow(dt_, 4) * std::pow(fastest_[i], 5) * arms / kAlpha;
    return bound_[i];
  }

  rigid::Level level_;
  double dt_;
  Kept& kept_;
  std::vector<double> fastest_, bound_;  // rad/s; m
};

/// Simulates at most `few` of the variants for a minute, in steps of 10 ms: the violations of their
/// hinges, and their energy.
template <class Variant>
void add_minute(std::vector<Variant> variants, std::size_t few, rigid::Level level, Kept& kept,
                Record& record) {
  constexpr int steps = 6000, every = 10;
  variants.resize(std::min(few, variants.size()));
  Run run(variants, level, 0.01, kept);
  const std::vector<rigid::Energy> first = run.energy;
  const int n = int(variants.size());
  Eigen::MatrixXd C = Eigen::MatrixXd::Zero(n, steps / every), energy = C, correction = C;
  for (int t = 0; t < steps; ++t) {
    run.step();
    for (int i = 0; i < n; ++i) {
      const rigid::Energy& now = run.energy[i];
      const double won = now.kinetic + now.potential - first[i].kinetic - first[i].potential;
      C(i, t / every) = std::max(C(i, t / every), run.sim.drift(i));
      energy(i, t / every) = won / run.scale[i];
      correction(i, t / every) = now.correction / run.scale[i];
    }
  }
  const std::string name =
      level == rigid::Level::acceleration ? "60 s, acceleration: " : "60 s, velocity: ";
  record.numbers.emplace_back(name + "largest C, m", C.maxCoeff());
  record.numbers.emplace_back(name + "most energy won, of m g L", energy.maxCoeff());
  record.numbers.emplace_back(name + "most energy lost, of m g L", -energy.minCoeff());
  record.series.push_back(series(name + "C", C));
  record.series.push_back(series(name + "energy", energy));
  record.series.push_back(series(name + "correction", correction));
}

}  // namespace stickslip::gallery
