#include "src/mujoco/contacts/far_contacts.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {

namespace {

// The search distance of a contact, and the part of it that pushes of other bodies cause, m.
struct Ahead {
  double margin, jolt;
};

Ahead ahead_of(const mjModel* m, const mjContact& contact, const Margins& margins) {
  const auto ahead = [&](int side) {
    return contact.geom[side] >= 0 ? margins.ahead[contact.geom[side]]
                                   : margins.flex_ahead[contact.flex[side]];
  };
  const bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  return {override ? margins.override_ahead : ahead(0) + ahead(1), 0.0};
}

// The speed at which the contact may close within the step, m/s, from the present velocities of its
// bodies.
double closing_speed(const mjModel* m, const mjData* d, const mjContact& c) {
  const int a = m->geom_bodyid[c.geom[0]], b = m->geom_bodyid[c.geom[1]];
  double of_a[3], of_b[3], relative[3];
  point_velocity(m, d, a, c.pos, of_a);
  point_velocity(m, d, b, c.pos, of_b);
  if (may_be_stopped(m, a, b)) return mju_norm3(of_a) + mju_norm3(of_b);
  mju_sub3(relative, of_b, of_a);
  return std::max(0.0, -mju_dot3(relative, c.frame)) + 0.5 * mju_norm3(relative);
}

// Keeps contact i as number `kept`.
void keep(mjData* d, StepContacts& contacts, int i, int kept) {
  if (kept == i) return;
  d->contact[kept] = d->contact[i];
  contacts.gap[kept] = contacts.gap[i];
  contacts.band[kept] = contacts.band[i];
}

// Leaves out contacts across gaps that only an absurd speed closes, where they are too many.
void leave_out_absurd(const mjModel* m, mjData* d, StepContacts& contacts) {
  constexpr double kWild = 1e3;  // m/s, rad/s
  const auto closes_at = [&](double speed) {
    return [=, h = m->opt.timestep](double gap) { return gap > h * speed; };
  };
  const auto are_few = [&](auto is_absurd) {
    const auto begin = contacts.gap.begin();
    return std::count_if(begin, begin + d->ncon, is_absurd) <= kManyAtAbsurdSpeed;
  };
  if (are_few(closes_at(1.0))) return;
  const auto is_wild = [](double speed) { return std::abs(speed) > kWild; };
  const bool wild = std::any_of(d->cvel, d->cvel + 6 * m->nbody, is_wild);
  const auto is_absurd = closes_at(wild ? 1.0 : kAbsurdSpeed);
  if (are_few(is_absurd)) return;
  int kept = 0;
  for (int i = 0; i < d->ncon; ++i)
    if (!is_absurd(contacts.gap[i])) keep(d, contacts, i, kept++);
  d->ncon = kept;
}

}  // namespace

void leave_out_far_contacts(const mjModel* m, mjData* d, const Margins& margins,
                            StepContacts& contacts) {
  const double h = m->opt.timestep, least = least_margin(m);
  contacts.gap.resize(d->ncon);
  contacts.band.resize(d->ncon);
  int kept = 0;
  auto pair = margins.near.pairs.begin();  // contacts are in the order of their pairs
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& c = d->contact[i];
    while (margins.by_pairs && !std::equal(c.geom, c.geom + 2, pair->geom)) ++pair;
    const auto [widened, jolt] =
        margins.by_pairs ? Ahead{pair->ahead, pair->jolt} : ahead_of(m, c, margins);
    const double gap = c.dist - (c.includemargin - widened);
    const bool of_flex = c.geom[0] < 0 || c.geom[1] < 0;
    // The distance beyond the margin at which the model finds contacts that may adhere.
    const double band =
        of_flex ? 0.0 : gap_of(m, c.geom[0], c.geom[1], margins.by_pairs ? pair->listed : -1);
    bool near = gap < h + least || of_flex || (margins.near.sees_gaps && gap <= band);  // at 1 m/s
    if (!near) near = gap < h * (closing_speed(m, d, c) + 1.0) + jolt + least;
    if (!near) continue;
    contacts.gap[i] = gap;
    contacts.band[i] = band;
    keep(d, contacts, i, kept++);
  }
  d->ncon = kept;
  leave_out_absurd(m, d, contacts);
  contacts.gap.resize(d->ncon);
  contacts.band.resize(d->ncon);
  contacts.linear = contacts.gap;
  contacts.moved.assign(d->ncon, false);
  contacts.lands.assign(d->ncon, false);
  contacts.use.assign(d->ncon, Use::included);
}

}  // namespace stickslip::mujoco
