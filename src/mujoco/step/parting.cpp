#include "src/mujoco/step/parting.hpp"

#include <algorithm>

namespace stickslip::mujoco {

double mobility(const StepContext& step, const double* diagonal, int row) {
  constexpr double kShare = 1e-3;
  const RowCounts& counts = *step.problem().counts;
  const double along = diagonal[row];
  if (row < counts.n_free + counts.n_nonneg + counts.n_box) return along;
  return std::max(along, kShare * std::max(diagonal[row + 1], diagonal[row + 2]));
}

void part_without_friction(StepContext& step, const StepContact* contacts, int num_contacts,
                           double least_mobility) {
  constexpr double kSoft = 1e-2;  // of the mobility of a contact
  const EnvSlot slot = step.problem();
  const int rows = step.rows();
  const double* r = step.buffers->problems().warm_start(step.slot);
  step.parting_b.assign(rows, 0.0);
  step.parting_R.assign(slot.R, slot.R + rows);
  const int first_limit = slot.counts->n_free, end = first_limit + slot.counts->n_nonneg;
  if (end > first_limit) {
    step.parting_u.resize(rows);
    step.buffers->multiply_delassus(step.slot, r, step.parting_u.data());
  }
  for (int row = first_limit; row < end; ++row) {
    const double slack = slot.b[row] + slot.R[row] * r[row] + step.parting_u[row];
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
