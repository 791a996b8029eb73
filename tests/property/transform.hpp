// The same physical problem in other coordinates.
#pragma once
#include "tests/reference/reference.hpp"

namespace stickslip::property {

using reference::Matrix;
using reference::Problem;
using reference::Vector;

/// The problem in impulses r' with r = T r': W' = T^T W T, b' = T^T b. T must map the sets of the
/// law onto each other; R does not change, so it must be the same for all rows that T mixes.
inline Problem change_coordinates(const Problem& problem, const Matrix& T) {
  Problem out = problem;
  out.W = T.transpose() * problem.W * T;
  out.W = 0.5 * (out.W + out.W.transpose()).eval();
  out.b = T.transpose() * problem.b;
  return out;
}

/// Rotates the tangents (t1, t2) of every contact by its own angle; only for problems of contacts.
inline Matrix rotate_tangents(const Problem& problem, double angle) {
  Matrix T = Matrix::Identity(problem.b.size(), problem.b.size());
  int row = 0;
  for (int dim : problem.dims) {
    T.block<2, 2>(row + 1, row + 1) = Eigen::Rotation2Dd(angle).toRotationMatrix();
    row += dim;
    angle *= 1.7;
  }
  return T;
}

/// (t1, t2) -> (-t2, t1) on every contact of dimension 3.
inline Matrix swap_tangents(const Problem& problem) {
  Matrix T = Matrix::Identity(problem.b.size(), problem.b.size());
  for (Eigen::Index k = 0; k < T.rows(); k += 3) {
    T.block<2, 2>(k + 1, k + 1) << 0.0, -1.0, 1.0, 0.0;
  }
  return T;
}

/// Contacts in the reverse order, for problems of contacts of one dimension and one friction.
inline Matrix reverse_contacts(const Problem& problem) {
  const auto n = problem.b.size();
  Matrix T = Matrix::Zero(n, n);
  const Eigen::Index dim = problem.dims.front();
  for (Eigen::Index k = 0; k < n; k += dim) T.block(k, n - dim - k, dim, dim).setIdentity();
  return T;
}

}  // namespace stickslip::property
