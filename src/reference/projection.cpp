#include "src/reference/projection.hpp"

#include <cmath>

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

Vector project_square(const Vector& t, double radius) {
  return t.cwiseMax(-radius).cwiseMin(radius);
}

}  // namespace stickslip::reference
