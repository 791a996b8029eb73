// Public arrays as Eigen vectors, and bodies at an instant in the form that constraint rows need.
#pragma once
#include <Eigen/Dense>

#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery::rigid {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;

inline Vector3 vec(const Vec3& v) { return {v[0], v[1], v[2]}; }
inline Vec3 array(const Vector3& v) { return {v[0], v[1], v[2]}; }
inline Eigen::Quaterniond quaternion(const Quat& q) { return {q[0], q[1], q[2], q[3]}; }

/// A body, or the world, at an instant.
struct Frame {
  Vector3 x = Vector3::Zero();         ///< centre of mass, m
  Matrix3 R = Matrix3::Identity();     ///< body to world
  Vector3 v = Vector3::Zero(), w = v;  ///< m/s, rad/s
};

inline Frame frame_of(const std::vector<Body>& bodies, int index) {
  if (index == kWorld) return {};
  const Body& b = bodies[index];
  return {vec(b.pose.position), quaternion(b.pose.rotation).normalized().toRotationMatrix(),
          vec(b.velocity), vec(b.spin)};
}

inline Pose pose_of(const std::vector<Body>& bodies, int index) {
  return index == kWorld ? Pose{} : bodies[index].pose;
}

/// I of the body about the world's axes, kg m².
inline Matrix3 inertia_of(const Body& b, const Matrix3& R) {
  return R * vec(b.inertia).asDiagonal() * R.transpose();
}

}  // namespace stickslip::gallery::rigid
