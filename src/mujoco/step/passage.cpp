#include "src/mujoco/step/passage.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/contacts/touching.hpp"
#include "src/mujoco/model/bad_numbers.hpp"
#include "src/mujoco/problem/integrator.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/position.hpp"
#include "src/mujoco/step/stages.hpp"
#include "src/mujoco/step/velocity_step.hpp"

namespace stickslip::mujoco {
namespace {

// From the state before the solver to the solution of its problem, if the buffers have room. On the
// GPU the solve follows later, for all at once except those that are solved without W.
void gather_and_solve(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  PhaseTimer timer(p);
  const int contacts = shape_of(d).n_contacts;
  p.misfit = !sim.buffers->fits(d->nefc, contacts);
  if (p.misfit) {
    p.rows_needed = std::max(p.rows_needed, d->nefc);
    p.contacts_needed = std::max(p.contacts_needed, contacts);
    return;
  }
  const EnvSlot slot = sim.buffers->slot(p.slot);
  if (!gather_motion(m, d, sim.formulation.level, slot) || any_bad(slot.a_free, m->nv)) {
    sim.buffers->clear(p.slot);
    p.failed = true;
    return;
  }
  // If end gaps are measured, a rotating body may close one that a linear gap keeps open.
  if (sim.rigid() && sim.options.position_iterations == 0) cull(m, d, slot.a_free, p.contacts);
  p.bounce = 1;
  p.repositioned = false;
  pose_problem(sim, m, d, p);
  const int rows = sim.buffers->rows(p.slot);
  p.warm = sim.impulses.recall(m, d, slot, rows, sim.buffers->problems().warm_start(p.slot));
  timer.mark(kGather);
  p.absurd = sim.buffers->is_absurd(p.slot);
  if (rows == 0) return;
  sim.buffers->form_delassus(p.slot);
  timer.mark(kDelassus);
  if (sim.gpu() && !sim.buffers->on_cpu(p.slot)) return;
  sim.buffers->solve(p.slot);
  if (!sim.gpu()) take_solution(sim, p);
  timer.mark(kSolve);
}

int memory_warnings(const mjData* d) {
  return d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number;
}

// MuJoCo leaves out contacts and constraints that do not fit its memory, and warns: such a step
// does not count as solved.
void note_left_out(const SimBatch& sim, const mjData* d, int warnings_before, Passage& p) {
  const bool left_out = memory_warnings(d) != warnings_before;
  if (left_out || sim.memory.exceeded(d)) p.verdict.status = EnvStatus::over_capacity;
  p.short_of_memory = left_out && sim.memory.can_grow();
}

void forward_and_solve(SimBatch& sim, const mjModel* m, mjData* d, Passage& p, bool sensors) {
  PhaseTimer timer(p);
  p.failed = bad_state(m, d) || bad_inputs(m, d) || bad_mocap_velocity(m, d);
  if (p.failed) return;
  const int warnings = memory_warnings(d);
  forward_to_solver(sim, m, d, p, sensors);
  note_left_out(sim, d, warnings, p);
  p.misfit = p.short_of_memory && !sim.gpu();
  timer.mark(kMujoco);
  if (p.misfit) return;
  gather_and_solve(sim, m, d, p);
}

void first_part(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  sim.buffers->clear(p.slot);
  begin_mocap(m, d, p.first_of);
  if (sim.rk4) rk4_begin(m, d, sim.rk4->slot(p.slot));
  forward_and_solve(sim, m, d, p, true);
}

// Stores the verdict on the solution; that on a Runge-Kutta step is the worst of its stages.
void conclude(SimBatch& sim, Passage& p) {
  const int rows = sim.buffers->rows(p.slot);
  Verdict& v = p.verdict;
  v.num_rows = rows;
  if (rows == 0) return;
  const auto& r = sim.buffers->results();
  v.status = std::max(v.status, r.status(p.slot));
  v.residual = std::max(v.residual, r.residual(p.slot));
  v.solver = r.solver(p.slot);
  v.rung = std::max(v.rung, r.rung(p.slot));
}

void write_solution(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  PhaseTimer timer(p);
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const int rows = sim.buffers->rows(p.slot);
  const double* impulse = sim.buffers->results().impulse(p.slot);
  conclude(sim, p);
  scatter(m, d, sim.formulation.level, slot.efc_of, rows, impulse);
  sim.impulses.keep(m, d, slot, rows, impulse);
  timer.mark(kScatter);
  apply_forces(m, d);
  timer.mark(kApply);
  if (sim.rigid()) {
    p.verdict.culled = p.contacts.count(Use::culled);
    sort_touching(m, d, p.contacts);
  }
  p.verdict.num_contacts = d->ncon;
  p.failed = accelerates_beyond_limit(m, d, sim.formulation.level, slot, rows, impulse);
}

void keep_sensors(SimBatch& sim, const mjModel* m, const mjData* d, const Passage& p) {
  mju_copy(sim.sensordata.data() + m->nsensordata * p.env, d->sensordata, int(m->nsensordata));
}

// Stage k >= 1 of Runge-Kutta: ends the stage before and begins this one.
void next_stage(SimBatch& sim, const mjModel* m, mjData* d, Passage& p, int k) {
  write_solution(sim, m, d, p);
  if (p.failed) return;
  const Rk4Slot slot = sim.rk4->slot(p.slot);
  if (k == 1) {
    after_solver(m, d);
    keep_sensors(sim, m, d, p);
  }
  rk4_record(m, d, slot, k - 1);
  rk4_enter(m, d, slot, k);
  forward_and_solve(sim, m, d, p, false);
}

void finish_rk4(SimBatch& sim, const mjModel* m, mjData* d, const Passage& p) {
  rk4_record(m, d, sim.rk4->slot(p.slot), kRk4Stages - 1);
  rk4_advance(m, d, sim.rk4->slot(p.slot));
}

// Velocities advance with the solution; if penetration is recovered, positions advance with
// separate velocities.
void advance(const mjModel* m, mjData* d, const Passage& p) {
  if (!p.repositioned) return integrate(m, d);
  mj_markStack(d);
  mjtNum* q = mj_stackAllocNum(d, m->nq);
  mju_copy(q, d->qpos, int(m->nq));
  integrate(m, d);
  mju_copy(d->qpos, q, int(m->nq));
  mj_integratePos(m, d->qpos, p.position_velocity.data(), m->opt.timestep);
  mj_freeStack(d);
}

void finish_one_solve(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  if (sim.rigid()) show_to_sensors(m, d, p.contacts);
  after_solver(m, d);
  if (sim.rigid()) hide_from_sensors(m, d, p.contacts);
  keep_sensors(sim, m, d, p);
  if (sim.formulation.level == Level::velocity)
    advance(m, d, p);
  else if (m->opt.integrator == mjINT_EULER)
    mj_Euler(m, d);
  else
    mj_implicit(m, d);
}

void go_back(SimBatch& sim, const mjModel* m, mjData* d, const Passage& p) {
  mj_setState(m, d, sim.begin_state(p.env), mjSTATE_INTEGRATION);
}

// A failed environment does not advance.
void recover(SimBatch& sim, const mjModel* m, mjData* d, const Passage& p) {
  sim.autoreset() ? mj_resetData(m, d) : go_back(sim, m, d, p);
}

void refuse(Verdict& v) {
  v.status = EnvStatus::bad_input;
  v.residual = std::numeric_limits<double>::infinity();
}

void fail(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  refuse(p.verdict);
  p.verdict.num_contacts = p.verdict.num_rows = 0;
  recover(sim, m, d, p);
}

void last_part(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  finish_solution(sim, m, d, p);
  if (!p.failed) write_solution(sim, m, d, p);
  if (p.failed) return fail(sim, m, d, p);
  PhaseTimer timer(p);
  sim.rk4 ? finish_rk4(sim, m, d, p) : finish_one_solve(sim, m, d, p);
  end_mocap(m, d);
  timer.mark(kMujoco);
}

constexpr int kBadNumbers[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC};

// Whether mj_step met invalid numbers, or left some. MuJoCo checks stage 1 of Runge-Kutta only. Its
// reset clears its counters and counts the warning, so the counters are compared with zero.
bool mujoco_failed(const mjModel* m, const mjData* d) {
  for (const int w : kBadNumbers)
    if (d->warning[w].number) return true;
  return bad_state(m, d);
}

void step_by_mujoco(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  PhaseTimer timer(p);
  const int memory = memory_warnings(d);
  for (const int w : kBadNumbers) d->warning[w].number = 0;
  p.failed = bad_inputs(m, d);
  if (p.failed) return fail(sim, m, d, p);
  mj_step(m, d);
  p.failed = mujoco_failed(m, d);
  note_left_out(sim, d, memory, p);
  p.misfit = p.short_of_memory;
  if (p.misfit) return go_back(sim, m, d, p);
  p.verdict.num_contacts = d->ncon;
  p.verdict.num_rows = d->nefc;
  p.verdict.residual = reported_residual(d);
  p.verdict.iterations = std::accumulate(d->solver_niter, d->solver_niter + reported_islands(d), 0);
  keep_sensors(sim, m, d, p);
  if (p.failed) refuse(p.verdict);
  if (bad_state(m, d)) recover(sim, m, d, p);
  timer.mark(kMujoco);
}

}  // namespace

void begin_passage(const SimBatch& sim, Passage& p, int env) {
  p.env = env;
  p.first_of = 0;
  p.failed = p.misfit = false;
  p.unsolved = 0;
  p.verdict = {};
  if (sim.options.position_iterations == 0)
    p.verdict.penetration = std::numeric_limits<double>::quiet_NaN();
}

void finish_solution(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  if (!p.failed && sim.rigid()) finish_velocities(sim, m, d, p);
  if (!p.failed && sim.rigid()) keep_gaps(sim, m, d, p);
}

void run_part(SimBatch& sim, const mjModel* m, mjData* d, Passage& p, int k) {
  if (k == sim.solves())
    last_part(sim, m, d, p);
  else if (k == 0)
    first_part(sim, m, d, p);
  else if (!p.failed)
    next_stage(sim, m, d, p, k);
}

void resume_part(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  gather_and_solve(sim, m, d, p);
}

void run_step(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  if (sim.options.mujoco_law) return step_by_mujoco(sim, m, d, p);
  for (int k = 0; k <= sim.solves(); ++k) {
    run_part(sim, m, d, p, k);
    if (p.misfit) return go_back(sim, m, d, p);
  }
}

void forward_to_solver(SimBatch& sim, const mjModel* m, mjData* d, Passage& p, bool sensors) {
  if (sim.rigid())
    forward_position_ahead(m, d, sim.look_ahead, sim.separations[p.env], p.margins, p.contacts);
  else
    mj_fwdPosition(m, d);
  forward_velocities(m, d, sensors);
}

void pose_problem(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  if (sim.rigid()) act_on_surfaces(m, d, p.contacts);
  const int rows = gather_rows(m, d, sim.formulation, sim.rigid() ? &p.contacts : nullptr, slot);
  if (sim.rigid()) write_biases(m, d, sim.formulation.contact, p.contacts, p.bounce, slot);
  sim.buffers->set_rows(p.slot, rows);
}

void take_solution(SimBatch& sim, Passage& p) {
  const auto& r = sim.buffers->results();
  Verdict& v = p.verdict;
  v.iterations += r.iterations(p.slot);
  // A start must not cause a failure.
  if (p.warm && r.status(p.slot) == EnvStatus::not_converged && !sim.options.solve.exact_sweeps) {
    mju_zero(sim.buffers->problems().warm_start(p.slot), sim.buffers->rows(p.slot));
    sim.buffers->solve(p.slot);
    v.iterations += r.iterations(p.slot);
  }
  p.failed = p.failed || r.status(p.slot) == EnvStatus::bad_input;
  if (r.status(p.slot) != EnvStatus::solved) ++p.unsolved;
}

}  // namespace stickslip::mujoco
