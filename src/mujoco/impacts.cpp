#include "src/mujoco/impacts.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/velocity_step.hpp"

namespace stickslip::mujoco {
namespace {

using Impl = BatchSim::Impl;

constexpr int kMostTrials = 6;
constexpr double kRounding = 1e-10;   // of the energy that is turned over
constexpr double kNearEnough = 1e-2;  // of the energy that was gained

bool is_contact(const mjData* d, const EnvSlot& slot, int row) {
  return d->efc_type[slot.efc_of[row]] >= mjCNSTR_CONTACT_FRICTIONLESS;
}

// ½ a · W b over the contacts' rows of a.
double form(Impl& sim, const mjData* d, const Passage& p, const double* a, const double* b) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const int rows = sim.buffers->rows(p.slot), ld = sim.buffers->problems().max_rows();
  const double* W = sim.buffers->problems().W(p.slot);
  double sum = 0;
  for (int i = 0; i < rows; ++i)
    if (a[i] != 0 && is_contact(d, slot, i)) sum += a[i] * mju_dot(W + std::ptrdiff_t(i) * ld, b, rows);
  return 0.5 * sum;
}

// r · J v_free over the contacts' rows.
double free_work(Impl& sim, const mjData* d, const Passage& p, const double* r) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  double sum = 0;
  for (int i = 0; i < sim.buffers->rows(p.slot); ++i)
    if (is_contact(d, slot, i)) sum += r[i] * slot.free_velocity[i];
  return sum;
}

double energy(Impl& sim, const mjData* d, const Passage& p) {
  const double* r = sim.buffers->results().impulse(p.slot);
  return free_work(sim, d, p, r) + form(sim, d, p, r, r);
}

// What rounding may make of a zero.
double rounding(Impl& sim, const mjData* d, const Passage& p) {
  const double* r = sim.buffers->results().impulse(p.slot);
  return kRounding * (std::abs(free_work(sim, d, p, r)) + form(sim, d, p, r, r));
}

void solve_with_share(Impl& sim, const mjModel* m, const mjData* d, Passage& p, double share) {
  p.bounce = share;
  write_biases(m, d, sim.options.contact, p.contacts, share, sim.buffers->slot(p.slot));
  solve_from(sim, p, sim.buffers->results().impulse(p.slot));
}

// Where the parabola between two solves, of which only the second gains energy, is zero.
double zero_between(Impl& sim, const mjData* d, Passage& p, const std::vector<double>& low,
                    const std::vector<double>& high, double E_low, double E_high) {
  p.difference.resize(low.size());
  for (std::size_t i = 0; i < low.size(); ++i) p.difference[i] = high[i] - low[i];
  const double square = form(sim, d, p, p.difference.data(), p.difference.data());
  const double linear = E_high - E_low - square;
  const double root = std::sqrt(std::max(0.0, linear * linear - 4 * square * E_low));
  const double at = -2 * E_low / (linear + root);
  return std::clamp(std::isfinite(at) ? at : 0.5, 0.05, 0.95);
}

}  // namespace

void limit_impacts(Impl& sim, const mjModel* m, mjData* d, Passage& p) {
  ProblemBuffers& buffers = *sim.buffers;
  const double gained = energy(sim, d, p);
  if (gained <= rounding(sim, d, p)) return;
  std::vector<double>& high = p.trial;
  high.assign(buffers.results().impulse(p.slot),
              buffers.results().impulse(p.slot) + buffers.rows(p.slot));
  solve_with_share(sim, m, d, p, 0.0);
  double E_low = energy(sim, d, p), E_high = gained, s_low = 0, s_high = 1;
  p.saved.keep(buffers, p.slot);
  for (int k = 0; k < kMostTrials && E_low < -kNearEnough * gained; ++k) {
    const double at = zero_between(sim, d, p, p.saved.impulse(), high, E_low, E_high);
    const double share = s_low + at * (s_high - s_low);
    solve_with_share(sim, m, d, p, share);
    const double E = energy(sim, d, p);
    const bool gains = E > rounding(sim, d, p);
    const bool usable = buffers.results().status(p.slot) == EnvStatus::solved;
    if (gains || !usable) {
      s_high = share;
      E_high = std::max(E, 0.0);
      high.assign(buffers.results().impulse(p.slot),
                  buffers.results().impulse(p.slot) + buffers.rows(p.slot));
    } else {
      s_low = share;
      E_low = E;
      p.saved.keep(buffers, p.slot);
    }
  }
  p.bounce = s_low;
  p.saved.restore_solution(buffers, p.slot);
}

// With t r instead of r on the contacts' rows, and o on the others, the contacts' part is
// E(t) = t (r · J v_free + ½ r · W o) + ½ t² r · W r.
void shrink_unsolved(Impl& sim, const mjData* d, Passage& p) {
  ProblemBuffers& buffers = *sim.buffers;
  if (energy(sim, d, p) <= rounding(sim, d, p)) return;
  const EnvSlot slot = buffers.slot(p.slot);
  const auto results = buffers.results().view();
  double* r = results.impulse.data + p.slot * results.impulse.stride;
  const int rows = buffers.rows(p.slot);
  std::vector<double>&contact = p.trial, &other = p.difference;
  contact.assign(r, r + rows);
  other.assign(rows, 0.0);
  for (int i = 0; i < rows; ++i)
    if (!is_contact(d, slot, i)) std::swap(contact[i], other[i]);
  const double linear = free_work(sim, d, p, r) + form(sim, d, p, r, other.data());
  const double square = form(sim, d, p, r, contact.data());
  const double t = linear < 0 && square > 0 ? std::min(1.0, -linear / square) : 0.0;
  for (int i = 0; i < rows; ++i)
    if (is_contact(d, slot, i)) r[i] *= t;
  buffers.measure(p.slot);
}

}  // namespace stickslip::mujoco
