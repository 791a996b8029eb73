// A problem and its solution, kept while other candidates are solved in its slot.
#pragma once
#include <vector>

#include "src/mujoco/problem/problem_buffers.hpp"

namespace stickslip::mujoco {

/// Reused: it allocates only when problems grow.
class SavedProblem {
 public:
  /// Copies the contents of the slot.
  void keep(ProblemBuffers& buffers, int slot);
  /// Writes it back, as the latest solve of the slot.
  void restore(ProblemBuffers& buffers, int slot) const;

  /// The same for right side and solution only, if the rows do not change.
  void keep_solution(ProblemBuffers& buffers, int slot);
  void restore_solution(ProblemBuffers& buffers, int slot) const;

  /// Its impulses as a start r [rows] for the problem in the slot, 0 for new rows.
  void start(const EnvSlot& slot, int rows, double* r) const;

  const std::vector<double>& impulse() const { return impulse_; }
  EnvStatus status() const { return status_; }
  double residual() const { return residual_; }

 private:
  RowCounts counts_;
  int rows_ = 0;
  std::vector<int> dims_, efc_of_, J_row_, J_col_;
  std::vector<double> W_, b_, mu_, R_, lo_, hi_, free_velocity_, J_, warm_start_, impulse_;
  EnvStatus status_{};
  double residual_ = 0;
  int iterations_ = 0, rung_ = 0;
  Solver solver_{};
  std::int32_t start_selected_ = 0;
  Selected selected_{};
};

}  // namespace stickslip::mujoco
