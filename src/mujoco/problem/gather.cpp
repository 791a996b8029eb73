#include "src/mujoco/problem/gather.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/model/bad_numbers.hpp"
#include "src/mujoco/problem/row_map.hpp"

namespace stickslip::mujoco {
namespace {

// Copies row i of MuJoCo's Jacobian (sparse, as prepare_model sets it) to the end of ours, as
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

// b and R of one row; Ja = J a_free (velocity) or J qacc_smooth (acceleration). The bias of a rigid
// contact is not included yet.
void right_side(const mjModel* m, const mjData* d, const Formulation& f,
                const StepContacts* contacts, int i, double Ja, const EnvSlot& slot, int row) {
  slot.R[row] = d->efc_R[i];
  slot.b[row] = Ja - d->efc_aref[i];
  if (f.level == Level::acceleration) return;
  const double h = m->opt.timestep;
  slot.b[row] *= h;
  if (!is_contact_row(d, i)) return;
  // efc_vel is J v plus the velocity of moving surfaces.
  slot.free_velocity[row] = d->efc_vel[i] + h * Ja;
  const bool normal = contact_of_normal(d, i);
  if (normal && f.model_softness) return;
  slot.b[row] = slot.free_velocity[row];
  slot.R[row] = normal ? normal_compliance(contacts->model(d->efc_id[i]), h) : 0.0;
}

// The terms of gap and impact in b, m/s.
double bias_of(const ContactModel& contact, double gap, bool lands, double before, double free,
               double h, double share) {
  if (is_soft(contact)) return contact_bias(contact, gap, before, h);
  // Where a face turns until it is closed, rounding does not tell its gaps apart, but all must
  // agree.
  if (lands && std::abs(gap) <= kClosed && !bounces(contact, gap, before, free, h)) return gap / h;
  return closing_bias(contact, gap, before, free, h, share);
}

}  // namespace

double friction_of(const mjContact& contact, int axis, Level level) {
  const double mu = contact.friction[axis - 1];
  if (level == Level::acceleration) return mu;
  const double* const all = contact.friction;
  const bool alone = std::all_of(all, all + contact.dim - 1, [](double x) { return x <= mjMINMU; });
  const double least = axis <= 2 ? 1e-3 * all[2 - axis] : 0.0;
  return !alone && (mu <= mjMINMU || mu < least) ? 0.0 : mu;
}

bool gather_motion(const mjModel* m, mjData* d, Level level, const EnvSlot& slot) {
  if (level == Level::velocity) {
    const bool good = integrator_matrix(m, d, slot.M, *slot.factor, slot.a_free);
    mju_copy(d->qacc_smooth, slot.a_free, int(m->nv));
    return good;
  }
  mass_matrix(m, d, slot.M, *slot.factor);
  mju_copy(slot.a_free, d->qacc_smooth, int(m->nv));
  if (m->opt.disableflags & mjDSBL_WARMSTART)
    mju_zero(slot.start, int(m->nv));
  else
    mju_sub(slot.start, d->qacc_warmstart, d->qacc_smooth, int(m->nv));
  return true;
}

int gather_rows(const mjModel* m, const mjData* d, const Formulation& formulation,
                const StepContacts* contacts, const EnvSlot& slot) {
  const Use* use = contacts ? contacts->use.data() : nullptr;
  *slot.counts = counts_of(d, use);
  const int rows = map_rows(d, *slot.counts, use, slot.efc_of);
  const int first_box = slot.counts->n_free + slot.counts->n_nonneg;
  const int first_contact = first_box + slot.counts->n_box;
  const double bound_scale = formulation.level == Level::velocity ? m->opt.timestep : 1.0;
  int n_mu = 0, n_contacts = 0;
  slot.J_row[0] = 0;
  for (int row = 0; row < rows; ++row) {
    const int i = slot.efc_of[row];
    const double Ja = copy_row(d, i, slot.a_free, slot, row);
    right_side(m, d, formulation, contacts, i, Ja, slot, row);
    if (row >= first_contact) {
      const mjContact& c = d->contact[d->efc_id[i]];
      const int axis = i - c.efc_address;
      if (axis == 0)
        slot.dims[n_contacts++] = c.dim;
      else
        slot.mu[n_mu++] = friction_of(c, axis, formulation.level);
    } else if (row >= first_box) {
      slot.hi[row - first_box] = bound_scale * d->efc_frictionloss[i];
      slot.lo[row - first_box] = -slot.hi[row - first_box];
    }
  }
  return rows;
}

void write_biases(const mjModel* m, const mjData* d, const StepContacts& contacts, double share,
                  const EnvSlot& slot) {
  const double h = m->opt.timestep;
  const RowCounts& s = *slot.counts;
  const auto write = [&](int row) {
    const int i = slot.efc_of[row];
    if (!is_contact_row(d, i)) return;
    const int c = d->efc_id[i];
    slot.b[row] =
        slot.free_velocity[row] + bias_of(contacts.model(c), contacts.linear[c], contacts.lands[c],
                                          d->efc_vel[i], slot.free_velocity[row], h, share);
  };
  for (int row = s.n_free; row < s.n_free + s.n_nonneg; ++row) write(row);
  int row = s.n_free + s.n_nonneg + s.n_box;
  for (int c = 0; c < s.n_contacts; row += slot.dims[c++]) write(row);
}

void velocity_after(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows,
                    const double* r, double* v) {
  const int nv = int(m->nv);
  mju_zero(v, nv);
  for (int row = 0; row < rows; ++row)
    for (int k = slot.J_row[row]; k < slot.J_row[row + 1]; ++k)
      v[slot.J_col[k]] += slot.J[k] * r[row];
  solve_integrator_matrix(m, d, v);
  mju_addToScl(v, slot.a_free, m->opt.timestep, nv);
  mju_addTo(v, d->qvel, nv);
}

void scatter(const mjModel* m, mjData* d, Level level, const int* efc_of, int rows,
             const double* impulse) {
  const double scale = level == Level::velocity ? 1.0 / m->opt.timestep : 1.0;
  if (rows < d->nefc) mju_zero(d->efc_force, d->nefc);
  for (int row = 0; row < rows; ++row) d->efc_force[efc_of[row]] = scale * impulse[row];
}

void apply_forces(const mjModel* m, mjData* d, Level level) {
  const int nv = int(m->nv);
  if (d->nefc == 0) {
    mju_zero(d->qfrc_constraint, nv);
    mju_copy(d->qacc, d->qacc_smooth, nv);
    return;
  }
  mj_mulJacTVec(m, d, d->qfrc_constraint, d->efc_force);
  if (level == Level::velocity) {
    mju_copy(d->qacc, d->qfrc_constraint, nv);
    solve_integrator_matrix(m, d, d->qacc);
    mju_addTo(d->qacc, d->qacc_smooth, nv);
    return;
  }
  mj_markStack(d);
  mjtNum* force = mj_stackAllocNum(d, nv);
  mju_add(force, d->qfrc_smooth, d->qfrc_constraint, nv);
  mj_solveM(m, d, d->qacc, force, 1);
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
