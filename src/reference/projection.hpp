// Nearest points of the sets a contact impulse may lie in (docs/mathematics.md §4).
#pragma once
#include "src/reference/reference.hpp"

namespace stickslip::reference {

/// Nearest point to y = (y_n, y_t) of the cone |y_t| <= mu y_n.
Vector project_circular(const Vector& y, double mu);
/// Nearest point to t of the diamond sum |t_i| <= radius.
Vector project_diamond(const Vector& t, double radius);
/// Nearest point to t of the square |t_i| <= radius.
Vector project_square(const Vector& t, double radius);

}  // namespace stickslip::reference
