// Batches of small mechanisms of rigid bodies in maximal coordinates: joints, trajectories to
// follow, limits, dry joint friction and contacts are rows of one contact problem per step
// (docs/mathematics.md §15; Newton-Euler and the kinematic map as in La Barbera's notes).
//
// World frame, SI units. The state of a body is its pose q = (x, Q) and velocity u = (v, omega).
#pragma once
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "stickslip/contact_model.hpp"
#include "stickslip/types.hpp"

namespace stickslip::gallery::rigid {

using Vec3 = std::array<double, 3>;
using Quat =
    std::array<double, 4>;  ///< (s, x, y, z), unit; turns a body's vectors into the world's

inline constexpr int kWorld = -1;  ///< as a body's index: the fixed world

struct Pose {
  Vec3 position = {};  ///< of the centre of mass, m
  Quat rotation = {1., 0., 0., 0.};
};

struct Body {
  double mass = 1.;             ///< kg
  Vec3 inertia = {1., 1., 1.};  ///< principal moments, about the axes of the body's frame, kg m²
  Pose pose = {};
  Vec3 velocity = {};  ///< of the centre of mass, m/s
  Vec3 spin = {};      ///< angular velocity, in the world frame, rad/s
  Vec3 force = {};     ///< on the centre of mass, in addition to gravity, N
  Vec3 torque = {};    ///< N m
};

/// A prescribed number and its first two time derivatives.
struct Motion {
  double value = 0., rate = 0., acceleration = 0.;
};
using Trajectory = std::function<Motion(double time)>;

/// The motion that a joint leaves free: rotation (ball), one angle (hinge), one displacement
/// (prismatic), nothing (fixed), everything except the distance of two points (distance).
enum class JointKind { ball, hinge, prismatic, fixed, distance };

/// Bilateral rows C(q, t) = 0 between body `a` (or the world) and body `b`. Loops and redundant
/// joints are allowed.
struct Joint {
  JointKind kind = JointKind::ball;
  int a = kWorld, b = 0;
  Vec3 anchor_a = {}, anchor_b = {};  ///< from the centre of mass, in the frames of a and b, m
  Vec3 axis = {0., 0., 1.};           ///< of hinge and prismatic, in the frame of a
  Quat relative = {1., 0., 0., 0.};   ///< b's frame in a's where the coordinate is 0
  double length = 0.;                 ///< of `distance`, m

