// Derivatives of q⁺ = q ⊕ h v (mj_integratePos) in the tangent spaces of positions, in which the
// rotation of a quaternion is that of mj_differentiatePos: in the frame of the body, rad.
//
//     dq⁺ = T dq + h S dv,     T = 1, S = 1 for lengths and angles of hinges,
//                              T = exp(-h ω), S the right Jacobian of exp(h ω), for quaternions
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// g_v += h Sᵀ g_q.
void add_velocity_part_transposed(const mjModel* m, const double* v, const double* g_q,
                                  double* g_v);

/// g += Tᵀ g_q.
void add_position_part_transposed(const mjModel* m, const double* v, const double* g_q, double* g);

/// to = T dq + h S dv; null `dq`: 0.
void move_positions(const mjModel* m, const double* v, const double* dq, const double* dv,
                    double* to);

}  // namespace stickslip::mujoco
