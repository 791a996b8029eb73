// As in step.cpp: nothing here has a destructor, for MuJoCo's errors jump over it. Memory is
// MuJoCo's stack.
#include "src/mujoco/position.hpp"

#include <algorithm>
#include <limits>

#include "src/mujoco/end_gaps.hpp"
#include "src/mujoco/integrator.hpp"
#include "src/mujoco/row_map.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

// Rounds may fall behind the best one, where another contact closes, but not this many in a row:
// they diverge.
constexpr int kPatience = 2;

// A step of one environment, from q to where its impulses lead.
struct Step {
  StepContact* contacts;
  double* free_velocity;  // of each contact's normal: b without the bias
  int num_contacts;
  double *q, *v_end;  // q; v' of the latest impulses
};

Step enter_step(const Impl& sim, const mjModel* m, mjData* d, const EnvSlot& slot) {
  Step s{};
  s.contacts = static_cast<StepContact*>(
      mj_stackAllocByte(d, (d->ncon + 1) * sizeof(StepContact), alignof(StepContact)));
  s.free_velocity = mj_stackAllocNum(d, d->ncon + 1);
  s.q = mj_stackAllocNum(d, m->nq);
  s.v_end = mj_stackAllocNum(d, m->nv);
  mju_copy(s.q, d->qpos, int(m->nq));
  for (int row = 0; row < d->nefc; ++row) {
    const int i = slot.efc_of[row];
    const mjContact* contact = contact_of_normal(d, i);
    if (!contact) continue;
    StepContact& c = s.contacts[s.num_contacts];
    c.contact = contact;
    c.row = row;
    attach(d, c);
    s.free_velocity[s.num_contacts++] =
        slot.b[row] -
        contact_bias(sim.options.contact, contact->dist, d->efc_vel[i], m->opt.timestep);
  }
  return s;
}

// v' = v_free + M̂⁻¹ Jᵀ r, and d's geoms at q' = q ⊕ h v'.
void go_to_end(const mjModel* m, mjData* d, const EnvSlot& slot, const double* r, Step& s) {
  const int nv = int(m->nv);
  const double h = m->opt.timestep;
  mju_zero(s.v_end, nv);
  for (int row = 0; row < d->nefc; ++row)
    for (int k = slot.J_row[row]; k < slot.J_row[row + 1]; ++k)
      s.v_end[slot.J_col[k]] += slot.J[k] * r[row];
  solve_integrator_matrix(m, d, s.v_end);
  mju_addToScl(s.v_end, slot.a_free, h, nv);
  mju_addTo(s.v_end, d->qvel, nv);
  mju_copy(d->qpos, s.q, int(m->nq));
  mj_integratePos(m, d->qpos, s.v_end, h);
  mj_kinematics(m, d);
}

void leave_step(const mjModel* m, mjData* d, const Step& s) {
  mju_copy(d->qpos, s.q, int(m->nq));
  mj_kinematics(m, d);
}

// The most by which a gap falls short of what it has to be, m.
double shortfall(const Impl& sim, const mjModel* m, const Step& s) {
  double most = 0;
  for (int k = 0; k < s.num_contacts; ++k) {
    const StepContact& c = s.contacts[k];
    const double gap = c.contact->dist, h = m->opt.timestep;
    if (c.found) most = std::max(most, least_end_gap(sim.options.contact, gap, h) - c.end_gap);
  }
  return most;
}

// The next round's problem: the bias of every contact by where the last round ended. It starts from
// the impulses of that one.
void pose_again(Impl& sim, const mjModel* m, const mjData* d, int at, const Step& s) {
  const EnvSlot slot = sim.buffers->slot(at);
  const auto& model = sim.options.contact;
  const double h = m->opt.timestep;
  for (int k = 0; k < s.num_contacts; ++k) {
    const StepContact& c = s.contacts[k];
    const double gap = c.contact->dist, before = d->efc_vel[slot.efc_of[c.row]];
    double after = 0;
    for (int j = slot.J_row[c.row]; j < slot.J_row[c.row + 1]; ++j)
      after += slot.J[j] * s.v_end[slot.J_col[j]];
    slot.b[c.row] =
        s.free_velocity[k] + (c.found ? corrected_bias(model, gap, before, h, c.end_gap, after)
                                      : contact_bias(model, gap, before, h));
  }
  mju_copy(sim.buffers->problems().warm_start(at), sim.buffers->results().impulse(at), d->nefc);
}

