#include "src/mujoco/parting.hpp"

#include <algorithm>

namespace stickslip::mujoco {

double mobility(const BatchSim::Impl& sim, const Passage& p, const StepContact& c) {
  constexpr double kShare = 1e-3;
  auto& problems = sim.buffers->problems();
  const auto diagonal = [&](int row) {
    return problems.W(p.slot)[std::int64_t(row) * (problems.max_rows() + 1)];
  };
  const EnvShape& shape = *sim.buffers->slot(p.slot).shape;
  const double along = diagonal(c.row);
  if (c.row < shape.n_free + shape.n_nonneg + shape.n_box) return along;
  return std::max(along, kShare * std::max(diagonal(c.row + 1), diagonal(c.row + 2)));
}

double least_mobility(const BatchSim::Impl& sim, const Passage& p, const StepContact* contacts,
                      int num_contacts) {
  constexpr double kRounding = 1e-12;
  double most = 0;
  for (int k = 0; k < num_contacts; ++k) most = std::max(most, mobility(sim, p, contacts[k]));
  return kRounding * most;
}

void part_without_friction(BatchSim::Impl& sim, const mjModel* m, Passage& p,
                           const StepContact* contacts, int num_contacts) {
  constexpr double kSoft = 1e-2;  // of the mobility of a contact
  auto& problems = sim.buffers->problems();
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const int rows = sim.buffers->rows(p.slot), ld = problems.max_rows();
  const double *W = problems.W(p.slot), *r = problems.warm_start(p.slot);
  p.base.assign(r, r + rows);
  p.parting_b.assign(rows, 0.0);
  p.parting_R.assign(slot.R, slot.R + rows);
  for (int row = slot.shape->n_free; row < slot.shape->n_free + slot.shape->n_nonneg; ++row) {
    double slack = slot.b[row] + slot.R[row] * r[row];  // of a limit
    for (int j = 0; j < rows; ++j) slack += W[std::int64_t(row) * ld + j] * r[j];
    p.parting_b[row] = std::max(0.0, slack);
  }
  const double least = least_mobility(sim, p, contacts, num_contacts);
  for (int k = 0; k < num_contacts; ++k) {
    const StepContact& c = contacts[k];
    const double easy = mobility(sim, p, c);
    p.parting_b[c.row] = c.found && easy > least ? (c.end_gap - c.wanted) / m->opt.timestep : 0.0;
    p.parting_R[c.row] += kSoft * easy;
  }
  sim.buffers->add_frictionless(p.slot, p.base.data(), p.parting_b.data(), p.parting_R.data());
}

}  // namespace stickslip::mujoco
