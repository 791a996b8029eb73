// Memory of the problems of one step: one slot per environment, all as large as the largest; and
// their solution, one environment at a time by the threads of MuJoCo's pool, or all at once on a
// GPU.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/mujoco/gather.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/host_batch.hpp"
#include "stickslip/solve.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip::mujoco {

class ProblemBuffers {
 public:
  /// Throws std::invalid_argument for options that no solve accepts.
  ProblemBuffers(const mjModel* model, int num_envs, int threads, const SolveOptions& options);

  bool fits(int rows, int contacts) const { return rows <= max_rows_ && contacts <= max_contacts_; }
  /// Makes room, if there is too little, and keeps the contents.
  void reserve(int rows, int contacts);

  EnvSlot slot(int env);
  /// M and J of the slot; the factor of M is valid while MuJoCo's data are what `gather` saw.
  SparseMechanism mechanism(int env);
  int rows(int env) const { return rows_[env]; }
  void set_rows(int env, int rows) { rows_[env] = rows; }
  /// Leaves the environment without rows.
  void clear(int env);

  /// Whether the environment is solved without W, by `solve_convex`: under the law `convex` with so
  /// many rows that W costs more than Newton's method on velocities does.
  bool in_velocities(int env) const;

  // Of one environment; at most as many threads at once as the constructor was told.
  void form_delassus(int env);
  void solve(int env);
  /// The residual of the impulses in the results, whoever wrote them.
  void measure(int env);
  // Of one half of the environments, on the GPU: `start` takes the problems with it and returns.
  // What `solve` has solved in velocities stays as it is.
  static constexpr int kHalves = 2;
  int first_of_half(int half) const { return num_envs_ * half / kHalves; }
  void start_on_gpu(int half);
  void finish_on_gpu(int half);
  /// Seconds that the GPU has been busy, added up over the halves.
  double gpu_busy_seconds() const;
  /// Forms W if the environment was solved without it.
  void form_missing_delassus(int env);

  HostProblems<double>& problems() { return *problems_; }
  HostResults<double>& results() { return *results_; }

 private:
  class Lease;  // of one of the workspaces
  void copy_slot(int env, HostProblems<double>& to);
  void copy_result(int env, HostResults<double>& to);
  void form_delassus(int env, Workspace& workspace);

  TreeSparsity tree_;
  int num_envs_, nv_, nonzeros_of_M_, max_rows_ = 0, max_contacts_ = 0;
  SolveOptions options_;
  std::unique_ptr<HostProblems<double>> problems_;
  std::unique_ptr<HostResults<double>> results_;
  std::vector<EnvShape> gpu_shape_;
  std::vector<Workspace> workspaces_;
  std::vector<std::atomic<bool>> leased_;
  std::vector<double> J_, M_, a_free_, start_, free_velocity_;
  std::vector<MassFactor> factor_;
  std::vector<std::int32_t> rows_, efc_of_, J_row_, J_col_;
  std::vector<cuda::HostSolver<double>> gpu_;  ///< of the halves, once they are used
};

}  // namespace stickslip::mujoco
