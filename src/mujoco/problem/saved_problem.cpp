#include "src/mujoco/problem/saved_problem.hpp"

#include <algorithm>

namespace stickslip::mujoco {
namespace {

template <class T>
void copy(std::vector<T>& to, const T* from, std::ptrdiff_t count) {
  to.assign(from, from + count);
}

template <class T>
void copy(T* to, const std::vector<T>& from) {
  std::copy(from.begin(), from.end(), to);
}

}  // namespace

void SavedProblem::keep_solution(ProblemBuffers& buffers, int slot) {
  const EnvSlot s = buffers.slot(slot);
  const std::ptrdiff_t n = rows_ = buffers.rows(slot);
  copy(efc_of_, s.efc_of, n);
  copy(b_, s.b, n);
  copy(warm_start_, buffers.problems().warm_start(slot), n);
  start_selected_ = buffers.start_selected(slot);
  const auto& r = buffers.results();
  copy(impulse_, r.impulse(slot), n);
  status_ = r.status(slot);
  residual_ = r.residual(slot);
  iterations_ = r.iterations(slot);
  rung_ = r.rung(slot);
  solver_ = r.solver(slot);
  selected_ = r.selected(slot);
}

void SavedProblem::keep(ProblemBuffers& buffers, int slot) {
  keep_solution(buffers, slot);
  const EnvSlot s = buffers.slot(slot);
  auto& problems = buffers.problems();
  const std::ptrdiff_t n = rows_, ld = problems.max_rows();
  counts_ = *s.counts;
  copy(dims_, s.dims, counts_.n_contacts);
  copy(J_row_, s.J_row, n + 1);
  copy(J_col_, s.J_col, J_row_[n]);
  copy(J_, s.J, J_row_[n]);
  copy(mu_, s.mu, n);
  copy(R_, s.R, n);
  copy(free_velocity_, s.free_velocity, n);
  copy(lo_, s.lo, counts_.n_box);
  copy(hi_, s.hi, counts_.n_box);
  W_.resize(buffers.has_delassus(slot) ? n * n : 0);
  for (std::ptrdiff_t i = 0; !W_.empty() && i < n; ++i)
    std::copy_n(problems.W(slot) + i * ld, n, &W_[i * n]);
}

void SavedProblem::restore_solution(ProblemBuffers& buffers, int slot) const {
  const auto r = buffers.results().view();
  copy(buffers.problems().b(slot), b_);
  copy(buffers.problems().warm_start(slot), warm_start_);
  buffers.start_selected(slot) = start_selected_;
  copy(r.impulse.data + slot * r.impulse.stride, impulse_);
  r.status[slot] = status_;
  r.residual[slot] = residual_;
  r.iterations[slot] = iterations_;
  r.rung[slot] = rung_;
  r.solver[slot] = solver_;
  r.selected[slot] = selected_;
}

void SavedProblem::restore(ProblemBuffers& buffers, int slot) const {
  const EnvSlot s = buffers.slot(slot);
  auto& problems = buffers.problems();
  const std::ptrdiff_t n = rows_, ld = problems.max_rows();
  *s.counts = counts_;
  buffers.set_rows(slot, rows_);
  copy(s.dims, dims_);
  copy(s.efc_of, efc_of_);
  copy(s.J_row, J_row_);
  copy(s.J_col, J_col_);
  copy(s.J, J_);
  copy(s.mu, mu_);
  copy(s.R, R_);
  copy(s.lo, lo_);
  copy(s.hi, hi_);
  copy(s.free_velocity, free_velocity_);
  for (std::ptrdiff_t i = 0; !W_.empty() && i < n; ++i)
    std::copy_n(&W_[i * n], n, problems.W(slot) + i * ld);
  if (!W_.empty()) buffers.keep_delassus(slot);
  restore_solution(buffers, slot);
}

void SavedProblem::start(const EnvSlot& slot, int rows, double* r) const {
  // Both lists are in MuJoCo's order within a kind of row, so the search is short.
  int k = 0;
  for (int row = 0; row < rows; ++row) {
    r[row] = 0;
    for (int tried = 0; tried < rows_; ++tried, k = k + 1 < rows_ ? k + 1 : 0) {
      if (efc_of_[k] != slot.efc_of[row]) continue;
      r[row] = impulse_[k];
      break;
    }
  }
}

}  // namespace stickslip::mujoco
