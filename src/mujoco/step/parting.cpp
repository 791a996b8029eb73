#include "src/mujoco/step/parting.hpp"

#include <algorithm>

namespace stickslip::mujoco {

double mobility(const SimBatch& sim, const Passage& p, int row) {
  constexpr double kShare = 1e-3;
  auto& problems = sim.buffers->problems();
  const auto diagonal = [&](int i) {
    return problems.W(p.slot)[std::int64_t(i) * (problems.max_rows() + 1)];
  };
  const EnvShape& shape = *sim.buffers->slot(p.slot).shape;
  const double along = diagonal(row);
  if (row < shape.n_free + shape.n_nonneg + shape.n_box) return along;
  return std::max(along, kShare * std::max(diagonal(row + 1), diagonal(row + 2)));
}

void part_without_friction(SimBatch& sim, const mjModel* m, Passage& p, const StepContact* contacts,
                           int num_contacts, double least_mobility) {
  constexpr double kSoft = 1e-2;  // of the mobility of a contact
  auto& problems = sim.buffers->problems();
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const int rows = sim.buffers->rows(p.slot), ld = problems.max_rows();
  const double *W = problems.W(p.slot), *r = problems.warm_start(p.slot);
  p.parting_b.assign(rows, 0.0);
  p.parting_R.assign(slot.R, slot.R + rows);
  for (int row = slot.shape->n_free; row < slot.shape->n_free + slot.shape->n_nonneg; ++row) {
    double slack = slot.b[row] + slot.R[row] * r[row];  // of a limit
    for (int j = 0; j < rows; ++j) slack += W[std::int64_t(row) * ld + j] * r[j];
    p.parting_b[row] = std::max(0.0, slack);
  }
  for (int k = 0; k < num_contacts; ++k) {
    const StepContact& c = contacts[k];
    const bool moves = c.found && c.mobility > least_mobility;
    p.parting_b[c.row] = moves ? (c.end_gap - c.wanted) / m->opt.timestep : 0.0;
    p.parting_R[c.row] += kSoft * c.mobility;
  }
  sim.buffers->add_frictionless(p.slot, r, p.parting_b.data(), p.parting_R.data());
}

}  // namespace stickslip::mujoco
