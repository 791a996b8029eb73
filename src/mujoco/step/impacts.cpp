#include "src/mujoco/step/impacts.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/position.hpp"
#include "src/mujoco/step/second_solve.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kMostTrials = 6;
constexpr double kRounding = 1e-10;   // of the energy that is exchanged
constexpr double kNearEnough = 1e-2;  // of the energy that was gained
constexpr double kBurst = 30.0;       // of the velocities that contacts meet
constexpr double kSoft = 1e-2;        // compliance of a contact that is squeezed, of its mobility

// Whether a row is one of a contact that gives no more energy than it takes; a spring has some.
bool is_contact(const StepContext& step, const EnvSlot& slot, int row) {
  const int i = slot.efc_of[row];
  return is_contact_row(step.d, i) && !is_spring(step.contacts.model(step.d->efc_id[i]));
}

// ½ a · W b over the contacts' rows of a.
double form(const StepContext& step, const double* a, const double* b) {
  const EnvSlot slot = step.problem();
  const int rows = step.rows();
  std::vector<double> product(rows);
  step.buffers->multiply_delassus(step.slot, b, product.data());
  double sum = 0;
  for (int i = 0; i < rows; ++i)
    if (a[i] != 0 && is_contact(step, slot, i)) sum += a[i] * product[i];
  return 0.5 * sum;
}

// ½ r · (u⁻ + u_free) over the contacts' rows.
double linear_work(const StepContext& step, const double* r) {
  const EnvSlot slot = step.problem();
  double sum = 0;
  for (int i = 0; i < step.rows(); ++i)
    if (is_contact(step, slot, i))
      sum += r[i] * (step.d->efc_vel[slot.efc_of[i]] + slot.free_velocity[i]);
  return 0.5 * sum;
}

struct Work {
  double work, rounding;  // J; how far rounding may move a zero
  bool gains() const { return work > rounding; }
};

Work work_of(double linear, double square) {
  return {linear + square, kRounding * (std::abs(linear) + square)};
}

Work work_of_solution(const StepContext& step) {
  const double* r = step.impulse();
  return work_of(linear_work(step, r), form(step, r, r));
}

void solve_with_share(StepContext& step, double share) {
  step.bounce = share;
  write_biases(step.m, step.d, step.contacts, share, step.problem());
  solve_from(step, step.impulse());
}

// The zero of the parabola through two solves, of which only the second gains energy.
double zero_between(StepContext& step, const std::vector<double>& low,
                    const std::vector<double>& high, double low_work, double high_work) {
  step.difference.resize(low.size());
  for (std::size_t i = 0; i < low.size(); ++i) step.difference[i] = high[i] - low[i];
  const double square = form(step, step.difference.data(), step.difference.data());
  const double linear = high_work - low_work - square;
  const double root = std::sqrt(std::max(0.0, linear * linear - 4 * square * low_work));
  const double at = -2 * low_work / (linear + root);
  return std::clamp(std::isfinite(at) ? at : 0.5, 0.05, 0.95);
}

// Calls f with the rows of each contact's normal and of its two tangents.
template <class F>
void for_points(ProblemBuffers& buffers, std::int64_t env, const F& f) {
  const RowCounts s = buffers.problems().counts(int(env));
  int row = s.n_free + s.n_nonneg + s.n_box;
  for (int k = 0; k < s.n_contacts; row += buffers.problems().dims(int(env))[k++])
    for (int axis = 0; axis < 3; ++axis) f(row + axis, axis);
}

