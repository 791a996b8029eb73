// Nearest points of the sets a contact impulse may lie in (docs/mathematics.md §4).
#pragma once
#include "src/reference/reference.hpp"

namespace stickslip::reference {

/// Nearest point to y = (y_n, y_t) of the cone |y_t| <= mu y_n.
Vector project_circular(const Vector& y, double mu);
/// Nearest point to t of the diamond sum |t_i| <= radius.
Vector project_diamond(const Vector& t, double radius);
/// Nearest point to t of the pyramid's section with d directions in the plane of t_1, t_2: the
/// convex hull of the corners radius (cos, sin)(2 pi k / d) and of +-radius in every other t_i.
Vector project_polygon(const Vector& t, double radius, int d);
/// The least radius at which that set holds t.
double polygon_gauge(const Vector& t, int d);
/// Nearest point to t of the square |t_i| <= radius.
Vector project_square(const Vector& t, double radius);

}  // namespace stickslip::reference
