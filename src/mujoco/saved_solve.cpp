#include "src/mujoco/saved_solve.hpp"

#include <algorithm>

namespace stickslip::mujoco {

void SavedSolve::keep(ProblemBuffers& buffers, int slot) {
  const auto& r = buffers.results();
  const int rows = buffers.rows(slot);
  const auto copy = [&](std::vector<double>& to, const double* from) {
    to.assign(from, from + rows);
  };
  copy(b, buffers.problems().b(slot));
  copy(warm_start, buffers.problems().warm_start(slot));
  copy(impulse, r.impulse(slot));
  status = r.status(slot);
  residual = r.residual(slot);
  iterations = r.iterations(slot);
  rung = r.rung(slot);
  solver = r.solver(slot);
}

void SavedSolve::restore(ProblemBuffers& buffers, int slot) const {
  const auto r = buffers.results().view();
  std::copy(b.begin(), b.end(), buffers.problems().b(slot));
  std::copy(warm_start.begin(), warm_start.end(), buffers.problems().warm_start(slot));
  std::copy(impulse.begin(), impulse.end(), r.impulse.data + slot * r.impulse.stride);
  r.status[slot] = status;
  r.residual[slot] = residual;
  r.iterations[slot] = iterations;
  r.rung[slot] = rung;
  r.solver[slot] = solver;
}

}  // namespace stickslip::mujoco
