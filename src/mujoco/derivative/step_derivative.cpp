// Nothing here has a destructor, because MuJoCo's errors jump over it.
#include "src/mujoco/derivative/step_derivative.hpp"

#include <algorithm>
#include <utility>

#include "src/mujoco/model/bad_numbers.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/passage.hpp"
#include "src/mujoco/step/stages.hpp"
#include "src/mujoco/step/velocity_step.hpp"

namespace stickslip::mujoco {
namespace {

bool solved(const SimBatch& sim, const Passage& p) {
  return !p.failed && (sim.buffers->rows(p.slot) == 0 ||
                       sim.buffers->results().status(p.slot) == EnvStatus::solved);
}

// Whether the gap of a contact was found by looking along the path (ghosts.hpp): how it depends on
// the inputs is not known.
bool any_turns(const StepContacts& contacts) {
  for (std::size_t i = 0; i < contacts.gap.size(); ++i)
    if (contacts.use[i] == Use::solved && contacts.linear[i] != contacts.gap[i]) return true;
  return false;
}

bool repeat_step(SimBatch& sim, const mjModel* m, mjData* d, Passage& p, int env,
                 const double* state) {
  mj_setState(m, d, state, mjSTATE_INTEGRATION);
  sim.memory.begin(m, d, state);
  begin_passage(sim, p, env);
  run_part(sim, m, d, p, 0);
  if (std::exchange(p.short_of_memory, false)) return p.misfit = false;
  sim.misfit[env] = p.misfit;
  if (p.misfit) return false;
  finish_solution(sim, m, d, p);
  return solved(sim, p) && p.verdict.status == EnvStatus::solved &&
         !(sim.rigid() && any_turns(p.contacts));
}

void take_solution_of(const SimBatch& sim, const Passage& p, bool recovers, KnownSolution& known) {
  const double* r = sim.buffers->results().impulse(p.slot);
  known.recovers = recovers;
  known.impulse.assign(r, r + sim.buffers->rows(p.slot));
}

// Whether the positions moved with the velocities after `r`: position.hpp limits how far recovery
// turns joints and lifts bodies.
bool moved_freely(const SimBatch& sim, const mjModel* m, const mjData* d, const Passage& p,
                  StepPoint& point) {
  constexpr double kNear = 1e-6;
  std::vector<double>& v = point.direction;
  v.resize(m->nv);
  velocity_after(m, d, sim.buffers->slot(p.slot), sim.buffers->rows(p.slot),
                 point.positions.known.impulse.data(), v.data());
  for (int i = 0; i < m->nv; ++i)
    if (std::abs(v[i] - p.position_velocity[i]) > kNear * (1 + std::abs(v[i]))) return false;
  return true;
}

// The second solve of the step, once more, because its solution was not kept: with the biases of
// position.hpp, in which linear gaps are their own correction.
bool solve_recovery(SimBatch& sim, const mjModel* m, mjData* d, Passage& p, StepPoint& point) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const double h = m->opt.timestep;
  p.saved.keep_solution(*sim.buffers, p.slot);
  for (int row = 0; row < sim.buffers->rows(p.slot); ++row) {
    const mjContact* c = contact_of_normal(d, slot.efc_of[row]);
    if (!c) continue;
    const double gap = p.contacts.gap[c - d->contact];
    slot.b[row] = slot.free_velocity[row] + (gap - least_end_gap(sim.options.contact, gap, h)) / h;
  }
  solve_from(sim, p, sim.buffers->results().impulse(p.slot), Effort::brief);
  const bool good = solved(sim, p);
  take_solution_of(sim, p, true, point.positions.known);
  p.with_suspects.keep_solution(*sim.buffers, p.slot);
  p.saved.restore_solution(*sim.buffers, p.slot);
  return good && moved_freely(sim, m, d, p, point);
}

// A resting contact is at a kink of its gap: one that opens is closed within the step, one that
// overlaps remains. The derivative is that of the first.
bool rests_at_kink(const SimBatch& sim, const Passage& p, const mjData* d, const StepPoint& point) {
  constexpr double kNear = 1e-8;  // m
  if (!sim.rigid() || sim.formulation.contact.compliance > 0) return false;
  for (std::size_t row = 0; row < point.keys.size(); ++row) {
    const RowKey& key = point.keys[row];
    if (!key.rigid || !key.normal || point.velocities.known.impulse[row] <= 0) continue;
    if (std::abs(p.contacts.gap[d->efc_id[point.scratch.efc_of[row]]]) < kNear) return true;
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

void Validity::note(GradientStatus solve, double its_margin, double its_lost) {
  status = std::max(status, solve);
  margin = std::min(margin, its_margin);
  lost = std::max(lost, its_lost);
}

void Validity::write(const StepReport& to, int env) const {
  to.status[env] = status;
  to.qpos_status[env] = std::max(status, qpos_status);
  to.margin[env] = margin;
  to.lost[env] = lost;
}

bool open_step(const DerivativeJob& job, const mjModel* m, mjData* d, Passage& p, int env,
               StepPoint& point, Validity& validity) {
  SimBatch& sim = *job.sim;
  point.state = job.state + std::int64_t(env) * sim.nstate;
  if (!repeat_step(sim, m, d, p, env, point.state)) return false;
  take_point(m, d, point);
  name_rows(sim, d, p, point.keys);
  take_solution_of(sim, p, false, point.velocities.known);
  point.recovers = p.repositioned;
  if (point.recovers && !solve_recovery(sim, m, d, p, point)) return false;
  const EnvSlot slot = sim.buffers->slot(p.slot);
  point.scratch.efc_of.assign(slot.efc_of, slot.efc_of + point.keys.size());
  if (rests_at_kink(sim, p, d, point)) validity.qpos_status = GradientStatus::kink;
  bool good = true;
  point.for_solves([&](SolveDerivative& solve) {
    good = good && evaluate(sim, m, d, p, point.keys, solve.known, point.scratch, solve.base);
  });
  if (!good || bad_acceleration_to(m, d, point.velocities.base.velocity.data())) return false;
  point.left_out =
      count_left_out(sim, m, d, p, point.scratch, point.velocities.base.velocity.data());
  return true;
}

void enter_solve(SimBatch& sim, const Passage& p, const StepPoint& point,
                 const SolveDerivative& solve) {
  if (!point.recovers) return;
  (&solve == &point.positions ? p.with_suspects : p.saved).restore_solution(*sim.buffers, p.slot);
}

}  // namespace stickslip::mujoco
