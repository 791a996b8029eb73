// The contacts of the latest steps, on request.
#include <algorithm>

#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {
namespace {

ContactRecord record_of(const mjModel* m, const mjData* d, int i) {
  const mjContact& c = d->contact[i];
  ContactRecord r{};
  std::copy_n(c.pos, 3, r.position.begin());
  std::copy_n(c.frame, 9, r.frame.begin());
  mj_contactForce(m, d, i, r.force.data());
  r.gap = c.dist;
  r.active = i < d->ncon;
  r.dim = c.dim;
  r.geom = {c.geom[0], c.geom[1]};
  std::copy_n(c.friction, 5, r.friction.begin());
  return r;
}

}  // namespace

std::vector<std::vector<ContactRecord>> SimBatch::contacts(const std::vector<int>& ids) {
  std::vector<std::vector<ContactRecord>> all(options.num_envs);
  const auto visit = [&](const mjModel* m, const mjData* d, const Passage& p) {
    std::vector<ContactRecord>& records = all[p.env];
    const bool none = num_contacts[p.env] == 0 && num_rows[p.env] == 0;  // as after a reset
    if (p.failed || none) return;
    std::vector<int> order;  // that of the problem
    for (int i = 0; i < (rigid() ? int(p.contacts.gap.size()) : int(d->ncon)); ++i)
      if (!rigid() || p.contacts.use[i] == Use::solved) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](int i, int j) { return d->contact[i].efc_address < d->contact[j].efc_address; });
    for (const int i : order) {
      ContactRecord& r = records.emplace_back(record_of(m, d, i));
      if (!rigid()) continue;
      r.gap = p.contacts.gap[i];
      std::copy_n(p.contacts.place.begin() + 3 * i, 3, r.position.begin());
    }
  };
  if (!revisit(ids, visit)) return std::vector<std::vector<ContactRecord>>(options.num_envs);
  return all;
}

}  // namespace stickslip::mujoco