// A problem and its solution, with what the gaps fall short by at its end.
struct Round {
  int number;
  double shortfall, penetration;
  double *b, *warm_start, *impulse;
  EnvStatus status;
  double residual;
  int iterations;
  Solver solver;
};

Round no_round(mjData* d) {
  return {.number = 0,
          .shortfall = std::numeric_limits<double>::infinity(),
          .penetration = 0,
          .b = mj_stackAllocNum(d, d->nefc),
          .warm_start = mj_stackAllocNum(d, d->nefc),
          .impulse = mj_stackAllocNum(d, d->nefc),
          .status = {},
          .residual = 0,
          .iterations = 0,
          .solver = {}};
}

void remember(Round& to, ProblemBuffers& buffers, int at) {
  const auto& r = buffers.results();
  const int rows = buffers.rows(at);
  mju_copy(to.b, buffers.problems().b(at), rows);
  mju_copy(to.warm_start, buffers.problems().warm_start(at), rows);
  mju_copy(to.impulse, r.impulse(at), rows);
  to.status = r.status(at);
  to.residual = r.residual(at);
  to.iterations = r.iterations(at);
  to.solver = r.solver(at);
}

// Makes it the latest solve again.
void put_back(const Round& from, ProblemBuffers& buffers, Passage& p) {
  const int at = p.slot, rows = buffers.rows(at);
  const auto r = buffers.results().view();
  mju_copy(buffers.problems().b(at), from.b, rows);
  mju_copy(buffers.problems().warm_start(at), from.warm_start, rows);
  mju_copy(r.impulse.data + at * r.impulse.stride, from.impulse, rows);
  p.verdict.status = r.status[at] = from.status;
  p.verdict.residual = r.residual[at] = from.residual;
  p.verdict.solver = r.solver[at] = from.solver;
  r.iterations[at] = from.iterations;
  p.verdict.position_rounds = from.number;
  p.verdict.penetration = from.penetration;
}

// Rounds until the gaps are kept; returns the best.
Round iterate(Impl& sim, const mjModel* m, mjData* d, Passage& p, Step& s, Lap& lap) {
  const int at = p.slot;
  ProblemBuffers& buffers = *sim.buffers;
  const auto& results = buffers.results();
  Round best = no_round(d);
  for (int round = 0; round == 0 || results.status(at) == EnvStatus::solved; ++round) {
    go_to_end(m, d, buffers.slot(at), results.impulse(at), s);
    const double least_gap = measure_end_gaps(m, d, s.contacts, s.num_contacts);
    const double short_by = shortfall(sim, m, s);
    lap.mark(kMujoco);
    if (short_by < best.shortfall) {
      remember(best, buffers, at);
      best.number = round;
      best.shortfall = short_by;
      best.penetration = std::max(0.0, -least_gap);
    }
    if (short_by <= sim.options.position_tolerance || round - best.number == kPatience ||
        round == sim.options.position_iterations || best.status != EnvStatus::solved)
      break;
    pose_again(sim, m, d, at, s);
    buffers.solve(at);
    p.verdict.iterations += results.iterations(at);
    lap.mark(kSolve);
  }
  return best;
}

}  // namespace

void keep_gaps(Impl& sim, const mjModel* m, mjData* d, Passage& p) {
  if (sim.buffers->rows(p.slot) == 0) return;
  Lap lap(p);
  mj_markStack(d);
  Step s = enter_step(sim, m, d, sim.buffers->slot(p.slot));
  if (s.num_contacts > 0) {
    put_back(iterate(sim, m, d, p, s, lap), *sim.buffers, p);
    leave_step(m, d, s);
  }
  mj_freeStack(d);
}

}  // namespace stickslip::mujoco
