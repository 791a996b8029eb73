// Functions that libmujoco exports but its headers do not declare (engine_derivative.h,
// engine_forward.h, engine_core_util.h of MuJoCo 3.17 and 4.0).
#pragma once
#include <mujoco/mujoco.h>

extern "C" {

// qDeriv = d (passive + actuator [- bias]) / d qvel
void mjd_smooth_vel(const mjModel* m, mjData* d, int flg_bias);

// A = M - h d qfrc_smooth / d qvel, bias included, for the free joint of a body without children;
// 0: no such joint. Needs qDeriv; flg_bias_only leaves that out, mj_implicit passes 0.
int mjd_freeMhat(const mjModel* m, const mjData* d, int jnt, mjtNum h, mjtNum A[36],
                 int flg_bias_only);

// Damping that actuators add to a joint; adds its higher-order coefficients to poly.
mjtNum mj_actuatorDamping(const mjModel* m, int objtype, int id, mjtNum* poly);

// Force of a polynomial law (flg_deriv 0), or its derivative (1), at velocity x.
mjtNum mjd_xPolyForce(mjtNum linear, const mjtNum* poly, mjtNum x, int n, int flg_deriv);

// LU of a 6 x 6 matrix with pivoting, in place (0: singular), and the solution of A x = b with it.
int mju_factorLU6(mjtNum A[36], int pivot[6]);
void mju_solveLU6(mjtNum x[6], const mjtNum A[36], const mjtNum b[6], const int pivot[6]);
}
