#include "src/reference/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stickslip::reference {

Vector project_circular(const Vector& y, double mu) {
  const Vector t = y.tail(y.size() - 1);
  const double length = t.norm();
  if (y[0] >= 0.0 && length <= mu * y[0]) return y;
  // By symmetry the nearest point lies in the half plane through the axis and y. There the cone is
  // a wedge whose boundary is the ray (1, mu): drop the perpendicular on it, but stay on the ray.
  const Eigen::Vector2d ray = Eigen::Vector2d(1.0, mu).normalized();
  const double along = std::max(0.0, ray.dot(Eigen::Vector2d(y[0], length)));
  Vector nearest = Vector::Zero(y.size());
  nearest[0] = along * ray[0];
  if (length > 0.0) nearest.tail(t.size()) = t * (along * ray[1] / length);
  return nearest;
}

Vector project_diamond(const Vector& t, double radius) {
  const auto shrunk = [&](double by) -> Vector {
    return t.unaryExpr([&](double x) { return std::copysign(std::max(std::abs(x) - by, 0.0), x); });
  };
  if (t.lpNorm<1>() <= radius) return t;
  // KKT: every coordinate moves towards 0 by the same multiplier, which makes the sum equal the
  // radius. The sum falls monotonically with it, so bisect until the interval has no inside.
  double below = 0.0;
  double above = t.lpNorm<Eigen::Infinity>();
  for (double middle = 0.5 * above; below < middle && middle < above;
       middle = 0.5 * (below + above)) {
    (shrunk(middle).lpNorm<1>() > radius ? below : above) = middle;
  }
  return shrunk(above);
}

namespace {

using Plane = Eigen::Vector2d;

Plane corner(double k, int d) {
  const double angle = 2.0 * std::numbers::pi * k / d;
  return {std::cos(angle), std::sin(angle)};
}

/// Nearest point to y of the polygon with sides at `distance` from 0 whose normals are the d
/// directions: of all its sides' nearest points, unless y is inside.
Plane project_polar(const Plane& y, double distance, int d) {
  bool inside = true;
  Plane nearest = Plane::Zero();
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < d; ++k) {
    const Plane normal = corner(k, d);
    const Plane side(-normal[1], normal[0]);
    const double half = distance * std::tan(std::numbers::pi / d);
    const Plane x = distance * normal + std::clamp(side.dot(y), -half, half) * side;
    inside = inside && normal.dot(y) <= distance;
    if ((x - y).norm() < least) {
      least = (x - y).norm();
      nearest = x;
    }
  }
  return inside ? y : nearest;
}

}  // namespace

double polygon_gauge(const Vector& t, int d) {
  double longest = 0.0;  // over the sides' normals, which lie between the corners
  for (int k = 0; k < d; ++k) longest = std::max(longest, corner(k + 0.5, d).dot(t.head(2)));
  return longest / std::cos(std::numbers::pi / d) + t.tail(t.size() - 2).lpNorm<1>();
}

Vector project_polygon(const Vector& t, double radius, int d) {
  // As the diamond: the multiplier moves the plane towards 0 by its projection on the polar set.
  const auto shrunk = [&](double by) -> Vector {
    Vector x =
        t.unaryExpr([&](double v) { return std::copysign(std::max(std::abs(v) - by, 0.0), v); });
    x.head(2) = t.head(2) - project_polar(t.head(2), by, d);
    return x;
  };
  if (polygon_gauge(t, d) <= radius) return t;
  double below = 0.0;
  double above = t.lpNorm<1>();
  for (double middle = 0.5 * above; below < middle && middle < above;
       middle = 0.5 * (below + above)) {
    (polygon_gauge(shrunk(middle), d) > radius ? below : above) = middle;
  }
  return shrunk(above);
}

Vector project_square(const Vector& t, double radius) {
  return t.cwiseMax(-radius).cwiseMin(radius);
}

}  // namespace stickslip::reference
