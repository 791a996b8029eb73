#include "src/mujoco/step/env_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/contacts/touching.hpp"
#include "src/mujoco/model/bad_numbers.hpp"
#include "src/mujoco/problem/integrator.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/failures.hpp"
#include "src/mujoco/step/position.hpp"
#include "src/mujoco/step/second_solve.hpp"
#include "src/mujoco/step/stages.hpp"
#include "src/mujoco/step/velocity_step.hpp"

namespace stickslip::mujoco {
namespace {

// From the state before the solver to the solution of its problem, if the buffers have room. On the
// GPU the solve follows later, for all at once except those that are solved without W.
void gather_and_solve(StepContext& step) {
  PhaseTimer timer(step);
  const int contacts = counts_of(step.d).n_contacts;
  step.misfit = !step.buffers->fits(step.d->nefc, contacts);
  if (step.misfit) {
    step.rows_needed = std::max(step.rows_needed, step.d->nefc);
    step.contacts_needed = std::max(step.contacts_needed, contacts);
    return;
  }
  const EnvSlot slot = step.problem();
  if (!gather_motion(step.m, step.d, step.sim->formulation.level, slot) ||
      any_bad(slot.a_free, step.m->nv)) {
    step.buffers->clear(step.slot);
    step.failed = true;
    return;
  }
  // If end gaps are measured, a rotating body may close one that a linear gap keeps open.
  if (step.sim->rigid() && step.sim->options.position_iterations == 0)
    cull(step.m, step.d, slot.a_free, step.contacts);
  step.bounce = 1;
  step.repositioned = false;
  pose_problem(step);
  const int rows = step.rows();
  step.warm = step.sim->impulses.recall(step.m, step.d, slot, rows,
                                        step.buffers->problems().warm_start(step.slot));
  step.buffers->start_selected(step.slot) =
      step.warm ? step.sim->impulses.recall_selected(step.m, step.d, slot, rows) : 0;
  step.another =
      step.buffers->start_selected(step.slot) == 1 && step.sim->impulses.keeps_another(step.d);
  step.buffers->hopeless(step.slot) = step.sim->impulses.is_hopeless(step.d) ? 1 : 0;
  timer.mark(kGather);
  step.limited = step.buffers->limited_work(step.slot) > 0;
  if (rows == 0) return;
  step.buffers->form_delassus(step.slot);
  timer.mark(kDelassus);
  if (step.sim->gpu() && !step.buffers->on_cpu(step.slot)) return;
  step.buffers->solve(step.slot);
  if (!step.sim->gpu()) take_solution(step);
  timer.mark(kSolve);
}

void forward_and_solve(StepContext& step, bool sensors) {
  PhaseTimer timer(step);
  step.failed =
      bad_state(step.m, step.d) || bad_inputs(step.m, step.d) || bad_mocap_velocity(step.m, step.d);
  if (step.failed) return;
  const int warnings = memory_warnings(step.d);
  forward_to_solver(step, sensors);
  note_left_out(step, warnings);
  step.misfit = step.short_of_memory && !step.sim->gpu();
  timer.mark(kMujoco);
  if (step.misfit) return;
  gather_and_solve(step);
}

void first_part(StepContext& step) {
  step.buffers->clear(step.slot);
  begin_mocap(step.m, step.d, step.first_of);
  if (step.sim->rk4) rk4_begin(step.m, step.d, step.sim->rk4->slot(step.slot));
  forward_and_solve(step, true);
}

// Stores the verdict on the solution; that on a Runge-Kutta step is the worst of its stages.
void conclude(StepContext& step) {
  const int rows = step.rows();
  Verdict& v = step.verdict;
  v.num_rows = rows;
  if (rows == 0) return;
  const auto& r = step.buffers->results();
  v.status = std::max(v.status, r.status(step.slot));
  v.residual = std::max(v.residual, r.residual(step.slot));
  v.solver = r.solver(step.slot);
  v.rung = std::max(v.rung, r.rung(step.slot));
}

// The largest change of an impulse in the solve, of the largest impulse.
double share_moved(const StepContext& step) {
  const double *r = step.impulse(), *start = step.buffers->problems().warm_start(step.slot);
  double moved = 0, most = 0;
  for (int row = 0; row < step.rows(); ++row) {
    moved = std::max(moved, std::abs(r[row] - start[row]));
    most = std::max(most, std::abs(r[row]));
  }
  return most > 0 ? moved / most : 0;
}

void write_solution(StepContext& step) {
  PhaseTimer timer(step);
  const EnvSlot slot = step.problem();
  const int rows = step.rows();
  const double* impulse = step.impulse();
  conclude(step);
  scatter(step.m, step.d, step.sim->formulation.level, slot.efc_of, rows, impulse);
  using Solution = ImpulseStore::Solution;
  const std::int32_t start = step.buffers->start_selected(step.slot);
  Selected& selected = step.buffers->results().view().selected[step.slot];
  if (step.another && start != 0 && selected == Selected::yes) selected = Selected::no;
  const bool chosen =
      rows > 0 && step.status() == EnvStatus::solved && selected != Selected::unique;
  const Solution solution = !chosen                     ? Solution::none
                            : selected == Selected::yes ? Solution::selected
                                                        : Solution::any;
  step.sim->impulses.keep(step.m, step.d, slot, rows, impulse, solution, start,
                          start == 1 ? share_moved(step) : 0);
  step.sim->impulses.note_solve(step.d, step.verdict.status == EnvStatus::not_converged ||
                                            step.verdict.status == EnvStatus::infeasible);
  timer.mark(kScatter);
  apply_forces(step.m, step.d, step.sim->formulation.level);
  timer.mark(kApply);
  if (step.sim->rigid()) {
    step.verdict.culled = step.contacts.count(Use::culled);
    sort_touching(step.m, step.d, step.contacts);
  }
  step.verdict.num_contacts = step.d->ncon;
  step.failed = bad_acceleration(step.m, step.d);
}

// Stage k >= 1 of Runge-Kutta: ends the stage before and begins this one.
void next_stage(StepContext& step, int k) {
  write_solution(step);
  if (step.failed) return;
  const Rk4Slot slot = step.sim->rk4->slot(step.slot);
  if (k == 1) {
    after_solver(step.m, step.d);
    step.sim->keep_sensors(step);
  }
  rk4_record(step.m, step.d, slot, k - 1);
  rk4_enter(step.m, step.d, slot, k);
  forward_and_solve(step, false);
}

void finish_rk4(const StepContext& step) {
  rk4_record(step.m, step.d, step.sim->rk4->slot(step.slot), kRk4Stages - 1);
  rk4_advance(step.m, step.d, step.sim->rk4->slot(step.slot));
}

// The state advances with qacc = (v⁺ - v)/h, in which all damping is already. If penetration is
// recovered, positions advance with separate velocities.
void advance(StepContext& step) {
  mjModel& undamped = step.undamped.of(step.m);
  undamped.opt.disableflags |= mjDSBL_EULERDAMP;
  if (!step.repositioned) return mj_Euler(&undamped, step.d);
  mj_markStack(step.d);
  mjtNum* q = mj_stackAllocNum(step.d, step.m->nq);
  mju_copy(q, step.d->qpos, int(step.m->nq));
  mj_Euler(&undamped, step.d);
  mju_copy(step.d->qpos, q, int(step.m->nq));
  mj_integratePos(step.m, step.d->qpos, step.position_velocity.data(), step.m->opt.timestep);
  mj_freeStack(step.d);
}

void finish_one_solve(StepContext& step) {
  if (step.sim->rigid()) show_to_sensors(step.m, step.d, step.contacts);
  after_solver(step.m, step.d);
  if (step.sim->rigid()) hide_from_sensors(step.m, step.d, step.contacts);
  step.sim->keep_sensors(step);
  if (step.sim->formulation.level == Level::velocity)
    advance(step);
  else if (step.m->opt.integrator == mjINT_EULER)
    mj_Euler(step.m, step.d);
  else
    mj_implicit(step.m, step.d);
}

void last_part(StepContext& step) {
  finish_solution(step);
  if (!step.failed) write_solution(step);
  if (step.failed) return fail(step);
  PhaseTimer timer(step);
  step.sim->rk4 ? finish_rk4(step) : finish_one_solve(step);
  end_mocap(step.m, step.d);
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

void step_by_mujoco(StepContext& step) {
  PhaseTimer timer(step);
  const int memory = memory_warnings(step.d);
  for (const int w : kBadNumbers) step.d->warning[w].number = 0;
  step.failed = bad_inputs(step.m, step.d);
  if (step.failed) return fail(step);
  mj_step(step.m, step.d);
  step.failed = mujoco_failed(step.m, step.d);
  note_left_out(step, memory);
  step.misfit = step.short_of_memory;
  if (step.misfit) return go_back(step);
  step.verdict.num_contacts = step.d->ncon;
  step.verdict.num_rows = step.d->nefc;
  step.verdict.residual = reported_residual(step.m, step.d);
  step.verdict.iterations =
      std::accumulate(step.d->solver_niter, step.d->solver_niter + reported_islands(step.d), 0);
  step.sim->keep_sensors(step);
  if (step.failed) refuse(step.verdict);
  if (bad_state(step.m, step.d)) recover(step);
  timer.mark(kMujoco);
}

}  // namespace

void begin_context(StepContext& step) {
  step.first_of = 0;
  step.failed = step.misfit = false;
  step.unsolved = 0;
  step.verdict = {};
  if (step.sim->options.position_iterations == 0)
    step.verdict.penetration = std::numeric_limits<double>::quiet_NaN();
}

void finish_solution(StepContext& step) {
  if (!step.failed && step.sim->rigid()) finish_velocities(step);
  if (!step.failed && step.sim->rigid()) keep_gaps(step);
}

void run_part(StepContext& step, int k) {
  if (k == step.sim->solves())
    last_part(step);
  else if (k == 0)
    first_part(step);
  else if (!step.failed)
    next_stage(step, k);
}

void resume_part(StepContext& step) { gather_and_solve(step); }

void run_step(StepContext& step) {
  if (step.sim->options.mujoco_law) return step_by_mujoco(step);
  for (int k = 0; k <= step.sim->solves(); ++k) {
    run_part(step, k);
    if (step.misfit) return go_back(step);
  }
}

void forward_to_solver(StepContext& step, bool sensors) {
  SimBatch& sim = *step.sim;
  if (sim.rigid())
    forward_position_ahead(step.m, step.d, step.env, sim.look_ahead, sim.contact_models,
                           sim.separations[step.env], step.margins, step.contacts);
  else
    mj_fwdPosition(step.m, step.d);
  forward_velocities(step, sensors);
}

void forward_velocities(StepContext& step, bool sensors) {
  forward_velocities(step.m, step.d, step.sim->formulation.level, sensors);
  if (step.sim->rigid()) ContactModels::set_friction(step.d, step.contacts);
}

void pose_problem(StepContext& step) {
  const EnvSlot slot = step.problem();
  if (step.sim->rigid()) act_on_surfaces(step.m, step.d, step.contacts);
  const int rows = gather_rows(step.m, step.d, step.sim->formulation,
                               step.sim->rigid() ? &step.contacts : nullptr, slot);
  if (step.sim->rigid()) write_biases(step.m, step.d, step.contacts, step.bounce, slot);
  step.buffers->set_rows(step.slot, rows);
}

}  // namespace stickslip::mujoco
