#include "src/mujoco/contacts/step_contacts.hpp"

#include <algorithm>

#include "src/mujoco/contacts/faces.hpp"
#include "src/mujoco/contacts/part.hpp"
#include "stickslip/contact_model.hpp"

namespace stickslip::mujoco {
namespace {

// Whether contact c lies on the line between contacts a and b of its geoms, with their normal, and
// is not deeper than they are there. Then they carry what it can: forces in its cone at c are the
// sum of such forces at a and b.
bool lies_between(const mjData* d, const StepContacts& contacts, int c, int a, int b) {
  constexpr double kSameLine = 1e-8, kSameDepth = 1e-9;  // m
  constexpr double kSameNormal = 1 - 1e-12;              // cosine
  const mjContact &between = d->contact[c], &first = d->contact[a], &second = d->contact[b];
  if (!(mju_dot3(between.frame, first.frame) > kSameNormal)) return false;
  if (!(mju_dot3(between.frame, second.frame) > kSameNormal)) return false;
  double along[3], to[3];
  mju_sub3(along, second.pos, first.pos);
  mju_sub3(to, between.pos, first.pos);
  const double square = mju_dot3(along, along);
  const double share = square > 0 ? std::clamp(mju_dot3(to, along) / square, 0.0, 1.0) : 0.0;
  mju_addToScl3(to, along, -share);
  const double depth = contacts.gap[a] + share * (contacts.gap[b] - contacts.gap[a]);
  return mju_norm3(to) <= kSameLine && contacts.gap[c] >= depth - kSameDepth;
}

// Culls what lies between other contacts of a pair: the collider of boxes returns up to eight
// points of a face, and rounding decides how many of them lie on the edges between the corners.
void cull_between(const mjData* d, StepContacts& contacts) {
  constexpr int kCorners = 4;
  const auto stays = [&](int c) {
    return contacts.use[c] == Use::included && d->contact[c].efc_address >= 0;
  };
  for (int begin = 0, end = 0; begin < d->ncon; begin = end) {
    const mjContact& first = d->contact[begin];
    end = end_of_pair(d, begin);
    const bool rigid = first.geom[0] >= 0 && first.geom[1] >= 0;  // no flexes
    if (end - begin <= kCorners || first.dim > 3 || !rigid) continue;
    if (is_spring(contacts.model(begin))) continue;  // each of its points is one
    for (int c = begin; c < end; ++c)
      for (int a = begin; a < end && stays(c); ++a)
        for (int b = begin; b < a && stays(c); ++b)
          if (a != c && b != c && stays(a) && stays(b) && lies_between(d, contacts, c, a, b))
            contacts.use[c] = Use::culled;
  }
}

}  // namespace

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
  cull_between(d, contacts);
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
