#include "gallery/rigid/joints.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace stickslip::gallery::rigid {
namespace {

// Bodies, anchors and directions of a joint at an instant.
struct Geometry {
  Frame a, b;
  Anchor at_a, at_b;
  Vector3 axis;    // of a, unit
  Matrix3 zero_b;  // a's frame rotated with b: equal to a.R if the coordinate is 0

  Geometry(const Joint& j, const std::vector<Body>& bodies, double time)
      : a(frame_of(bodies, j.a)),
        b(frame_of(bodies, j.b)),
        at_a(anchor(a, j.anchor_a, j.path, time)),
        at_b(anchor(b, j.anchor_b, {}, time)),
        axis(a.R * vec(j.axis).normalized()),
        zero_b(b.R * quaternion(j.relative).toRotationMatrix().transpose()) {}
};

// The angle about the axis of the rotation that takes a's frame to b's, in (-pi, pi].
double hinge_angle(const Joint& j, const Geometry& at) {
  const Eigen::Quaterniond turn(at.a.R.transpose() * at.zero_b);
  return std::remainder(2. * std::atan2(vec(j.axis).normalized().dot(turn.vec()), turn.w()),
                        2. * std::numbers::pi);
}

Row coordinate(const Joint& j, const Geometry& at) {
  switch (j.kind) {
    case JointKind::hinge:
      return angle(hinge_angle(j, at), at.axis, at.a, at.b);
    case JointKind::prismatic:
      return along(at.axis, at.a, at.at_a, at.at_b);
    default:
      return distance(at.at_a, at.at_b);
  }
}

// coordinate - motion = 0.
Row follow(Row row, const Motion& motion, bool is_angle) {
  row.C -= motion.value;
  if (is_angle) row.C = std::remainder(row.C, 2. * std::numbers::pi);
  row.rate -= motion.rate;
  row.k -= motion.acceleration;
  return row;
}

}  // namespace

int bilateral_rows(const Joint& joint) {
  const int driven = joint.drive ? 1 : 0;
  switch (joint.kind) {
    case JointKind::ball:
      return 3;
    case JointKind::hinge:
    case JointKind::prismatic:
      return 5 + driven;
    case JointKind::fixed:
      return 6;
    case JointKind::distance:
      return 1;
  }
  return 0;
}

void append_bilateral(const Joint& joint, const std::vector<Body>& bodies, double time,
                      std::vector<Row>& rows) {
  const Geometry at(joint, bodies, time);
  const Motion motion = joint.drive ? joint.drive(time) : Motion{.value = joint.length};
  if (joint.kind == JointKind::distance) {
    rows.push_back(follow(coordinate(joint, at), motion, false));
    return;
  }
  // Columns: the axis and two perpendicular ones, in a; and their directions as b carries them.
  Matrix3 axes;
  axes.col(0) = vec(joint.axis).normalized();
  axes.col(1) = axes.col(0).unitOrthogonal();
  axes.col(2) = axes.col(0).cross(axes.col(1));
  const Matrix3 t = at.a.R * axes, s = at.zero_b * axes;

  const int first = joint.kind == JointKind::prismatic ? 1 : 0;  // slides along the axis
  for (int i = first; i < 3; ++i) rows.push_back(along(t.col(i), at.a, at.at_a, at.at_b));
  if (joint.kind == JointKind::hinge) {
    for (int i = 1; i < 3; ++i) rows.push_back(perpendicular(t.col(i), s.col(0), at.a, at.b));
  } else if (joint.kind != JointKind::ball) {
    for (int i = 0; i < 3; ++i)
      rows.push_back(perpendicular(t.col(i), s.col((i + 1) % 3), at.a, at.b));
  }
  if (joint.drive)
    rows.push_back(follow(coordinate(joint, at), motion, joint.kind == JointKind::hinge));
}

Row coordinate_row(const Joint& joint, const std::vector<Body>& bodies, double time) {
  return coordinate(joint, Geometry(joint, bodies, time));
}

Joint joint_at(const std::vector<Body>& bodies, JointKind kind, int a, int b, const Vec3& point,
               const Vec3& axis) {
  for (const int i : {a, b})
    if (i < kWorld || i >= int(bodies.size()))
      throw std::invalid_argument("joint_at: there is no body " + std::to_string(i));
  const Frame at_a = frame_of(bodies, a), at_b = frame_of(bodies, b);
  const Eigen::Quaterniond relative(at_a.R.transpose() * at_b.R);
  Joint joint;
  joint.kind = kind;
  joint.a = a;
  joint.b = b;
  joint.anchor_a = array(at_a.R.transpose() * (vec(point) - at_a.x));
  joint.anchor_b = array(at_b.R.transpose() * (vec(point) - at_b.x));
  joint.axis = array(at_a.R.transpose() * vec(axis));
  joint.relative = {relative.w(), relative.x(), relative.y(), relative.z()};
  return joint;
}

}  // namespace stickslip::gallery::rigid
