#include "src/mujoco/gather.hpp"

#include <algorithm>

#include "src/mujoco/row_map.hpp"

namespace stickslip::mujoco {
namespace {

// Copies row i of MuJoCo's Jacobian (sparse: prepare_model sees to it) to the end of ours, as
// `row`, and returns its product with x.
double copy_row(const mjData* d, int i, const double* x, const EnvSlot& slot, int row) {
  const int begin = slot.J_row[row], count = d->efc_J_rownnz[i];
  const double* J = d->efc_J + d->efc_J_rowadr[i];
  const int* col = d->efc_J_colind + d->efc_J_rowadr[i];
  double product = 0.0;
  for (int k = 0; k < count; ++k) {
    product += J[k] * x[col[k]];
    slot.J[begin + k] = J[k];
    slot.J_col[begin + k] = col[k];
  }
  slot.J_row[row + 1] = begin + count;
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
  *slot.shape = shape_of(d);
  map_rows(d, *slot.shape, slot.efc_of);
  if (level == Level::acceleration) {
    mass_matrix(m, d, slot.M, *slot.factor);
    mju_copy(slot.a_free, d->qacc_smooth, int(m->nv));
    if (m->opt.disableflags & mjDSBL_WARMSTART)
      mju_zero(slot.start, int(m->nv));
    else
      mju_sub(slot.start, d->qacc_warmstart, d->qacc_smooth, int(m->nv));
  } else if (!integrator_matrix(m, d, slot.M, *slot.factor, slot.a_free)) {
    return false;
  }

  const int first_box = slot.shape->n_free + slot.shape->n_nonneg;
  const int first_contact = first_box + slot.shape->n_box;
  const double bound_scale = level == Level::velocity ? m->opt.timestep : 1.0;
  int n_mu = 0, n_contacts = 0;
  slot.J_row[0] = 0;
  for (int row = 0; row < d->nefc; ++row) {
    const int i = slot.efc_of[row];
    const double Ja = copy_row(d, i, slot.a_free, slot, row);
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
