// Scalar constraints C(q, t) between two bodies, with all derivatives that time stepping needs:
//   dC/dt = J u + rate,   d²C/dt² = J u' + k      (La Barbera: J = dC/dq H, k the rest).
// Four kinds make every joint.
#pragma once
#include "gallery/rigid/frames.hpp"

namespace stickslip::gallery::rigid {

using Wrench = Eigen::Matrix<double, 6, 1>;  ///< a body's part of J: for v, for omega

struct Row {
  double C = 0.;     ///< m, rad or 1
  double rate = 0.;  ///< of the explicit dependence on time
  double k = 0.;     ///< the second derivative without J u'
  Wrench Ja = Wrench::Zero(), Jb = Ja;
};

/// A point that a body carries, possibly along a path in the body.
struct Anchor {
  Vector3 p;             ///< its position
  Vector3 r;             ///< p from the centre of mass
  Vector3 velocity;      ///< of the point
  Vector3 path_rate;     ///< the part of the velocity that the path adds
  Vector3 acceleration;  ///< of the point if v' = 0 and omega' = 0
};

/// `point` in the body's frame moves by `path` (absent: it does not move).
Anchor anchor(const Frame& body, const Vec3& point, const std::array<Trajectory, 3>& path,
              double time);

/// t . (p_b - p_a): displacement along the direction t that turns with a.
Row along(const Vector3& t, const Frame& a, const Anchor& at_a, const Anchor& at_b);
/// s . t = 0: the direction s of b is perpendicular to the direction t of a.
Row perpendicular(const Vector3& t, const Vector3& s, const Frame& a, const Frame& b);
/// |p_b - p_a|.
Row distance(const Anchor& at_a, const Anchor& at_b);
/// The angle `value` by which b has turned relative to a about `axis`, which turns with a.
Row angle(double value, const Vector3& axis, const Frame& a, const Frame& b);

}  // namespace stickslip::gallery::rigid
