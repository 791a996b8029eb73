#include "tests/reference/reference.hpp"

namespace stickslip::reference {

Matrix delassus(const Matrix& M, const Matrix& J) { return J * M.ldlt().solve(J.transpose()); }

Vector apply_impulse(const Matrix& M, const Matrix& J, const Vector& r, const Vector& v_free) {
  return v_free + M.ldlt().solve(J.transpose() * r);
}

}  // namespace stickslip::reference
