// The matrix with which MuJoCo's integrator turns forces into velocities, and the integrator
// itself.
//
//     v⁺ = v + h A⁻¹ qfrc_smooth + h M̂⁻¹ qfrc_constraint
//
// Euler:        A = M̂ = M + h diag(damping), or M if damping is switched off
// implicitfast: A = M̂ = M - h ∂(passive + actuator)/∂v, symmetric; but MuJoCo integrates a free
//               body without children by its own 6 x 6 block of A, which includes the derivative of
//               the gyroscopic force and is not symmetric. There M̂ = M: the smooth forces act as
//               in MuJoCo, the impulses change the momentum as Newton's law requires, and W
//               stays symmetric.
#pragma once
#include <mujoco/mujoco.h>

#include "stickslip/sparse_mechanism.hpp"

namespace stickslip::mujoco {

/// M = LᵀDL in the memory of MuJoCo's data.
struct MassFactor {
  const double *L, *D_inv;
};

/// Sparsity of M, M̂ and their factors.
TreeSparsity mass_sparsity(const mjModel* m);

/// Copies M[nC]; MuJoCo has already computed its factor.
void mass_matrix(const mjModel* m, const mjData* d, double* M, MassFactor& factor);

/// Leaves the factor of M̂ in qH, qHDiagInv and writes M̂[nC] and a_free[nv] = A⁻¹ qfrc_smooth, so
/// that v + h a_free is the velocity without constraints. Call it after `smooth_forces`; false if
/// M̂ is not positive definite.
bool integrator_matrix(const mjModel* m, mjData* d, double* M_hat, MassFactor& factor,
                       double* a_free);

/// x <- M̂⁻¹ x. Needs `integrator_matrix` at this state.
void solve_integrator_matrix(const mjModel* m, const mjData* d, double* x);

/// x <- A⁻¹ x, or `transposed` A⁻ᵀ x. Needs `integrator_matrix` at this state.
void solve_smooth_matrix(const mjModel* m, mjData* d, bool transposed, double* x);

}  // namespace stickslip::mujoco
