#include "src/mujoco/problem/row_map.hpp"

namespace stickslip::mujoco {
namespace {

bool left_out(const mjData* d, const Use* use, int i) {
  return use && is_contact_row(d, i) && use[d->efc_id[i]] != Use::included;
}

}  // namespace

bool is_contact_row(const mjData* d, int i) {
  return d->efc_type[i] >= mjCNSTR_CONTACT_FRICTIONLESS;
}

RowCounts counts_of(const mjData* d, const Use* use) {
  RowCounts counts;
  for (int i = 0; i < d->nefc; ++i) {
    const bool out = left_out(d, use, i);
    switch (d->efc_type[i]) {
      case mjCNSTR_EQUALITY:
        ++counts.n_free;
        break;
      case mjCNSTR_FRICTION_DOF:
      case mjCNSTR_FRICTION_TENDON:
        ++counts.n_box;
        break;
      case mjCNSTR_CONTACT_ELLIPTIC:
        counts.n_contacts += !out;
        i += d->contact[d->efc_id[i]].dim - 1;
        break;
      default:
        counts.n_nonneg += !out;
    }
  }
  return counts;
}

const mjContact* contact_of_normal(const mjData* d, int i) {
  if (!is_contact_row(d, i)) return nullptr;
  const mjContact& c = d->contact[d->efc_id[i]];
  return i == c.efc_address ? &c : nullptr;
}

int map_rows(const mjData* d, const RowCounts& counts, const Use* use, int* efc_of) {
  int free = 0, nonneg = counts.n_free, box = nonneg + counts.n_nonneg,
      contact = box + counts.n_box;
  for (int i = 0; i < d->nefc; ++i) {
    if (left_out(d, use, i)) continue;
    switch (d->efc_type[i]) {
      case mjCNSTR_EQUALITY:
        efc_of[free++] = i;
        break;
      case mjCNSTR_FRICTION_DOF:
      case mjCNSTR_FRICTION_TENDON:
        efc_of[box++] = i;
        break;
      case mjCNSTR_CONTACT_ELLIPTIC:
        efc_of[contact++] = i;
        break;
      default:
        efc_of[nonneg++] = i;
    }
  }
  return contact;
}

}  // namespace stickslip::mujoco
