#include "src/mujoco/contacts/boxes_apart.hpp"

#include <algorithm>

#include "src/mujoco/contacts/convex_search.hpp"
#include "src/mujoco/contacts/faces.hpp"

namespace stickslip::mujoco {
namespace {

// A contact of pair k of the model's list, at no place yet, as MuJoCo sets it.
mjContact contact_of_pair(const mjModel& searched, int k) {
  mjContact c{};
  c.geom[0] = c.geom1 = searched.pair_geom1[k];
  c.geom[1] = c.geom2 = searched.pair_geom2[k];
  for (int side = 0; side < 2; ++side) c.flex[side] = c.elem[side] = c.vert[side] = -1;
  c.includemargin = searched.pair_margin[k];
  c.adhesion = searched.pair_adhesion[k];
  c.dim = searched.pair_dim[k];
  for (int i = 0; i < 5; ++i) c.friction[i] = std::max(mjMINMU, searched.pair_friction[5 * k + i]);
  mju_copy(c.solref, searched.pair_solref + mjNREF * k, mjNREF);
  mju_copy(c.solimp, searched.pair_solimp + mjNIMP * k, mjNIMP);
  c.efc_address = -1;
  return c;
}

// The same at its place. Beyond the margin, only adhesion acts, along the normal.
mjContact contact_at(const mjModel& searched, const mjData* d, int k, const mjPreContact& found) {
  mjContact c = move_contact(&searched, d, contact_of_pair(searched, k), found);
  const bool beyond = c.dist >= c.includemargin;
  c.exclude = beyond && c.adhesion == 0;
  if (beyond && c.adhesion != 0) c.dim = 1;
  return c;
}

// Whether boxes move so far that a contact found a step too late would matter. Where they do not,
// diagonal neighbours keep no contact of two edges that bears nothing.
bool matters(const mjModel* m, const NearPair& pair) {
  constexpr double kLittle = 1e-2;  // of the smallest half size
  const auto& [a, b] = pair.geom;
  const double moved = pair.ahead - m->opt.timestep * kSpareSpeed - least_margin(m);
  return moved > kLittle * std::min(thinnest(m, a), thinnest(m, b));
}

}  // namespace

int search_apart(const mjModel* m, mjData* d, int a, int b, double margin, double shown,
                 mjPreContact* found) {
  constexpr double kNearer = 1 - 1e-3;
  if (!are_boxes(m, a, b) || shown <= growth(m, a, b)) return 0;
  const int count = convex_search()(m, d, found, a, b, margin);
  return count > 0 && found->dist < kNearer * shown ? count : 0;
}

void find_boxes_apart(const mjModel& searched, mjData* d, const std::vector<NearPair>& pairs,
                      std::vector<mjContact>& contacts) {
  const auto of_boxes = [&](const NearPair& pair) {
    return are_boxes(&searched, pair.geom[0], pair.geom[1]);
  };
  if (std::none_of(pairs.begin(), pairs.end(), of_boxes)) return;
  bool any = false;
  for (int k = 0, end = 0; k < int(pairs.size()); ++k) {
    const auto& [a, b] = pairs[k].geom;
    const int begin = end;
    const mjContact *const all = d->contact, *const shown = all + begin;
    while (end < d->ncon && all[end].geom[0] == a && all[end].geom[1] == b) ++end;
    mjPreContact found[mjMAXCONPAIR];
    int count = 0;
    if (matters(&searched, pairs[k])) {
      const double reach = searched.pair_margin[k] + searched.pair_gap[k];
      count = search_apart(&searched, d, a, b, reach, nearest(shown, end - begin), found);
    }
    if (count > 0 && !any) contacts.assign(all, shown);
    any = any || count > 0;
    if (any && count == 0) contacts.insert(contacts.end(), shown, all + end);
    for (int i = 0; i < count; ++i) contacts.push_back(contact_at(searched, d, k, found[i]));
  }
  if (any) replace_contacts(&searched, d, contacts);
}

}  // namespace stickslip::mujoco
