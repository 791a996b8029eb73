#include "src/mujoco/gather.hpp"

#include <algorithm>

#include "src/mujoco/integrator.hpp"
#include "src/mujoco/row_map.hpp"

namespace stickslip::mujoco {
namespace {

// Copies row i of MuJoCo's Jacobian to the dense row `out` and returns its product with x.
double dense_row(const mjModel* m, const mjData* d, int i, const double* x, double* out) {
  double product = 0.0;
  if (!mj_isSparse(m)) {
    const double* row = d->efc_J + m->nv * i;
    for (int k = 0; k < m->nv; ++k) product += (out[k] = row[k]) * x[k];
    return product;
  }
  std::fill_n(out, m->nv, 0.0);
  for (int k = d->efc_J_rowadr[i], end = k + d->efc_J_rownnz[i]; k < end; ++k) {
    const int col = d->efc_J_colind[k];
    product += (out[col] = d->efc_J[k]) * x[col];
  }
  return product;
}

// b and R of one row; Ja = J a_free (velocity) or J qacc_smooth (acceleration).
void right_side(const mjModel* m, const mjData* d, Level level, const ContactModel& contact, int i,
                double Ja, double& b, double& R) {
  R = d->efc_R[i];
  b = Ja - d->efc_aref[i];
  if (level == Level::acceleration) return;
  const double h = m->opt.timestep;
  if (d->efc_type[i] < mjCNSTR_CONTACT_FRICTIONLESS) {
    b *= h;
    return;
  }
  // efc_vel is J v plus the velocity of moving surfaces.
  const mjContact* closing = contact_of_normal(d, i);
  b = d->efc_vel[i] + h * Ja;
  if (closing) b += contact_bias(contact, closing->dist, d->efc_vel[i], h);
  R = closing ? contact.compliance : 0.0;
}

}  // namespace

bool gather(const mjModel* m, mjData* d, Level level, const ContactModel& contact,
            const EnvSlot& slot) {
  const int nv = int(m->nv);
  *slot.shape = shape_of(d);
  map_rows(d, *slot.shape, slot.efc_of);
  if (level == Level::acceleration) {
    mj_fullM(m, d, slot.M);
    mju_copy(slot.a_free, d->qacc_smooth, nv);
  } else if (!integrator_matrix(m, d, slot.M, slot.a_free)) {
    return false;
  }

  const int first_box = slot.shape->n_free + slot.shape->n_nonneg;
  const int first_contact = first_box + slot.shape->n_box;
  const double bound_scale = level == Level::velocity ? m->opt.timestep : 1.0;
  int n_mu = 0, n_contacts = 0;
  for (int row = 0; row < d->nefc; ++row) {
    const int i = slot.efc_of[row];
    const double Ja = dense_row(m, d, i, slot.a_free, slot.J + std::ptrdiff_t(row) * nv);
    right_side(m, d, level, contact, i, Ja, slot.b[row], slot.R[row]);
    if (row >= first_contact) {
      const mjContact& c = d->contact[d->efc_id[i]];
      const int axis = i - c.efc_address;
      if (axis == 0)
        slot.dims[n_contacts++] = c.dim;
      else
        slot.mu[n_mu++] = c.friction[axis - 1];
    } else if (row >= first_box) {
      slot.hi[row - first_box] = bound_scale * d->efc_frictionloss[i];
      slot.lo[row - first_box] = -slot.hi[row - first_box];
    }
  }
  return true;
}

void scatter(const mjModel* m, mjData* d, Level level, const int* efc_of, const double* impulse) {
  const double scale = level == Level::velocity ? 1.0 / m->opt.timestep : 1.0;
  for (int row = 0; row < d->nefc; ++row) d->efc_force[efc_of[row]] = scale * impulse[row];
}

void apply_forces(const mjModel* m, mjData* d) {
  const int nv = int(m->nv);
  if (d->nefc == 0) {
    mju_zero(d->qfrc_constraint, nv);
    mju_copy(d->qacc, d->qacc_smooth, nv);
    return;
  }
  mj_mulJacTVec(m, d, d->qfrc_constraint, d->efc_force);
  mj_markStack(d);
  mjtNum* force = mj_stackAllocNum(d, nv);
  mju_add(force, d->qfrc_smooth, d->qfrc_constraint, nv);
  mj_solveM(m, d, d->qacc, force, 1);
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
