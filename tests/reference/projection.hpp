// Nearest points of the sets of admissible contact impulses (docs/mathematics.md §4), in double
// and, for residuals that must not depend on rounding, in long double.
#pragma once
#include <type_traits>

#include "tests/reference/reference.hpp"

namespace stickslip::reference {

template <class Real>
using VectorOf = Eigen::VectorX<Real>;
/// Real, not deduced from this argument.
template <class Real>
using Scalar = std::type_identity_t<Real>;

/// Nearest point to y = (y_n, y_t) of the cone |y_t| <= mu y_n.
template <class Real>
VectorOf<Real> project_circular(const VectorOf<Real>& y, Scalar<Real> mu);
/// Nearest point to t of the diamond sum |t_i| <= radius.
template <class Real>
VectorOf<Real> project_diamond(const VectorOf<Real>& t, Scalar<Real> radius);
/// Nearest point to t of the pyramid's section with d directions in the plane of t_1, t_2: the
/// convex hull of the corners radius (cos, sin)(2 pi k / d) and of +-radius in every other t_i.
template <class Real>
VectorOf<Real> project_polygon(const VectorOf<Real>& t, Scalar<Real> radius, int d);
/// The smallest radius at which that set contains t.
template <class Real>
Real polygon_gauge(const VectorOf<Real>& t, int d);
/// Nearest point to t of the square |t_i| <= radius.
template <class Real>
VectorOf<Real> project_square(const VectorOf<Real>& t, Scalar<Real> radius);

}  // namespace stickslip::reference
