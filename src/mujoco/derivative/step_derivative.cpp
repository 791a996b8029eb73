// Nothing here has a destructor, because MuJoCo's errors jump over it.
#include "src/mujoco/derivative/step_derivative.hpp"

#include <algorithm>
#include <utility>

#include "src/mujoco/model/bad_numbers.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/env_step.hpp"
#include "src/mujoco/step/second_solve.hpp"
#include "src/mujoco/step/stages.hpp"

namespace stickslip::mujoco {
namespace {

bool succeeded(const StepContext& step) {
  return !step.failed && (step.rows() == 0 || solved(step));
}

// Whether the gap of a contact was found by looking along the path (ghosts.hpp): how it depends on
// the inputs is not known.
bool any_turns(const StepContacts& contacts) {
  for (std::size_t i = 0; i < contacts.gap.size(); ++i)
    if (contacts.use[i] == Use::included && contacts.linear[i] != contacts.gap[i]) return true;
  return false;
}

bool repeat_step(StepContext& step, const double* state) {
  mj_setState(step.m, step.d, state, mjSTATE_INTEGRATION);
  step.sim->memory.begin(step.m, step.d, state);
  begin_context(step);
  run_part(step, 0);
  if (std::exchange(step.short_of_memory, false)) return step.misfit = false;
  step.sim->misfit[step.env] = step.misfit;
  if (step.misfit) return false;
  finish_solution(step);
  return succeeded(step) && step.verdict.status == EnvStatus::solved &&
         !(step.sim->rigid() && any_turns(step.contacts));
}

void take_solution_of(const StepContext& step, bool recovers, KnownSolution& known) {
  const double* r = step.impulse();
  known.recovers = recovers;
  known.impulse.assign(r, r + step.rows());
}

// Whether the positions moved with the velocities after `r`: position.hpp limits how far recovery
// turns joints and lifts bodies.
bool moved_freely(const StepContext& step, StepPoint& point) {
  constexpr double kNear = 1e-6;
  std::vector<double>& v = point.direction;
  v.resize(step.m->nv);
  velocity_after(step.m, step.d, step.problem(), step.rows(), point.positions.known.impulse.data(),
                 v.data());
  for (int i = 0; i < step.m->nv; ++i)
    if (std::abs(v[i] - step.position_velocity[i]) > kNear * (1 + std::abs(v[i]))) return false;
  return true;
}

// The second solve of the step, once more, because its solution was not kept: with the biases of
// position.hpp, in which linear gaps are their own correction.
bool solve_recovery(StepContext& step, StepPoint& point) {
  const EnvSlot slot = step.problem();
  const double h = step.m->opt.timestep;
  step.saved.keep_solution(*step.buffers, step.slot);
  for (int row = 0; row < step.rows(); ++row) {
    const mjContact* c = contact_of_normal(step.d, slot.efc_of[row]);
    if (!c) continue;
    const int number = int(c - step.d->contact);
    const ContactModel& model = step.contacts.model(number);
    if (is_soft(model)) continue;
    const double gap = step.contacts.gap[number];
    slot.b[row] = slot.free_velocity[row] + (gap - least_end_gap(model, gap, h)) / h;
  }
  solve_from(step, step.impulse(), Effort::positions);
  const bool good = succeeded(step);
  take_solution_of(step, true, point.positions.known);
  step.with_suspects.keep_solution(*step.buffers, step.slot);
  step.saved.restore_solution(*step.buffers, step.slot);
  return good && moved_freely(step, point);
}

// A resting contact is at a kink of its gap: one that opens is closed within the step, one that
// overlaps remains. The derivative is that of the first.
bool rests_at_kink(const StepContext& step, const StepPoint& point) {
  constexpr double kNear = 1e-8;  // m
  if (!step.sim->rigid()) return false;
  for (std::size_t row = 0; row < point.keys.size(); ++row) {
    const RowKey& key = point.keys[row];
    if (!key.rigid || !key.normal || point.velocities.known.impulse[row] <= 0) continue;
    const int contact = step.d->efc_id[point.scratch.efc_of[row]];
    if (is_soft(step.contacts.model(contact))) continue;
    if (std::abs(step.contacts.gap[contact]) < kNear) return true;
  }
  return false;
}

}  // namespace

void Validity::note(Smoothness smoothness, Input::Kind input) {
  GradientStatus& noted = input == Input::qpos ? qpos_status : status;
  // The friction of a contact is the larger one of its geoms: with equal ones, each has half.
  if (smoothness == Smoothness::kink && input != Input::field)
    noted = std::max(noted, GradientStatus::kink);
  if (smoothness == Smoothness::unknown) status = qpos_status = GradientStatus::unsolved;
}

void Validity::note(GradientStatus solve, double its_kink_distance, double its_inconsistency) {
  status = std::max(status, solve);
  kink_distance = std::min(kink_distance, its_kink_distance);
  inconsistency = std::max(inconsistency, its_inconsistency);
}

void Validity::write(const StepReport& to, int env) const {
  to.status[env] = status;
  to.qpos_status[env] = std::max(status, qpos_status);
  to.kink_distance[env] = kink_distance;
  to.inconsistency[env] = inconsistency;
}

bool open_step(const DerivativeJob& job, StepContext& step, StepPoint& point, Validity& validity) {
  point.state = job.state + std::int64_t(step.env) * step.sim->nstate;
  if (!repeat_step(step, point.state)) return false;
  take_point(step.m, step.d, point);
  name_rows(step, point.keys);
  take_solution_of(step, false, point.velocities.known);
  point.recovers = step.repositioned;
  if (point.recovers && !solve_recovery(step, point)) return false;
  const EnvSlot slot = step.problem();
  point.scratch.efc_of.assign(slot.efc_of, slot.efc_of + point.keys.size());
  if (rests_at_kink(step, point)) validity.qpos_status = GradientStatus::kink;
  bool good = true;
  point.for_solves([&](SolveDerivative& solve) {
    good = good && evaluate(step, point.keys, solve.known, point.scratch, solve.base);
  });
  if (!good || bad_acceleration_to(step.m, step.d, point.velocities.base.velocity.data()))
    return false;
  point.left_out = count_left_out(step, point.scratch, point.velocities.base.velocity.data());
  return true;
}

void enter_solve(const StepContext& step, const StepPoint& point, const SolveDerivative& solve) {
  if (!point.recovers) return;
  (&solve == &point.positions ? step.with_suspects : step.saved)
      .restore_solution(*step.buffers, step.slot);
}

}  // namespace stickslip::mujoco
