#include "src/mujoco/problem/integrator.hpp"

#include <utility>

#include "src/cpu/kernel_table.hpp"
#include "src/mujoco/model/internals.hpp"

namespace stickslip::mujoco {
namespace {

// Whether mj_Euler uses a matrix other than M.
bool euler_is_damped(const mjModel* m) {
  if (m->opt.disableflags & (mjDSBL_EULERDAMP | mjDSBL_DAMPER)) return false;
  for (int i = 0; i < m->nv; ++i)
    if (m->dof_damping[i] > 0 || !mju_isZero(m->dof_dampingpoly + mjNPOLY * i, mjNPOLY) ||
        m->jnt_actuatorid[m->dof_jntid[i]] != -1)
      return true;
  return false;
}

// qH = M + h diag(damping), as in mj_Euler.
void euler_matrix(const mjModel* m, mjData* d) {
  mju_copy(d->qH, d->M, int(m->nC));
  if (!euler_is_damped(m)) return;
  for (int i = 0; i < m->nv; ++i) {
    const int joint = m->dof_jntid[i];
    mjtNum poly[mjNPOLY];
    mju_copy(poly, m->dof_dampingpoly + mjNPOLY * i, mjNPOLY);
    const mjtNum damping = m->dof_damping[i] + mj_actuatorDamping(m, mjOBJ_JOINT, joint, poly);
    d->qH[m->M_rowadr[i] + m->M_rownnz[i] - 1] +=
        m->opt.timestep * mjd_xPolyForce(damping, poly, d->qvel[i], mjNPOLY, 1);
  }
}

// qH = M - h ∂force/∂v, as in mj_implicit; M for the blocks of free bodies without children.
void implicitfast_matrix(const mjModel* m, mjData* d) {
  mjd_smooth_vel(m, d, 0);
  for (int k = 0; k < m->nC; ++k) d->qH[k] = d->M[k] - m->opt.timestep * d->qDeriv[m->mapD2M[k]];
  for (int j = 0; j < m->njnt; ++j) {
    mjtNum A[36];
    if (m->jnt_type[j] != mjJNT_FREE || !mjd_freeMhat(m, d, j, m->opt.timestep, A, 0)) continue;
    const int first = m->M_rowadr[m->jnt_dofadr[j]], last = m->jnt_dofadr[j] + 5;
    mju_copy(d->qH + first, d->M + first, m->M_rowadr[last] + m->M_rownnz[last] - first);
  }
}

// Calls f(dof address, A) for every free body without children.
template <class F>
void for_each_free_body(const mjModel* m, const mjData* d, F f) {
  if (m->opt.integrator != mjINT_IMPLICITFAST) return;
  for (int j = 0; j < m->njnt; ++j) {
    mjtNum A[36];
    if (m->jnt_type[j] == mjJNT_FREE && mjd_freeMhat(m, d, j, m->opt.timestep, A, 0))
      f(m->jnt_dofadr[j], A);
  }
}

}  // namespace

TreeSparsity mass_sparsity(const mjModel* m) {
  return {int(m->nv), m->M_rownnz, m->M_rowadr, m->M_colind};
}

void mass_matrix(const mjModel* m, const mjData* d, double* M, MassFactor& factor) {
  mju_copy(M, d->M, int(m->nC));
  factor = {d->qLD, d->qLDiagInv};
}

bool integrator_matrix(const mjModel* m, mjData* d, double* M_hat, MassFactor& factor,
                       double* a_free) {
  m->opt.integrator == mjINT_EULER ? euler_matrix(m, d) : implicitfast_matrix(m, d);
  mju_copy(M_hat, d->qH, int(m->nC));
  factor = {d->qH, d->qHDiagInv};
  const auto& kernels = kernels::kernel_table();
  const TreeSparsity s = mass_sparsity(m);
  if (!kernels.factor_ltdl(s, d->qH, d->qHDiagInv)) return false;
  mju_copy(a_free, d->qfrc_smooth, int(m->nv));
  kernels.solve_ltdl(s, d->qH, d->qHDiagInv, a_free);
  for_each_free_body(m, d, [&](int adr, mjtNum* A) {
    int pivot[6];
    if (mju_factorLU6(A, pivot)) mju_solveLU6(a_free + adr, A, d->qfrc_smooth + adr, pivot);
  });
  return true;
}

void solve_integrator_matrix(const mjModel* m, const mjData* d, double* x) {
  kernels::kernel_table().solve_ltdl(mass_sparsity(m), d->qH, d->qHDiagInv, x);
}

void solve_smooth_matrix(const mjModel* m, mjData* d, bool transposed, double* x) {
  mj_markStack(d);
  mjtNum* given = mj_stackAllocNum(d, m->nv);
  mju_copy(given, x, int(m->nv));
  solve_integrator_matrix(m, d, x);
  for_each_free_body(m, d, [&](int adr, mjtNum* A) {
    for (int i = 0; transposed && i < 6; ++i)
      for (int k = 0; k < i; ++k) std::swap(A[6 * i + k], A[6 * k + i]);
    int pivot[6];
    if (mju_factorLU6(A, pivot)) mju_solveLU6(x + adr, A, given + adr, pivot);
  });
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
