// The equations of one contact block near a solution: rows A dz + B du = 0 in scaled circular
// coordinates (docs/gradients.md). Each law gives its rows.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What holds near the solution: dz = 0, du = 0, or the rows A dz + B du = 0.
enum class Contact : std::int32_t { open, stick, slide };

struct ContactState {
  Contact state;
  double margin;  ///< distance of y to the nearest point where the rows change, in units of z
  double firm;    ///< residual, in units of z, from which on y may lie on the other side of one
};

/// The least of distances of y to points where the rows change, and of the same over how far a
/// residual of 1 may move y towards them.
struct Nearest {
  double margin, firm;

  SS_HD void see(double distance, double reach) {
    margin = min(margin, distance);
    firm = min(firm, distance / reach);
  }
};

/// A direction in which the impulse and the velocity of a block change: [dim] each.
struct BlockPath {
  const double *z, *u;
};

/// A contact block at a solution, and the memory for its rows. y = z - rho u, the point that the
/// natural map projects, decides which rows hold.
///
/// A row that sticks answers a residual F_j of the natural map by dz = (rho W_hat)^-1 F. With the
/// softness a_j = 1 / (rho W_hat_jj) >= 1, which is (mu_1 / mu_j)^2 for equal W_jj, that is a_j F_j
/// for the row itself, and up to sqrt(a_j a_l) F_l for another row l (Cauchy and Schwarz, for W_hat
/// far from singular). A row that moves answers by du, which is W_hat dz: up to sqrt(a_l) F_l.
template <int dim>
struct BlockRows {
  const double *z, *u;     ///< [dim] impulse and velocity
  const double* d;         ///< [dim] scale of the rows; 0: a row without friction
  const double* softness;  ///< [dim] a_j; 0: a row without friction
  double mu, rho;
  int directions;  ///< corners of a polygon in the sliding plane; 4: a diamond in all rows
  double *A, *B;   ///< [dim][dim], zero at entry; written only if the contact slides

  SS_HD bool is_free(int j) const { return d[j] > 0.0; }
  SS_HD double softest() const {
    double most = softness[0];
    for (int j = 1; j < dim; ++j) most = max(most, softness[j]);
    return most;
  }
  SS_HD double y(int j) const { return fma(-rho, u[j], z[j]); }
  SS_HD double& a(int i, int j) const { return A[i * dim + j]; }
  SS_HD double& b(int i, int j) const { return B[i * dim + j]; }
};

}  // namespace stickslip::kernels::inline SS_ISA
