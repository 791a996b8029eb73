#include "src/mujoco/problem/warm_start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "src/mujoco/problem/impulse_room.hpp"

namespace stickslip::mujoco {
namespace {

// Share of max|b| by which b may change. Steps from the selected solution of one b lead to that of
// another; what moves the choice is the change of W, of which b and the contacts' places tell.
constexpr mjtNum kSameSelection = 1e-3;
// For how long a choice is kept. What is selected: until solves have moved it by this share of the
// impulses, because each adds an error, of what no motion explains in b, over the compliance of
// selection. What is not, because that failed: for some steps; where the problem is still the same
// then, for twice as many.
constexpr mjtNum kDrift = 1e-4, kAWhile = 4, kLong = 64;

// A contact: its pair, position [3], force [3] and, if geoms have torsional friction, moment [3],
// all in the world's frame, which does not rotate as a contact's frame does.
enum ContactField { kPair = 0, kPosition = 1, kForce = 4, kMoment = 7, kContactSize = 10 };

bool has_moments(const mjModel& m) {
  const auto rolls = [](int condim) { return condim > 3; };
  return std::any_of(m.geom_condim, m.geom_condim + m.ngeom, rolls) ||
         std::any_of(m.flex_condim, m.flex_condim + m.nflex, rolls) ||
         std::any_of(m.pair_dim, m.pair_dim + m.npair, rolls);
}

// The state is writable by the caller, so the count is checked.
int count_in(mjtNum kept, int most) { return kept >= 0 && kept <= most ? int(kept) : 0; }

// A contact of the last step or of this one, and which of the other list with its pair is nearest.
struct Place {
  mjtNum pair;
  const mjtNum* position;
  int index;    // of the kept contact, or its row
  int nearest;  // in the other list; -1: none
};

// MuJoCo's order is nearly this one already.
void sort_by_pair(Place* places, int count) {
  const auto before = [](const Place& a, const Place& b) {
    return a.pair != b.pair ? a.pair < b.pair : a.index < b.index;
  };
  if (!std::is_sorted(places, places + count, before)) std::sort(places, places + count, before);
}

int end_of_pair(const Place* places, int count, int i) {
  int end = i + 1;
  while (end < count && places[end].pair == places[i].pair) ++end;
  return end;
}

void find_nearest(Place* of, int begin, int end, const Place* among, int first, int last) {
  for (int i = begin; i < end; ++i) {
    mjtNum least = std::numeric_limits<mjtNum>::infinity();
    for (int k = first; k < last; ++k) {
      const mjtNum distance = mju_dist3(of[i].position, among[k].position);
      if (!(distance < least)) continue;
      least = distance;
      of[i].nearest = k;
    }
  }
}

// The print of a choice that was made in this step; `unchanged`: in the islands that had changed.
ProblemPrint choice_of(ProblemPrint print, const ProblemPrint& before, bool selected,
                       bool unchanged) {
  const bool goes_on = unchanged && selected == (before.serves > 0);
  if (goes_on) {
    print.serves = selected ? before.serves : before.serves + 1;
    print.wait = before.wait;
  } else if (selected) {
    print.serves = kDrift;
  } else {
    const bool again = before.wait > 0 && is_same(before, print, kSameSelection);
    print.wait = again ? std::min(2 * before.wait, kLong) : kAWhile;
    print.serves = -print.wait;
  }
  return print;
}

}  // namespace

ImpulseStore::ImpulseStore(mjModel& m)
    : begin_(int(m.nuserdata)),
      max_rows_(most_rows(m)),
      max_contacts_(most_contacts(m)),
      contact_size_(has_moments(m) ? kContactSize : kMoment) {
  m.nuserdata += kHead + 2 * max_rows_ + contact_size_ * max_contacts_;
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
  for (int row = 0, next = 0; row < scalar_rows(*slot.counts); ++row) {
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
  std::array<Place, kMostContacts> old, now;
  int num_old = 0, num_now = 0;
  const int count = count_in(d->userdata[begin_ + 1], max_contacts_);
  for (; num_old < count; ++num_old) {
    const mjtNum* kept = kept_contacts(d) + contact_size_ * num_old;
    old[num_old] = {kept[kPair], kept + kPosition, num_old, -1};
  }
  for (int row = scalar_rows(*slot.counts); row < rows && num_now < kMostContacts; ++num_now) {
    const mjContact& contact = contact_at(d, slot, row);
    now[num_now] = {pair_of(m, contact), contact.pos, row, -1};
    row += contact.dim;
  }
  sort_by_pair(old.data(), num_old);
  sort_by_pair(now.data(), num_now);
  bool found = false;
  for (int i = 0, k = 0, i_end, k_end; i < num_now; i = i_end) {
    i_end = end_of_pair(now.data(), num_now, i);
    while (k < num_old && old[k].pair < now[i].pair) ++k;
    for (k_end = k; k_end < num_old && old[k_end].pair == now[i].pair;) ++k_end;
    find_nearest(now.data(), i, i_end, old.data(), k, k_end);
    find_nearest(old.data(), k, k_end, now.data(), i, i_end);
    for (int at = i; at < i_end; ++at) {
      const int nearest = now[at].nearest;
      if (nearest < 0 || old[nearest].nearest != at) continue;
      const int row = now[at].index;
      const mjContact& contact = contact_at(d, slot, row);
      const mjtNum* kept = kept_contacts(d) + contact_size_ * old[nearest].index;
      mjtNum local[6];
      mju_mulMatVec3(local, contact.frame, kept + kForce);
      if (contact.dim > 3) mju_mulMatVec3(local + 3, contact.frame, kept + kMoment);
      mju_copy(r + row, local, contact.dim);
      found = true;
    }
    k = k_end;
  }
  return found;
}

std::int32_t ImpulseStore::recall_selected(const mjModel* m, const mjData* d, const EnvSlot& slot,
                                           int rows) const {
  if (contact_size_ == 0 || kept_print(d).rows == 0 || kept_print(d).serves == 0) return 0;
  if (is_same(kept_print(d), print_of(m, d, slot, rows), kSameSelection)) return 1;
  return kept_print(d).serves > 0 ? kSelectedWhereUnchanged : 0;
}

void ImpulseStore::keep(const mjModel* m, mjData* d, const EnvSlot& slot, int rows, const double* r,
                        Solution solution, std::int32_t start_selected, mjtNum moved) const {
  if (contact_size_ == 0) return;
  int row = 0;
  for (; row < std::min(scalar_rows(*slot.counts), max_rows_); ++row) {
    kept_rows(d)[2 * row] = id_of(m, d, slot.efc_of[row]);
    kept_rows(d)[2 * row + 1] = r[row];
  }
  d->userdata[begin_] = row;

  int count = 0;
  for (row = scalar_rows(*slot.counts); row < rows && count < max_contacts_;) {
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
  // A start without some of the impulses is not what was selected.
  const bool whole = row >= rows && scalar_rows(*slot.counts) <= max_rows_;
  if (!whole) solution = Solution::none;
  ProblemPrint& print = kept_print(d);
  if (solution == Solution::none || rows == 0) {
    print = {};
  } else if (start_selected != 1) {
    print = choice_of(print_of(m, d, slot, rows), print, solution == Solution::selected,
                      start_selected == kSelectedWhereUnchanged);
  } else if (print.serves < 0) {
    ++print.serves;
  } else if (!((print.serves -= moved) > 0)) {
    print = {};
  }
}

// Rows tell less than the depth: joints on their limits and other contacts come and go while links
// overlap for ever.
bool ImpulseStore::skips_recovery(mjData* d, mjtNum depth) const {
  constexpr mjtNum kMuch = 1.5;
  if (contact_size_ == 0) return false;
  Wait& wait = kept_wait(d);
  const bool same = depth < kMuch * wait.depth && wait.depth < kMuch * depth;
  if (!(wait.steps > 0) || !same) return false;
  wait.steps -= 1;
  return true;
}

void ImpulseStore::note_recovery(mjData* d, mjtNum depth, bool failed) const {
  constexpr mjtNum kFirst = 16, kMost = 256;  // steps
  if (contact_size_ == 0) return;
  Wait& wait = kept_wait(d);
  const mjtNum length = wait.length > 0 ? std::min(2 * wait.length, kMost) : kFirst;
  wait = failed ? Wait{depth, length, length} : Wait{};
}

bool ImpulseStore::is_hopeless(const mjData* d) const {
  if (contact_size_ == 0) return false;
  int exponent = 0;
  const mjtNum failures = kept_failures(d);
  return failures > 2 && std::frexp(failures, &exponent) != 0.5;
}

void ImpulseStore::note_solve(mjData* d, bool failed) const {
  constexpr mjtNum kMost = 1e9;
  if (contact_size_ > 0) kept_failures(d) = failed ? std::min(kept_failures(d) + 1, kMost) : 0;
}

}  // namespace stickslip::mujoco
