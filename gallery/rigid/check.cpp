// Input checks of a simulation; messages name the environment, the item and the value.
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "gallery/rigid/environment.hpp"

namespace stickslip::gallery::rigid {
namespace {

// "environment 3, joint 1: friction = -2: must be ..."
class Place {
 public:
  explicit Place(std::size_t env) : env_(env) {}
  Place(const Place& outer, const char* kind, std::size_t index) : env_(outer.env_) {
    item_ = std::string(", ") + kind + " " + std::to_string(index);
  }
  template <class T>
  void require(bool holds, const char* what, const T& value, const char* must) const {
    if (holds) return;
    std::ostringstream text;
    text << "rigid::Sim: environment " << env_ << item_ << ": " << what << " = " << value << ": "
         << must;
    throw std::invalid_argument(text.str());
  }
  void finite(const char* what, const Vec3& value) const {
    for (const double x : value) require(std::isfinite(x), what, x, "must be finite");
  }
  void unit(const char* what, const Quat& Q) const {
    const double norm = quaternion(Q).norm();
    require(std::abs(norm - 1.) < 1e-6, what, norm, "its norm must be 1");
  }

 private:
  std::size_t env_;
  std::string item_;
};

void check_body(const Place& at, const Body& b) {
  at.require(b.mass > 0. && std::isfinite(b.mass), "mass", b.mass, "must be positive");
  for (const double I : b.inertia)
    at.require(I > 0. && std::isfinite(I), "inertia", I, "must be positive");
  at.finite("position", b.pose.position);
  at.unit("rotation", b.pose.rotation);
  at.finite("velocity", b.velocity);
  at.finite("spin", b.spin);
  at.finite("force", b.force);
  at.finite("torque", b.torque);
}

void check_pair(const Place& at, int a, int b, int bodies) {
  at.require(a >= kWorld && a < bodies, "a", a, "there is no such body");
  at.require(b >= kWorld && b < bodies, "b", b, "there is no such body");
  at.require(a != b, "b", b, "is a itself");
}

void check_joint(const Place& at, const Joint& j, int bodies, bool acceleration) {
  check_pair(at, j.a, j.b, bodies);
  at.finite("anchor_a", j.anchor_a);
  at.finite("anchor_b", j.anchor_b);
  at.finite("axis", j.axis);
  at.require(vec(j.axis).norm() > 0., "axis", 0, "must not be zero");
  at.unit("relative", j.relative);
  at.require(std::isfinite(j.length) && j.length >= 0., "length", j.length, "must be >= 0");
  at.require(j.friction >= 0. && std::isfinite(j.friction), "friction", j.friction, "must be >= 0");
  at.require(j.lower <= j.upper, "lower", j.lower, "must not be above upper");
  const bool moves = j.kind == JointKind::hinge || j.kind == JointKind::prismatic;
  const bool rows = std::isfinite(j.lower) || std::isfinite(j.upper) || j.friction > 0.;
  at.require(moves || !rows, "limits or friction", "given", "this kind of joint has no coordinate");
  at.require(moves || j.kind == JointKind::distance || !j.drive, "drive", "given",
             "this kind of joint has no coordinate");
  at.require(!acceleration || !rows, "limits or friction", "given",
             "the acceleration level has bilateral rows only");
}

}  // namespace

void check(const std::vector<System>& systems, const SimOptions& options) {
  const auto need = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("rigid::Sim: ") + what);
  };
  need(options.time_step > 0. && std::isfinite(options.time_step), "time_step must be positive");
  need(options.correction >= 0. && options.correction <= 1., "correction must be in [0, 1]");
  need(options.stabilisation >= 0., "stabilisation must be >= 0");
  need(options.gap_tolerance > 0., "gap_tolerance must be positive");
  need(options.max_rounds > 0, "max_rounds must be positive");
  need(!systems.empty(), "there must be at least one system");
  const bool acceleration = options.level == Level::acceleration;
  need(!acceleration || options.method == Method::linearised,
       "methods for the end of the step belong to the velocity level");
  const bool newton = options.method == Method::release || options.method == Method::fischer;
  for (std::size_t e = 0; e < systems.size(); ++e) {
    const System& system = systems[e];
    const Place env(e);
    env.require(!system.bodies.empty() && system.bodies.size() == systems[0].bodies.size(),
                "number of bodies", system.bodies.size(),
                "must be that of environment 0, and not 0");
    env.finite("gravity", system.gravity);
    const int bodies = int(system.bodies.size());
    for (std::size_t i = 0; i < system.bodies.size(); ++i)
      check_body({env, "body", i}, system.bodies[i]);
    for (std::size_t i = 0; i < system.joints.size(); ++i) {
      const Place at(env, "joint", i);
      check_joint(at, system.joints[i], bodies, acceleration);
      at.require(!newton || system.joints[i].friction == 0., "friction", system.joints[i].friction,
                 "release and fischer are without friction");
    }
    for (std::size_t i = 0; i < system.contacts.size(); ++i) {
      const Place at(env, "contact", i);
      const Contact& c = system.contacts[i];
      check_pair(at, c.a, c.b, bodies);
      at.require(bool(c.gap), "gap", "nothing", "must be a function");
      at.require(c.mu >= 0. && std::isfinite(c.mu), "mu", c.mu, "must be >= 0");
      at.require(!newton || c.mu == 0., "mu", c.mu, "release and fischer are without friction");
      at.require(!acceleration, "level", "acceleration", "has bilateral rows only");
    }
  }
}

}  // namespace stickslip::gallery::rigid
