#include "src/mujoco/contacts/step_contacts.hpp"

#include <algorithm>

#include "src/mujoco/contacts/part.hpp"
#include "stickslip/contact_model.hpp"

namespace stickslip::mujoco {

int StepContacts::count(Use which) const { return int(std::count(use.begin(), use.end(), which)); }

double row_velocity(const mjData* d, int i, const double* v) {
  const double* J = d->efc_J + d->efc_J_rowadr[i];
  const int* col = d->efc_J_colind + d->efc_J_rowadr[i];
  double sum = 0;
  for (int k = 0; k < d->efc_J_rownnz[i]; ++k) sum += J[k] * v[col[k]];
  return sum;
}

double normal_velocity(const mjModel* m, const mjData* d, int i, const double* v) {
  const double velocity = row_velocity(d, i, v);
  return m->nmocap == 0 ? velocity : velocity + (d->efc_vel[i] - row_velocity(d, i, d->qvel));
}

void cull(const mjModel* m, const mjData* d, const double* a_free, StepContacts& contacts) {
  const double h = m->opt.timestep;
  for (int c = 0; c < d->ncon; ++c) {
    const int row = d->contact[c].efc_address;
    if (row < 0) continue;
    const double before = d->efc_vel[row];
    const double free = before + h * row_velocity(d, row, a_free);
    const double closing = std::min(before, free) - kSpareSpeed;
    contacts.use[c] = contacts.gap[c] + h * closing < 0 ? Use::included : Use::culled;
  }
}

int take_in_closed(const mjModel* m, const mjData* d, const double* v, StepContacts& contacts) {
  int taken = 0;
  for (int c = 0; c < d->ncon; ++c) {
    const int row = d->contact[c].efc_address;
    if (row < 0 || contacts.use[c] != Use::culled) continue;
    const double after = normal_velocity(m, d, row, v);
    if (contacts.linear[c] + m->opt.timestep * after >= -kClosed) continue;
    contacts.use[c] = Use::included;
    ++taken;
  }
  return taken;
}

}  // namespace stickslip::mujoco
