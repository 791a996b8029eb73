#include "tests/reference/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stickslip::reference {

namespace {

template <class Real>
using Plane = Eigen::Vector2<Real>;

/// Soft thresholding: moves every entry towards 0 by the same amount.
template <class Real>
VectorOf<Real> shrunk_by(const VectorOf<Real>& t, Real by) {
  return t.unaryExpr([&](Real x) { return std::copysign(std::max(std::abs(x) - by, Real(0)), x); });
}

}  // namespace

template <class Real>
VectorOf<Real> project_circular(const VectorOf<Real>& y, Scalar<Real> mu) {
  const VectorOf<Real> t = y.tail(y.size() - 1);
  const Real length = t.norm();
  if (y[0] >= 0.0 && length <= mu * y[0]) return y;
  // By symmetry the nearest point is in the half plane through the axis and y. There the cone is a
  // wedge whose boundary is the ray (1, mu): project perpendicularly onto the ray.
  const Plane<Real> ray = Plane<Real>(1.0, mu).normalized();
  const Real along = std::max(Real(0), ray.dot(Plane<Real>(y[0], length)));
  VectorOf<Real> nearest = VectorOf<Real>::Zero(y.size());
  nearest[0] = along * ray[0];
  if (length > 0.0) nearest.tail(t.size()) = t * (along * ray[1] / length);
  return nearest;
}

template <class Real>
VectorOf<Real> project_diamond(const VectorOf<Real>& t, Scalar<Real> radius) {
  if (t.template lpNorm<1>() <= radius) return t;
  // KKT: every coordinate moves towards 0 by the same multiplier, which makes the sum equal to the
  // radius. The sum decreases monotonically with it, so bisect to the last representable number.
  Real below = 0;
  Real above = t.template lpNorm<Eigen::Infinity>();
  for (Real middle = above / 2; below < middle && middle < above; middle = (below + above) / 2) {
    (shrunk_by(t, middle).template lpNorm<1>() > radius ? below : above) = middle;
  }
  return shrunk_by(t, above);
}

namespace {

template <class Real>
Plane<Real> corner(Real k, int d) {
  const Real angle = 2 * std::numbers::pi_v<Real> * k / d;
  return {std::cos(angle), std::sin(angle)};
}

/// Nearest point to y of the polygon with sides at `distance` from 0 whose normals are the d
/// directions: the nearest of all its sides' nearest points, unless y is inside.
template <class Real>
Plane<Real> project_polar(const Plane<Real>& y, Real distance, int d) {
  bool inside = true;
  Plane<Real> nearest = Plane<Real>::Zero();
  Real least = std::numeric_limits<Real>::infinity();
  for (int k = 0; k < d; ++k) {
    const Plane<Real> normal = corner(Real(k), d);
    const Plane<Real> side(-normal[1], normal[0]);
    const Real half = distance * std::tan(std::numbers::pi_v<Real> / d);
    const Plane<Real> x = distance * normal + std::clamp(side.dot(y), -half, half) * side;
    inside = inside && normal.dot(y) <= distance;
    if ((x - y).norm() < least) {
      least = (x - y).norm();
      nearest = x;
    }
  }
  return inside ? y : nearest;
}

}  // namespace

template <class Real>
Real polygon_gauge(const VectorOf<Real>& t, int d) {
  Real longest = 0;  // over the sides' normals, which are between the corners
  for (int k = 0; k < d; ++k) {
    longest = std::max(longest, corner(Real(k) + Real(0.5), d).dot(t.template head<2>()));
  }
  return longest / std::cos(std::numbers::pi_v<Real> / d) +
         t.tail(t.size() - 2).template lpNorm<1>();
}

template <class Real>
VectorOf<Real> project_polygon(const VectorOf<Real>& t, Scalar<Real> radius, int d) {
  // Like the diamond: the multiplier moves the plane towards 0 by its projection on the polar set.
  const Plane<Real> plane = t.template head<2>();
  const auto shrunk = [&](Real by) {
    VectorOf<Real> x = shrunk_by(t, by);
    x.template head<2>() = plane - project_polar(plane, by, d);
    return x;
  };
  if (polygon_gauge(t, d) <= radius) return t;
  Real below = 0;
  Real above = t.template lpNorm<1>();
  for (Real middle = above / 2; below < middle && middle < above; middle = (below + above) / 2) {
    (polygon_gauge(shrunk(middle), d) > radius ? below : above) = middle;
  }
  return shrunk(above);
}

template <class Real>
VectorOf<Real> project_square(const VectorOf<Real>& t, Scalar<Real> radius) {
  return t.cwiseMax(-radius).cwiseMin(radius);
}

template VectorOf<double> project_circular(const VectorOf<double>&, double);
template VectorOf<double> project_diamond(const VectorOf<double>&, double);
template VectorOf<double> project_polygon(const VectorOf<double>&, double, int);
template VectorOf<double> project_square(const VectorOf<double>&, double);
template double polygon_gauge(const VectorOf<double>&, int);
template VectorOf<long double> project_circular(const VectorOf<long double>&, long double);
template VectorOf<long double> project_diamond(const VectorOf<long double>&, long double);
template VectorOf<long double> project_polygon(const VectorOf<long double>&, long double, int);
template VectorOf<long double> project_square(const VectorOf<long double>&, long double);
template long double polygon_gauge(const VectorOf<long double>&, int);

}  // namespace stickslip::reference