  // The joint's coordinate: the angle of a hinge (rad, in (-pi, pi]) or the displacement of a
  // prismatic joint (m). Limits are nonneg rows, friction a box row.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double friction = 0.;  ///< largest dry friction, N m or N
  /// If given, the coordinate (of `distance`: the distance) follows it.
  Trajectory drive = {};
  /// If given, anchor_a moves by this, along the axes of a's frame.
  std::array<Trajectory, 3> path = {};
};

/// A joint through a point and along an axis of the world, in the current poses of the bodies.
/// Throws std::invalid_argument for bodies that do not exist.
Joint joint_at(const std::vector<Body>& bodies, JointKind kind, int a, int b, const Vec3& point,
               const Vec3& axis = {0., 0., 1.});

/// The distance of two surfaces: signed distance (m, negative in penetration), the nearest point
/// and the unit normal there, from a to b.
struct Gap {
  double distance = 0.;
  Vec3 point = {}, normal = {0., 0., 1.};
};

/// A contact that may close. The caller gives the list of candidates, which does not change, and
/// the function that returns the gap delta(s) of the bodies in any pose.
struct Contact {
  int a = kWorld, b = 0;
  std::function<Gap(const Pose& a, const Pose& b)> gap = {};
  double mu = 0.;  ///< Coulomb's coefficient; 0: a frictionless row
};

/// Point `point` of b (from the centre of mass, in b's frame) against the half space of a below the
/// plane through `origin` with unit normal `normal` (in a's frame).
std::function<Gap(const Pose&, const Pose&)> point_on_plane(const Vec3& point,
                                                            const Vec3& origin = {},
                                                            const Vec3& normal = {0., 0., 1.});
/// A ball around b's centre of mass against such a half space.
std::function<Gap(const Pose&, const Pose&)> ball_on_plane(double radius, const Vec3& origin = {},
                                                           const Vec3& normal = {0., 0., 1.});

/// One environment.
struct System {
  std::vector<Body> bodies = {};
  std::vector<Joint> joints = {};
  std::vector<Contact> contacts = {};
  Vec3 gravity = {0., 0., -9.81};  ///< m/s²
};

/// Where constraints are imposed.
enum class Level {
  velocity,     ///< J u = 0 at the end of a semi-implicit Euler step, drift corrected by C/dt
  acceleration  ///< J u' + k(q, u, t) = 0, with Runge-Kutta 4; bilateral rows only
};

/// How contacts (and joints) are satisfied at the end of the step, at velocity level (Hotz et al.).
enum class Method {
  linearised,  ///< gaps to first order, one problem per step
  release,     ///< bilateral contacts by Newton-Raphson; those that pull are released
  fischer,     ///< 0 <= f, delta(sigma(f)) >= 0 by Newton on Fischer-Burmeister's function
  fixpoint     ///< problems with gaps recomputed at the end of the step, until none is negative
};

struct SimOptions {
  double time_step = 1e-3;  ///< s
  Level level = Level::velocity;
  Method method =
      Method::linearised;       ///< release and fischer: frictionless contacts, no other rows
  double correction = 1.;       ///< share of a joint's drift that a step removes, in [0, 1]
  double stabilisation = 10.;   ///< Baumgarte's alpha at acceleration level, 1/s
  double gap_tolerance = 1e-9;  ///< m (joints: of C), for methods other than linearised
  int max_rounds = 50;          ///< of these methods, per step
  ContactModel contact = {};
  SolveOptions solve = {};
};

/// Energies in J. In the velocity-level schemes kinetic + potential never grows by more than
/// `correction` does (docs/mathematics.md §15), unless a force or torque on a body, or a gyroscopic
/// torque, does work.
struct Energy {
  double kinetic = 0., potential = 0.;
  double correction = 0.;  ///< work of gap and drift corrections and of drives since the start
};

/// Systems that step together, each with its own verdict. An environment whose state or gaps are
/// not finite gets status bad_input and keeps its state; the others are not affected.
class Sim {
 public:
  /// Throws std::invalid_argument, naming the environment, the item and the value, for impossible
  /// numbers; all systems must have the same number of bodies.
  Sim(std::vector<System> systems, const SimOptions& options);
  ~Sim();
  Sim(Sim&&) noexcept;
  Sim& operator=(Sim&&) noexcept;

  void step();

  int num_envs() const;
  double time() const;  ///< s
  const std::vector<Body>& bodies(int env) const;
  std::vector<Body>& bodies(int env);  ///< may be changed between steps

  // Of the last step:
  EnvStatus status(int env) const;
  double residual(int env) const;     ///< m/s (at acceleration level m/s²)
  int rounds(int env) const;          ///< problems or Newton steps in the step
  double penetration(int env) const;  ///< m, largest -delta at the end of the step, >= 0
  double drift(int env) const;        ///< m or 1, largest |C| of the joints at the end of the step
  /// Impulse of a contact (normal, tangent 1, tangent 2), N s, and its frame, rows n, t1, t2.
  Vec3 contact_impulse(int env, int contact) const;
  std::array<Vec3, 3> contact_frame(int env, int contact) const;
  /// Impulses of a joint's bilateral rows, N s or N m s (at acceleration level N or N m).
  std::vector<double> joint_impulse(int env, int joint) const;

  /// Angle or displacement of a hinge or prismatic joint now.
  double coordinate(int env, int joint) const;
  Energy energy(int env) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// G(Q) of the kinematic map dQ/dt = G(Q) omega, row-major [4][3].
std::array<double, 12> quaternion_map(const Quat& rotation);

}  // namespace stickslip::gallery::rigid
