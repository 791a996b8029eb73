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
  const auto visit = [&](const StepContext& step) {
    std::vector<ContactRecord>& records = all[step.env];
    const bool none = num_contacts[step.env] == 0 && num_rows[step.env] == 0;  // as after a reset
    if (step.failed || none) return;
    std::vector<int> order;  // that of the problem
    for (int i = 0; i < (rigid() ? int(step.contacts.gap.size()) : int(step.d->ncon)); ++i)
      if (!rigid() || step.contacts.use[i] == Use::included) order.push_back(i);
    const mjContact* contact = step.d->contact;
    std::sort(order.begin(), order.end(),
              [&](int i, int j) { return contact[i].efc_address < contact[j].efc_address; });
    for (const int i : order) {
      ContactRecord& r = records.emplace_back(record_of(step.m, step.d, i));
      if (!rigid()) continue;
      r.gap = step.contacts.gap[i];
      std::copy_n(step.contacts.place.begin() + 3 * i, 3, r.position.begin());
    }
  };
  if (!revisit(ids, visit)) return std::vector<std::vector<ContactRecord>>(options.num_envs);
  return all;
}

}  // namespace stickslip::mujoco
