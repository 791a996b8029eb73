// As in step.cpp: nothing here has a destructor, because MuJoCo's errors jump over it. Memory is on
// MuJoCo's stack, or belongs to the context.
#include "src/mujoco/step/position.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/mujoco/contacts/end_gaps.hpp"
#include "src/mujoco/contacts/part.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/parting.hpp"
#include "src/mujoco/step/second_solve.hpp"

namespace stickslip::mujoco {
namespace {

// A round may be worse than the best one, if another contact closes, but this many in a row mean
// divergence.
constexpr int kPatience = 2;

constexpr double kRounding = 1e-12;  // of the largest mobility

// A step of one environment to the state that its impulses produce.
struct Step {
  StepContact* contacts;
  int num_contacts;
  double* v_end;          // of the latest impulses
  bool measured;          // gaps at the end; else linear
  bool solved;            // both solves: velocities and positions
  double missing;         // by which gaps are too small without recovery, m
  double least_mobility;  // what no motion parts, but for rounding, has no more, 1/kg
};

// Sets the gap that the contact needs at the end. With the velocity after an impact, a contact with
// a small bounce would end where it began, in the air; this must not happen.
void set_target_gap(const StepContext& step, StepContact& c) {
  const EnvSlot slot = step.problem();
  const ContactModel& model = step.contacts.model(int(c.contact - step.d->contact));
  const double before = step.d->efc_vel[slot.efc_of[c.row]], h = step.m->opt.timestep;
  c.target_gap = least_end_gap(model, c.gap, h);
  c.bounces =
      step.impulse()[c.row] > 0 && bounces(model, c.gap, before, slot.free_velocity[c.row], h);
  if (c.bounces)
    c.target_gap = std::max(c.target_gap, bounced_end_gap(model, c.gap, before, h, step.bounce));
}

Step enter_step(StepContext& step) {
  const EnvSlot slot = step.problem();
  Step s{};
  s.measured = step.sim->options.position_iterations > 0;
  s.contacts = static_cast<StepContact*>(
      mj_stackAllocByte(step.d, (step.d->ncon + 1) * sizeof(StepContact), alignof(StepContact)));
  s.v_end = mj_stackAllocNum(step.d, step.m->nv);
  if (s.measured) step.poses.keep(step.m, step.d);
  const double* diagonal = step.buffers->mobility(step.slot);
  for (int row = 0; row < step.rows(); ++row) {
    const mjContact* contact = contact_of_normal(step.d, slot.efc_of[row]);
    if (!contact) continue;
    const int number = int(contact - step.d->contact);
    if (is_soft(step.contacts.model(number))) continue;  // its overlap is not recovered
    StepContact& c = s.contacts[s.num_contacts++];
    c.contact = contact;
    c.gap = step.contacts.linear[number];
    c.row = row;
    c.mobility = mobility(step, diagonal, row);
    s.least_mobility = std::max(s.least_mobility, kRounding * c.mobility);
    set_target_gap(step, c);
    if (s.measured) store_position(step.d, c);
  }
  return s;
}

// The end of the step with the latest impulses. Returns the deepest penetration there, m.
double go_to_end(const StepContext& step, Step& s) {
  const double h = step.m->opt.timestep;
  velocity_after(step.m, step.d, step.problem(), step.rows(), step.impulse(), s.v_end);
  const EnvSlot slot = step.problem();
  for (int k = 0; k < s.num_contacts; ++k) {
    StepContact& c = s.contacts[k];
    c.v_after = normal_velocity(step.m, step.d, slot.efc_of[c.row], s.v_end);
    c.found = true;
    c.end_gap = c.gap + h * c.v_after;
  }
  if (!s.measured) return std::numeric_limits<double>::quiet_NaN();
  go_to_end_of_step(step.m, step.d, step.poses, s.v_end);
  return std::max(0.0, -measure_end_gaps(step.m, step.d, s.contacts, s.num_contacts));
}

// The amounts by which gaps are smaller than required.
struct Shortfall {
  double most = 0;    // m
  double square = 0;  // sum of the squares, each over its contact's mobility, m^2 kg
};

Shortfall shortfall(const Step& s) {
  Shortfall all;
  for (int k = 0; k < s.num_contacts; ++k) {
    const StepContact& c = s.contacts[k];
    if (!c.found) continue;
    const double off = c.target_gap - c.end_gap,
                 missing = c.bounces ? std::abs(off) : std::max(0.0, off);
    all.most = std::max(all.most, missing);
    if (c.mobility > s.least_mobility) all.square += missing * missing / c.mobility;
  }
  return all;
}

// The next round's problem: the bias of every contact from the end of the last round.
void correct_biases(const StepContext& step, const Step& s) {
  const EnvSlot slot = step.problem();
  const double h = step.m->opt.timestep;
  for (int k = 0; k < s.num_contacts; ++k) {
    const StepContact& c = s.contacts[k];
    const double bias = c.found ? corrected_closing(c.target_gap, h, c.end_gap, c.v_after)
                                : (c.gap - c.target_gap) / h;
    slot.b[c.row] = slot.free_velocity[c.row] + bias;
  }
}

// Whether some contact is between bodies that move so fast, in m/s or rad/s, that linear gaps at
// the end of the step tell nothing. Velocities without impulses do not show it: motors give light
// links as much in a step, against contacts that hold them.
bool is_absurd(const StepContext& step, const Step& s) {
  const mjData* d = step.d;
  return std::any_of(s.contacts, s.contacts + s.num_contacts, [&](const StepContact& c) {
    const int i = step.problem().efc_of[c.row];
    const int* dof = d->efc_J_colind + d->efc_J_rowadr[i];
    return std::any_of(dof, dof + d->efc_J_rownnz[i],
                       [&](int k) { return std::abs(s.v_end[k]) > 2.0 * kAbsurdSpeed; });
  });
}

// Solves the round's problem. Whether that is to be replaced by part_without_friction: it has no
// solution, as in one of the last steps, when that was found with much work.
bool recovers_apart(StepContext& step, const Step& s) {
  const ImpulseStore& memory = step.sim->impulses;
  const bool absurd = is_absurd(step, s);
  double depth = 0;
  for (int k = 0; k < s.num_contacts; ++k) depth = std::max(depth, -s.contacts[k].gap);
  if (memory.skips_recovery(step.d, depth)) {
    std::copy_n(step.impulse(), step.rows(), step.buffers->problems().warm_start(step.slot));
    return !absurd;
  }
  solve_from(step, step.impulse(), Effort::positions);
  if (step.failed) return false;
  const bool failed = step.status() != EnvStatus::solved;
  memory.note_recovery(step.d, depth, failed);
  return failed && !absurd;
}

// Rounds until the gaps are satisfied; leaves the best round in the step.
void iterate(StepContext& step, Step& s, PhaseTimer& timer) {
  const auto& results = step.buffers->results();
  const int most = s.measured ? step.sim->options.position_iterations : 1;
  Shortfall best{std::numeric_limits<double>::infinity()};
  int best_round = 0;
  bool parted = false;
  for (int round = 0; !step.failed; ++round) {
    const double penetration = go_to_end(step, s);
    const Shortfall short_by = shortfall(s);
    timer.mark(kMujoco);
    if (round == 0) s.missing = short_by.most;
    if (parted ? short_by.square < best.square : short_by.most < best.most) {
      best = short_by;
      best_round = round;
      step.verdict.position_rounds = round;
      step.verdict.penetration = penetration;
      step.repositioned = round > 0;
      s.solved = results.status(step.slot) == EnvStatus::solved &&
                 step.saved.status() == EnvStatus::solved;
      step.position_velocity.assign(s.v_end, s.v_end + step.m->nv);
    }
    if (short_by.most <= step.sim->options.position_tolerance || round - best_round == kPatience ||
        round == most || parted || step.gives_up())
      break;
    correct_biases(step, s);
    parted = recovers_apart(step, s);
    if (parted) part_without_friction(step, s.contacts, s.num_contacts, s.least_mobility);
    timer.mark(kSolve);
  }
}

// Potential energy of gravity of what the step moves, J: now, and after the step with velocity v.
double height(const mjModel* m, const mjData* d) {
  double energy = 0;
  for (int b = 1; b < m->nbody; ++b)
    if (can_move(m, b)) energy -= m->body_mass[b] * mju_dot3(m->opt.gravity, d->xipos + 3 * b);
  return energy;
}

double height_after(const StepContext& step, const double* v) {
  go_to_end_of_step(step.m, step.d, step.poses, v);
  return height(step.m, step.d);
}

// Recovery lifts bodies that lie on others. If a solve failed, it may do so only as far as the step
// has lost energy, so that a failure never gains any.
void limit_lift(StepContext& step, const Step& s) {
  std::vector<double>& v = step.position_velocity;
  step.poses.keep(step.m, step.d);
  const double end = height_after(step, s.v_end), lift = height_after(step, v.data()) - end;
  step.poses.restore(step.m, step.d);
  const double begin = height(step.m, step.d);
  const double lost = kinetic_energy(step.m, step.d, step.d->qvel) + begin -
                      kinetic_energy(step.m, step.d, s.v_end) - end;
  const double allowed = std::max(0.0, lost);
  if (!(lift > allowed)) return;  // nothing is lifted: lost may be a negative rounding error
  const double share = allowed / lift;
  for (int i = 0; i < step.m->nv; ++i) v[i] = s.v_end[i] + share * (v[i] - s.v_end[i]);
}

// Whether dof i is an angle; else a length.
bool is_rotation(const mjModel* m, int i) {
  const int joint = m->dof_jntid[i], type = m->jnt_type[joint];
  if (type == mjJNT_FREE) return i - m->jnt_dofadr[joint] >= 3;
  return type != mjJNT_SLIDE;
}

// Where a gap hardly depends on the joints, as on the angle of a rod at right angles to the wall
// that it overlaps, its linearisation requires any motion. So recovery turns no joint by more than
// kMostTurn and shifts none by more than kMostShift times the missing gap or what v_max recovers;
// the other joints of the same tree keep the ratio. What remains is recovered in the next steps.
void limit_recovery(StepContext& step, const Step& s) {
  constexpr double kMostTurn = 0.1, kMostShift = 10.0;  // rad; of the gap
  const double h = step.m->opt.timestep;
  const double most_shift = kMostShift * std::max(s.missing, h * step.sim->options.contact.v_max);
  std::vector<double>& v = step.position_velocity;
  for (int begin = 0, end; begin < step.m->nv; begin = end) {
    double excess = 1.0;
    for (end = begin; end < step.m->nv && step.m->dof_treeid[end] == step.m->dof_treeid[begin];
         ++end) {
      const double most = is_rotation(step.m, end) ? kMostTurn : most_shift;
      excess = std::max(excess, h * std::abs(v[end] - s.v_end[end]) / most);
    }
    if (excess == 1.0) continue;
    for (int i = begin; i < end; ++i) v[i] = s.v_end[i] + (v[i] - s.v_end[i]) / excess;
  }
}

void limit_positions(StepContext& step, const Step& s) {
  velocity_after(step.m, step.d, step.problem(), step.rows(), step.impulse(), s.v_end);
  limit_recovery(step, s);
  if (!s.solved) limit_lift(step, s);
}

// Whether positions may have to differ from the velocities: a contact overlaps, or bounces.
bool may_fall_short(const StepContext& step) {
  if (step.sim->options.position_iterations > 0) return true;
  for (int i = 0; i < int(step.contacts.gap.size()); ++i) {
    const ContactModel& model = step.contacts.model(i);
    if (step.contacts.use[i] != Use::included || is_soft(model)) continue;
    if (model.restitution > 0 || step.contacts.gap[i] < -step.sim->options.position_tolerance)
      return true;
  }
  return false;
}

}  // namespace

double kinetic_energy(const mjModel* m, mjData* d, const double* v) {
  mj_markStack(d);
  mjtNum* momentum = mj_stackAllocNum(d, m->nv);
  mj_mulM(m, d, momentum, v);
  const double energy = 0.5 * mju_dot(v, momentum, int(m->nv));
  mj_freeStack(d);
  return energy;
}

void keep_gaps(StepContext& step) {
  if (step.rows() == 0 || !may_fall_short(step)) return;
  PhaseTimer timer(step);
  mj_markStack(step.d);
  Step s = enter_step(step);
  if (s.num_contacts > 0) {
    step.saved.keep_solution(*step.buffers, step.slot);
    iterate(step, s, timer);
    step.saved.restore_solution(*step.buffers, step.slot);
    step.failed = false;  // of these solves: the step can continue without them
    if (s.measured) step.poses.restore(step.m, step.d);
    if (step.repositioned) limit_positions(step, s);
  }
  mj_freeStack(step.d);
}

}  // namespace stickslip::mujoco
