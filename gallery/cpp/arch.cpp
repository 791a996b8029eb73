// A semicircular arch of dry masonry is stable by friction and its shape alone: blocks, joints
// without mortar, exact Coulomb friction. docs/gallery/arch.md.
#include <Eigen/Dense>
#include <cmath>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using rigid::Vec3;

constexpr int kBlocks = 7;
constexpr double R = 1., depth = 0.4, density = 2000., dt = 0.01;  // m, m, kg/m³, s
// What collapses is falling after 1 s; of the stable arches (m) a few are simulated for 10 s.
constexpr int kSteps = 100, kLong = 1000, kWatched = 8;
constexpr double kStands = 1e-6;

/// Ratio of thickness to mean radius, and friction of all joints.
struct Arch {
  double t, mu;
};

Arch vary_arch(int i) { return {.t = vary(i, 0, 0.06, 0.25), .mu = vary(i, 1, 0.15, 1.)}; }

/// Radial direction at the angle phi above the ground; y is along the arch's depth.
Vector3d radial(double phi) { return {std::cos(phi), 0., std::sin(phi)}; }
Vector3d around(double phi) { return {-std::sin(phi), 0., std::cos(phi)}; }

/// Block i, a sector of a ring, with its centre of mass; its frame has z along the radius.
rigid::Body block(const Arch& arch, int i) {
  const double in = R - arch.t / 2., out = R + arch.t / 2., angle = M_PI / kBlocks;
  const double mass = density * depth * angle / 2. * (out * out - in * in);
  const double r = 2. / 3. * (std::pow(out, 3) - std::pow(in, 3)) / (out * out - in * in) *
                   std::sin(angle / 2.) / (angle / 2.);
  const double phi = (i + 0.5) * angle, turn = (M_PI / 2. - phi) / 2., width = r * angle;
  // About y the exact inertia of the sector; about the others, with no rotation, that of a box.
  rigid::Body body{.mass = mass,
                   .inertia = {mass * (depth * depth + arch.t * arch.t) / 12.,
                               mass * ((out * out + in * in) / 2. - r * r),
                               mass * (depth * depth + width * width) / 12.}};
  body.pose = {array(r * radial(phi)), {std::cos(turn), 0., std::sin(turn), 0.}};
  return body;
}

/// A world point or direction in a body's frame.
Vec3 in_frame(const rigid::System& system, int body, Vector3d v, bool point) {
  if (body == rigid::kWorld) return array(v);
  const auto& [x, Q] = system.bodies[body].pose;
  if (point) v -= Vector3d(x.data());
  return array(Quaterniond(Q[0], Q[1], Q[2], Q[3]).conjugate() * v);
}

rigid::System system_of(const Arch& arch) {
  rigid::System system;
  for (int i = 0; i < kBlocks; ++i) system.bodies.push_back(block(arch, i));
  // Joint j: the corners of block j's face against the face of block j - 1, or against the ground.
  for (int j = 0; j <= kBlocks; ++j) {
    const bool last = j == kBlocks;
    const double phi = M_PI * j / kBlocks;
    const int a = j == 0 || last ? rigid::kWorld : j - 1, b = last ? j - 1 : j;
    const Vector3d normal = last ? Vector3d::UnitZ() : around(phi);
    for (const double r : {R - arch.t / 2., R + arch.t / 2.})
      for (const double y : {-depth / 2., depth / 2.}) {
        const Vector3d corner = r * radial(phi) + y * Vector3d::UnitY();
        system.contacts.push_back({.a = a,
                                   .b = b,
                                   .gap = rigid::point_on_plane(in_frame(system, b, corner, true),
                                                                in_frame(system, a, corner, true),
                                                                in_frame(system, a, normal, false)),
                                   .mu = arch.mu});
      }
  }
  return system;
}

/// The distance by which the arch has moved since the start, m.
double moved(const rigid::Sim& sim, int env, const rigid::System& built) {
  double most = 0.;
  for (int i = 0; i < kBlocks; ++i)
    most = std::max(most, (Vector3d(sim.bodies(env)[i].pose.position.data()) -
                           Vector3d(built.bodies[i].pose.position.data()))
                              .norm());
  return most;
}

double weight(const rigid::System& system) {
  double mass = 0.;
  for (const rigid::Body& body : system.bodies) mass += body.mass;
  return 9.81 * mass;
}

/// A quantity that no step may increase: energy minus the work of gap corrections, J.
double balance(const rigid::Sim& sim, int env) {
  const rigid::Energy now = sim.energy(env);
  return now.kinetic + now.potential - now.correction;
}

}  // namespace

Record arch(int variations) {
  std::vector<rigid::System> systems;
  Eigen::MatrixXd parameters(variations, 2);
  for (int i = 0; i < variations; ++i) {
    const Arch arch = vary_arch(i);
    systems.push_back(system_of(arch));
    parameters.row(i) << arch.t, arch.mu;
  }
  rigid::Sim sim(systems, {.time_step = dt});
  Eigen::MatrixXd path(variations, kSteps), drift(kWatched, kLong);
  std::vector<rigid::System> standing;  // simulated for longer
  double unsolved = 0.;
  Largest growth;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> before;
    for (int i = 0; i < variations; ++i) before.push_back(balance(sim, i));
    sim.step();
    for (int i = 0; i < variations; ++i) {
      unsolved += sim.status(i) != EnvStatus::solved;
      path(i, step) = moved(sim, i, systems[i]);
      growth((balance(sim, i) - before[i]) / weight(systems[i]));
    }
  }
  double stand = 0.;
  for (int i = 0; i < variations; ++i) {
    if (path(i, kSteps - 1) > kStands) continue;
    ++stand;
    if (int(standing.size()) < kWatched) standing.push_back(systems[i]);
  }
  rigid::Sim watch(standing, {.time_step = dt});
  for (int step = 0; step < kLong; ++step) {
    watch.step();
    for (int i = 0; i < kWatched; ++i)
      drift(i, step) = i < watch.num_envs() ? moved(watch, i, standing[i]) : 0.;
  }
  Record record;
  record.checks = {{"share of steps not solved", unsolved / (variations * kSteps), 1e-4},
                   {"motion in 10 s of arches that stand, m", drift.maxCoeff(), 1e-8},
                   {"energy won in a step, over the weight, m", growth, 1e-8}};
  record.numbers = {{"arches that stand", stand}};
  record.series = {series("t, mu", parameters), series("moved", path), series("drift", drift)};
  return record;
}

}  // namespace stickslip::gallery
