#include "src/mujoco/problem/warm_start.hpp"

#include <algorithm>
#include <bitset>
#include <limits>

namespace stickslip::mujoco {
namespace {

// In steps with more contacts, the others start cold. All are copied with the state.
constexpr int kContactsPerTree = 16;  // a robot, or a body of a pile
constexpr int kMostContacts = 1024;
constexpr int kMostRows = 256;

// A contact: its pair, position [3], force [3] and, if geoms have torsional friction, moment [3],
// all in the world's frame, which does not rotate as a contact's frame does.
enum ContactField { kPair = 0, kPosition = 1, kForce = 4, kMoment = 7, kContactSize = 10 };

bool has_moments(const mjModel& m) {
  const auto rolls = [](int condim) { return condim > 3; };
  return std::any_of(m.geom_condim, m.geom_condim + m.ngeom, rolls) ||
         std::any_of(m.flex_condim, m.flex_condim + m.nflex, rolls) ||
         std::any_of(m.pair_dim, m.pair_dim + m.npair, rolls);
}

// The maximum number of rows that are not contacts (equalities of flexible bodies have more).
int most_rows(const mjModel& m) {
  const auto positive = [](mjtNum value) { return value > 0; };
  const auto rows =
      6 * m.neq + std::count_if(m.dof_frictionloss, m.dof_frictionloss + m.nv, positive) +
      std::count_if(m.tendon_frictionloss, m.tendon_frictionloss + m.ntendon, positive) +
      std::count(m.jnt_limited, m.jnt_limited + m.njnt, true) +
      std::count(m.tendon_limited, m.tendon_limited + m.ntendon, true);
  return int(std::min<std::int64_t>(rows, kMostRows));
}

mjtNum pair_of(const mjModel* m, const mjContact& c) {
  const auto side = [&](int s) { return c.geom[s] >= 0 ? c.geom[s] : m->ngeom + c.flex[s]; };
  return mjtNum(side(0)) * mjtNum(m->ngeom + m->nflex) + mjtNum(side(1));
}

// Frictionless contacts are rows like others; the number of a contact does not identify it.
mjtNum id_of(const mjModel* m, const mjData* d, int i) {
  const int type = d->efc_type[i], id = d->efc_id[i];
  return 16 * (type == mjCNSTR_CONTACT_FRICTIONLESS ? pair_of(m, d->contact[id]) : id) + type;
}

// The state is writable by the caller, so the count is checked.
int count_in(mjtNum kept, int most) { return kept >= 0 && kept <= most ? int(kept) : 0; }

int rows_of(const RowCounts& s) { return s.n_free + s.n_nonneg + s.n_box; }

// MuJoCo's contact whose normal is row `row`; frictionless ones are nonneg rows.
const mjContact& contact_at(const mjData* d, const EnvSlot& slot, int row) {
  return d->contact[d->efc_id[slot.efc_of[row]]];
}

}  // namespace

ImpulseStore::ImpulseStore(mjModel& m)
    : begin_(int(m.nuserdata)),
      max_rows_(most_rows(m)),
      max_contacts_(std::min(kContactsPerTree * std::max(int(m.ntree), 1), kMostContacts)),
      contact_size_(has_moments(m) ? kContactSize : kMoment) {
  m.nuserdata += 2 + 2 * max_rows_ + contact_size_ * max_contacts_;
}

bool ImpulseStore::recall(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows,
                          double* r) const {
  mju_zero(r, rows);
  if (contact_size_ == 0) return false;
  const bool found = recall_rows(m, d, slot, r);
  return recall_contacts(m, d, slot, rows, r) || found;
}

// MuJoCo orders rows by type and id: what was there in the last step comes in the same order.
bool ImpulseStore::recall_rows(const mjModel* m, const mjData* d, const EnvSlot& slot,
                               double* r) const {
  const int count = count_in(d->userdata[begin_], max_rows_);
  bool found = false;
  for (int row = 0, next = 0; row < rows_of(*slot.counts); ++row) {
    const mjtNum id = id_of(m, d, slot.efc_of[row]);
    for (int tried = 0, at = next; tried < count; ++tried, at = at + 1 < count ? at + 1 : 0) {
      const mjtNum* kept = kept_rows(d) + 2 * at;
      if (kept[0] != id) continue;
      r[row] = kept[1];
      next = at + 1 < count ? at + 1 : 0;
      found = true;
      break;
    }
  }
  return found;
}

bool ImpulseStore::recall_contacts(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows,
                                   double* r) const {
  const int count = count_in(d->userdata[begin_ + 1], max_contacts_);
  std::bitset<kMostContacts> taken;
  bool found = false;
  for (int row = rows_of(*slot.counts); row < rows; row += contact_at(d, slot, row).dim) {
    const mjContact& contact = contact_at(d, slot, row);
    const mjtNum pair = pair_of(m, contact);
    mjtNum least = std::numeric_limits<mjtNum>::infinity();
    int nearest = -1;
    for (int k = 0; k < count; ++k) {
      const mjtNum* kept = kept_contacts(d) + contact_size_ * k;
      if (kept[kPair] != pair || taken[std::size_t(k)]) continue;
      const mjtNum distance = mju_dist3(kept + kPosition, contact.pos);
      if (distance < least) {
        least = distance;
        nearest = k;
      }
    }
    if (nearest < 0) continue;
    taken[std::size_t(nearest)] = found = true;
    const mjtNum* kept = kept_contacts(d) + contact_size_ * nearest;
    mjtNum local[6];
    mju_mulMatVec3(local, contact.frame, kept + kForce);
    if (contact.dim > 3) mju_mulMatVec3(local + 3, contact.frame, kept + kMoment);
    mju_copy(r + row, local, contact.dim);
  }
  return found;
}

void ImpulseStore::keep(const mjModel* m, mjData* d, const EnvSlot& slot, int rows,
                        const double* r) const {
  if (contact_size_ == 0) return;
  int row = 0;
  for (; row < std::min(rows_of(*slot.counts), max_rows_); ++row) {
    kept_rows(d)[2 * row] = id_of(m, d, slot.efc_of[row]);
    kept_rows(d)[2 * row + 1] = r[row];
  }
  d->userdata[begin_] = row;

  int count = 0;
  for (row = rows_of(*slot.counts); row < rows && count < max_contacts_;) {
    const mjContact& contact = contact_at(d, slot, row);
    mjtNum* kept = kept_contacts(d) + contact_size_ * count;
    mjtNum local[6] = {};
    mju_copy(local, r + row, contact.dim);
    row += contact.dim;
    if (local[0] == 0) continue;  // contacts without a force start from rest
    kept[kPair] = pair_of(m, contact);
    mju_copy3(kept + kPosition, contact.pos);
    mju_mulMatTVec3(kept + kForce, contact.frame, local);
    if (contact_size_ > kMoment) mju_mulMatTVec3(kept + kMoment, contact.frame, local + 3);
    ++count;
  }
  d->userdata[begin_ + 1] = count;
}

}  // namespace stickslip::mujoco
