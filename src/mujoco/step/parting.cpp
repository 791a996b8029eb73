#include "src/mujoco/step/parting.hpp"

#include <algorithm>

namespace stickslip::mujoco {

double mobility(const StepContext& step, int row) {
  constexpr double kShare = 1e-3;
  auto& problems = step.buffers->problems();
  const auto diagonal = [&](int i) {
    return problems.W(step.slot)[std::int64_t(i) * (problems.max_rows() + 1)];
  };
  const RowCounts& counts = *step.problem().counts;
  const double along = diagonal(row);
  if (row < counts.n_free + counts.n_nonneg + counts.n_box) return along;
  return std::max(along, kShare * std::max(diagonal(row + 1), diagonal(row + 2)));
}

void part_without_friction(StepContext& step, const StepContact* contacts, int num_contacts,
                           double least_mobility) {
  constexpr double kSoft = 1e-2;  // of the mobility of a contact
  auto& problems = step.buffers->problems();
  const EnvSlot slot = step.problem();
  const int rows = step.rows(), ld = problems.max_rows();
  const double *W = problems.W(step.slot), *r = problems.warm_start(step.slot);
  step.parting_b.assign(rows, 0.0);
  step.parting_R.assign(slot.R, slot.R + rows);
  for (int row = slot.counts->n_free; row < slot.counts->n_free + slot.counts->n_nonneg; ++row) {
    double slack = slot.b[row] + slot.R[row] * r[row];  // of a limit
    for (int j = 0; j < rows; ++j) slack += W[std::int64_t(row) * ld + j] * r[j];
    step.parting_b[row] = std::max(0.0, slack);
  }
  for (int k = 0; k < num_contacts; ++k) {
    const StepContact& c = contacts[k];
    const bool moves = c.found && c.mobility > least_mobility;
    step.parting_b[c.row] = moves ? (c.end_gap - c.target_gap) / step.m->opt.timestep : 0.0;
    step.parting_R[c.row] += kSoft * c.mobility;
  }
  step.buffers->add_frictionless(step.slot, r, step.parting_b.data(), step.parting_R.data());
}

}  // namespace stickslip::mujoco
