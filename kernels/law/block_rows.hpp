// The equations of one contact block near a solution: rows A dz + B du = 0 in scaled circular
// coordinates (docs/gradients.md). Each law gives its rows.
#pragma once
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What holds near the solution: dz = 0, du = 0, or the rows A dz + B du = 0.
enum class Contact : std::int32_t { open, stick, slide };

struct ContactState {
  Contact state;
  double margin;  ///< distance of y to the nearest point where the rows change, in units of z
};

/// A contact block at a solution, and the memory for its rows. y = z - rho u, the point that the
/// natural map projects, decides which rows hold.
template <int dim>
struct BlockRows {
  const double *z, *u;  ///< [dim] impulse and velocity
  const double* d;      ///< [dim] scale of the rows; 0: a row without friction
  double mu, rho;
  int directions;  ///< corners of a polygon in the sliding plane; 4: a diamond in all rows
  double *A, *B;   ///< [dim][dim], zero at entry; written only if the contact slides

  SS_HD bool is_free(int j) const { return d[j] > 0.0; }
  SS_HD double y(int j) const { return fma(-rho, u[j], z[j]); }
  SS_HD double& a(int i, int j) const { return A[i * dim + j]; }
  SS_HD double& b(int i, int j) const { return B[i * dim + j]; }
};

}  // namespace stickslip::kernels::inline SS_ISA
