#include "src/mujoco/impacts.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/row_map.hpp"
#include "src/mujoco/velocity_step.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

constexpr int kMostTrials = 6;
constexpr double kRounding = 1e-10;   // of the energy that is exchanged
constexpr double kNearEnough = 1e-2;  // of the energy that was gained

bool is_contact(const mjData* d, const EnvSlot& slot, int row) {
  return is_contact_row(d, slot.efc_of[row]);
}

// ½ a · W b over the contacts' rows of a.
double form(Impl& sim, const mjData* d, const Passage& p, const double* a, const double* b) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const int rows = sim.buffers->rows(p.slot), ld = sim.buffers->problems().max_rows();
  const double* W = sim.buffers->problems().W(p.slot);
  double sum = 0;
  for (int i = 0; i < rows; ++i)
    if (a[i] != 0 && is_contact(d, slot, i))
      sum += a[i] * mju_dot(W + std::ptrdiff_t(i) * ld, b, rows);
  return 0.5 * sum;
}

// ½ r · (u⁻ + u_free) over the contacts' rows.
double linear_work(Impl& sim, const mjData* d, const Passage& p, const double* r) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  double sum = 0;
  for (int i = 0; i < sim.buffers->rows(p.slot); ++i)
    if (is_contact(d, slot, i)) sum += r[i] * (d->efc_vel[slot.efc_of[i]] + slot.free_velocity[i]);
  return 0.5 * sum;
}

struct Work {
  double work, rounding;  // J; how far rounding may move a zero
  bool gains() const { return work > rounding; }
};

Work work_of(double linear, double square) {
  return {linear + square, kRounding * (std::abs(linear) + square)};
}

Work work_of_solution(Impl& sim, const mjData* d, const Passage& p) {
  const double* r = sim.buffers->results().impulse(p.slot);
  return work_of(linear_work(sim, d, p, r), form(sim, d, p, r, r));
}

void solve_with_share(Impl& sim, const mjModel* m, const mjData* d, Passage& p, double share) {
  p.bounce = share;
  write_biases(m, d, sim.options.contact, p.contacts, share, sim.buffers->slot(p.slot));
  solve_from(sim, p, sim.buffers->results().impulse(p.slot));
}

// The zero of the parabola through two solves, of which only the second gains energy.
double zero_between(Impl& sim, const mjData* d, Passage& p, const std::vector<double>& low,
                    const std::vector<double>& high, double low_work, double high_work) {
  p.difference.resize(low.size());
  for (std::size_t i = 0; i < low.size(); ++i) p.difference[i] = high[i] - low[i];
  const double square = form(sim, d, p, p.difference.data(), p.difference.data());
  const double linear = high_work - low_work - square;
  const double root = std::sqrt(std::max(0.0, linear * linear - 4 * square * low_work));
  const double at = -2 * low_work / (linear + root);
  return std::clamp(std::isfinite(at) ? at : 0.5, 0.05, 0.95);
}

}  // namespace

void limit_impacts(Impl& sim, const mjModel* m, mjData* d, Passage& p) {
  ProblemBuffers& buffers = *sim.buffers;
  const Work full = work_of_solution(sim, d, p);
  if (!full.gains()) return;
  std::vector<double>& high = p.trial;
  const auto take_high = [&] {
    const double* r = buffers.results().impulse(p.slot);
    high.assign(r, r + buffers.rows(p.slot));
  };
  take_high();
  solve_with_share(sim, m, d, p, 0.0);
  double low_work = work_of_solution(sim, d, p).work, high_work = full.work;
  double low_share = 0, high_share = 1;
  p.saved.keep_solution(buffers, p.slot);
  for (int k = 0; k < kMostTrials && low_work < -kNearEnough * full.work && !gives_up(p); ++k) {
    const double at = zero_between(sim, d, p, p.saved.impulse(), high, low_work, high_work);
    const double share = low_share + at * (high_share - low_share);
    solve_with_share(sim, m, d, p, share);
    const Work trial = work_of_solution(sim, d, p);
    if (!trial.gains() && buffers.results().status(p.slot) == EnvStatus::solved) {
      low_share = share;
      low_work = trial.work;
      p.saved.keep_solution(buffers, p.slot);
    } else {
      high_share = share;
      high_work = std::max(trial.work, 0.0);
      take_high();
    }
  }
  p.bounce = low_share;
  p.saved.restore_solution(buffers, p.slot);
}

// With t r instead of r on the contacts' rows, and o on the others, their work is
//     t (½ r · (u⁻ + u_free) + ½ r · W o) + ½ t² r · W r
void shrink_unsolved(Impl& sim, const mjData* d, Passage& p) {
  ProblemBuffers& buffers = *sim.buffers;
  const EnvSlot slot = buffers.slot(p.slot);
  const auto results = buffers.results().view();
  double* r = results.impulse.data + p.slot * results.impulse.stride;
  const int rows = buffers.rows(p.slot);
  std::vector<double>&contact = p.trial, &other = p.difference;
  contact.assign(rows, 0.0);
  other.assign(rows, 0.0);
  for (int i = 0; i < rows; ++i) (is_contact(d, slot, i) ? contact : other)[i] = r[i];
  const double linear = linear_work(sim, d, p, r) + form(sim, d, p, r, other.data());
  const double square = form(sim, d, p, r, contact.data());
  if (!work_of(linear, square).gains()) return;
  const double share = linear < 0 ? -linear / square : 0.0;
  for (int i = 0; i < rows; ++i)
    if (is_contact(d, slot, i)) r[i] *= share;
  buffers.measure(p.slot);
}

}  // namespace stickslip::mujoco
