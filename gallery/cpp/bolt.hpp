// The bolt and the hole of docs/gallery/bolt.md, and the gaps between them: distances of points, so
// that their gradients are the normals (a test), smooth up to a depth of kRound.
#pragma once
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <vector>

#include "gallery/cpp/support.hpp"
#include "gallery/rigid/rigid.hpp"

namespace stickslip::gallery {

// The bolt: a cylinder grown by kRound, 20 mm thick and 60 mm long. Its centre is the origin of its
// frame. The hole: a bore along z that opens into a cone at z = 0.
inline constexpr double kCore = 6e-3, kHalf = 26e-3, kRound = 4e-3;  // radius, half length, m
inline constexpr double kBore = 10.5e-3, kDepth = 70e-3;             // radius, depth, m
inline constexpr int kPoints = 8;                                    // around each circle
/// The largest distance of a rim from the bore's axis: in the middle between two points.
inline const double kLoose = (kBore - kCore - kRound) / std::cos(M_PI / kPoints);
inline const double kLooseTip = kLoose * (1. + kRound / kHalf);  ///< the same for the bolt's tip

using Eigen::Vector2d;
using Eigen::Vector3d;

/// Ball of radius kRound around `centre` (in the bolt's frame) against the wall of a hole whose
/// cone has this half angle. x = (rho, z) is relative to the edge, in the half plane through the
/// axis.
inline auto ball_in_hole(const Vector3d& centre, double angle) {
  const Vector2d up(std::sin(angle), std::cos(angle));
  return [centre, up](const rigid::Pose&, const rigid::Pose& bolt) {
    const Vector3d c = vec(bolt.position) + quaternion(bolt.rotation) * centre;
    const Vector2d x(c.head<2>().norm() - kBore, c.z());
    Vector2d n(-1., 0.);                                      // from the bore
    if (x.y() > 0.) n = x.normalized();                       // from the edge
    if (x.y() > 0. && x.dot(up) > 0.) n = {-up.y(), up.x()};  // from the cone
    Vector3d normal(0., 0., n.y());
    normal.head<2>() = n.x() * c.head<2>().normalized();
    return rigid::Gap{n.dot(x) - kRound, array(c - kRound * normal), array(normal)};
  };
}

/// A point of the hole's edge against the bolt.
inline auto point_on_bolt(const Vector3d& point) {
  return [point](const rigid::Pose&, const rigid::Pose& bolt) {
    const Eigen::Quaterniond turned = quaternion(bolt.rotation);
    const Vector3d x = turned.conjugate() * (point - vec(bolt.position));
    const bool beside = std::abs(x.z()) <= kHalf;
    // The nearest point of the axis, or of the core's end.
    Vector3d near(0., 0., std::clamp(x.z(), -kHalf, kHalf));
    if (!beside) near.head<2>() = x.head<2>() * std::min(1., kCore / x.head<2>().norm());
    const Vector3d d = near - x;
    const double distance = d.norm() - kRound - (beside ? kCore : 0.);
    return rigid::Gap{distance, array(point), array(turned * d.normalized())};
  };
}

/// The list of candidates: balls around both rims of the bolt against the wall, those around the
/// lower rim against the floor, and points of the hole's edge against the bolt. Rim and edge are
/// offset by half a division: if their points coincided, one contact would count twice.
inline std::vector<rigid::Contact> bolt_in_hole(double angle) {
  std::vector<rigid::Contact> contacts;
  for (int k = 0; k < kPoints; ++k) {
    const auto circle = [k](double radius, double z, double shift) {
      const double at = 2. * M_PI * (k + shift) / kPoints;
      return Vector3d(radius * std::cos(at), radius * std::sin(at), z);
    };
    const Vector3d lower = circle(kCore, -kHalf, 0.), upper = circle(kCore, kHalf, 0.);
    contacts.push_back({.gap = ball_in_hole(lower, angle)});
    contacts.push_back({.gap = ball_in_hole(upper, angle)});
    contacts.push_back({.gap = rigid::point_on_plane(array(lower), {0., 0., kRound - kDepth})});
    contacts.push_back({.gap = point_on_bolt(circle(kBore, 0., 0.5))});
  }
  return contacts;
}

inline Vector3d axis_of(const rigid::Body& b) {
  return quaternion(b.pose.rotation) * Vector3d::UnitZ();
}

/// Work of the torque -omega x I omega in f_ext on the spin at the end of a step, J/kg.
inline double gyroscopic_work(const rigid::Body& from, const rigid::Body& to, double dt) {
  const Vector3d omega = vec(from.spin), d = axis_of(from);
  const double c = (from.inertia[2] - from.inertia[0]) / from.mass;  // I / m = a 1 + c d d^T
  return -dt * c * d.dot(omega) * vec(to.spin).dot(omega.cross(d));
}

/// A variation of mass, offset, tilt and its direction, the cone's half angle and the speed.
inline rigid::System vary_bolt(int i) {
  constexpr double kDegree = M_PI / 180.;
  const double m = vary_log(i, 0, 0.02, 0.2), offset = vary(i, 1, 0., 6e-3);
  const double tilt = vary(i, 2, 0., 12. * kDegree), turn = vary(i, 3, 0., 360. * kDegree);
  const double speed = vary(i, 5, 0., 0.5);
  const double angle = vary(i, 4, 20. * kDegree, 40. * kDegree);
  const double radius = kCore + kRound, half = kHalf + kRound;
  const double across = m * (radius * radius / 4. + half * half / 3.),
               along = m * radius * radius / 2.;
  const Eigen::Quaterniond q(Eigen::AngleAxisd(tilt, Vector3d(std::cos(turn), std::sin(turn), 0.)));
  rigid::Body bolt{.mass = m, .inertia = {across, across, along}};
  bolt.pose = {{offset, 0., half + kRound + 22e-3}, {q.w(), q.x(), q.y(), q.z()}};
  bolt.velocity = {0., 0., -speed};
  return {.bodies = {bolt}, .contacts = bolt_in_hole(angle)};
}

}  // namespace stickslip::gallery