// Whether contacts move their points kBurst times faster than what they meet, or the bodies as much
// faster in energy: about an axis through its contacts a body turns unseen by them.
bool bursts(const StepContext& step) {
  ProblemBuffers& buffers = *step.buffers;
  const EnvSlot slot = buffers.slot(step.slot);
  const double *diagonal = buffers.mobility(step.slot), *b = buffers.problems().b(step.slot),
               *r = buffers.results().impulse(step.slot);
  double met = 0, stopped = 0, after = 0;
  for_points(buffers, step.slot, [&](int i, int) {
    met = std::max({met, std::abs(b[i]), std::abs(step.d->efc_vel[slot.efc_of[i]])});
    stopped = std::max(stopped, std::abs(r[i]) * diagonal[i]);
  });
  if (!(stopped > kBurst * met)) return false;  // cheap, and nearly always so
  std::vector<double> change(buffers.rows(step.slot));
  buffers.multiply_delassus(step.slot, r, change.data());
  for_points(buffers, step.slot,
             [&](int i, int) { after = std::max(after, std::abs(b[i] + change[i])); });
  if (after > kBurst * met) return true;
  double mass = 0;
  for (int body = 1; body < step.m->nbody; ++body)
    if (can_move(step.m, body)) mass += step.m->body_mass[body];
  const double least = kinetic_energy(step.m, step.d, step.d->qvel) + 0.5 * mass * met * met;
  return form(step, r, r) > kBurst * kBurst * least;
}

}  // namespace

void soften_bursts(StepContext& step) {
  ProblemBuffers& buffers = *step.buffers;
  if (buffers.in_velocities(step.slot) || !bursts(step)) return;
  double* R = buffers.problems().R(step.slot);
  const double* diagonal = buffers.mobility(step.slot);
  const int rows = buffers.rows(step.slot);
  const std::vector<double> given(R, R + rows), rest(rows, 0.0);
  for_points(buffers, step.slot, [&](int i, int axis) {
    if (axis == 0) R[i] += kSoft * diagonal[i];
  });
  solve_from(step, rest.data());
  std::copy(given.begin(), given.end(), R);
  buffers.results().view().status[step.slot] = EnvStatus::not_converged;
  buffers.measure(step.slot);
}

void limit_impacts(StepContext& step) {
  ProblemBuffers& buffers = *step.buffers;
  const Work full = work_of_solution(step);
  if (!full.gains()) return;
  std::vector<double>& high = step.trial;
  const auto take_high = [&] {
    const double* r = buffers.results().impulse(step.slot);
    high.assign(r, r + buffers.rows(step.slot));
  };
  take_high();
  solve_with_share(step, 0.0);
  double low_work = work_of_solution(step).work, high_work = full.work;
  double low_share = 0, high_share = 1;
  step.saved.keep_solution(buffers, step.slot);
  for (int k = 0; k < kMostTrials && low_work < -kNearEnough * full.work && !step.gives_up(); ++k) {
    const double at = zero_between(step, step.saved.impulse(), high, low_work, high_work);
    const double share = low_share + at * (high_share - low_share);
    solve_with_share(step, share);
    const Work trial = work_of_solution(step);
    if (!trial.gains() && buffers.results().status(step.slot) == EnvStatus::solved) {
      low_share = share;
      low_work = trial.work;
      step.saved.keep_solution(buffers, step.slot);
    } else {
      high_share = share;
      high_work = std::max(trial.work, 0.0);
      take_high();
    }
  }
  step.bounce = low_share;
  step.saved.restore_solution(buffers, step.slot);
}

// With t r instead of r on the contacts' rows, and o on the others, their work is
//     t (½ r · (u⁻ + u_free) + ½ r · W o) + ½ t² r · W r
void shrink_unsolved(StepContext& step) {
  ProblemBuffers& buffers = *step.buffers;
  const EnvSlot slot = buffers.slot(step.slot);
  const auto results = buffers.results().view();
  double* r = results.impulse.data + step.slot * results.impulse.stride;
  const int rows = buffers.rows(step.slot);
  std::vector<double>&contact = step.trial, &other = step.difference;
  contact.assign(rows, 0.0);
  other.assign(rows, 0.0);
  for (int i = 0; i < rows; ++i) (is_contact(step, slot, i) ? contact : other)[i] = r[i];
  const double linear = linear_work(step, r) + form(step, r, other.data());
  const double square = form(step, r, contact.data());
  if (!work_of(linear, square).gains()) return;
  const double share = linear < 0 ? -linear / square : 0.0;
  for (int i = 0; i < rows; ++i)
    if (is_contact(step, slot, i)) r[i] *= share;
  buffers.measure(step.slot);
}

}  // namespace stickslip::mujoco
