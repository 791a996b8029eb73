// Memory of the problems of one step: one slot per environment, all as large as the largest; and
// their solution, either one environment at a time by the threads of MuJoCo's pool, or all at once
// on a GPU.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/cpu/thread_pool.hpp"
#include "src/mujoco/problem/gather.hpp"
#include "src/mujoco/problem/tree_groups.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/gradient.hpp"
#include "stickslip/host_batch.hpp"
#include "stickslip/solve.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip::mujoco {

/// `brief`: only rung 0 of the ladder, with fewer steps, for a problem that may have no solution,
/// and without whose solution the step can go on. `SolveOptions::thorough` makes it full.
/// `positions`: brief, and less exact: velocities that only move positions, in one step.
enum class Effort { full, brief, positions };

class ProblemBuffers {
 public:
  /// Throws std::invalid_argument for options that no solve accepts. `position_tolerance`: m, of
  /// what velocities that only move positions do in a step. Solves poll `token`.
  ProblemBuffers(const mjModel* model, int num_envs, int threads, const SolveOptions& options,
                 double position_tolerance, CancellationToken& token);

  bool fits(int rows, int contacts) const { return rows <= max_rows_ && contacts <= max_contacts_; }
  bool has_large_problems() const { return max_rows_ > 128; }
  /// Makes room if there is too little; keeps the contents.
  void reserve(int rows, int contacts);

  EnvSlot slot(int env);
  /// M and J of the slot; the factor of M is valid while MuJoCo's data are as in `gather`.
  SparseMechanism mechanism(int env);
  int rows(int env) const { return rows_[env]; }
  /// The slot has a new problem.
  void set_rows(int env, int rows) {
    rows_[env] = rows;
    has_W_[env] = 0;
    kind_[env] = TreeGroups::Kind::unknown;
  }
  /// Sets the environment's number of rows to zero.
  void clear(int env);

  /// Whether the environment is solved without W, by `solve_convex`: under the law `convex`, with
  /// so many rows that W costs more than Newton's method on velocities.
  bool in_velocities(int env) const;

  /// Whether the environment is solved without its W (`solve_mechanism` of a SparseMechanism):
  /// island by island, large ones in the space of velocities. That depends on its rows alone.
  bool by_islands(int env);

  /// Whether the environment has speeds that no simulation means, and so many rows that its solve
  /// could keep the others waiting.
  bool is_absurd(int env) const;

  /// Whether solves of the environment have failed so often that this one will hardly succeed.
  char& hopeless(int env) { return hopeless_[env]; }

  /// SolveOptions::max_work of an environment that is not to keep the others waiting; 0: as usual.
  double limited_work(int env) const;

  /// Whether the environment is solved on the CPU, although others are on the GPU.
  bool on_cpu(int env) { return in_velocities(env) || by_islands(env) || limited_work(env) > 0; }

  // For one environment; the constructor sets the maximum number of concurrent threads.
  /// Forms W if `solve` reads it.
  void form_delassus(int env);
  /// The same in any case, unless the slot has it.
  const double* require_delassus(int env);
  /// ProblemBatch::start_selected
  std::int32_t& start_selected(int env) { return start_selected_[env]; }
  bool has_delassus(int env) const { return has_W_[env] != 0; }
  /// The slot has W from now on.
  void keep_delassus(int env) { has_W_[env] = 1; }
  /// W_ii of each row, valid until the next call for this environment.
  const double* mobility(int env);
  /// u = W r [rows]
  void multiply_delassus(int env, const double* r, double* u);
  void solve(int env, Effort effort = Effort::full);
  /// Leaves r [rows] and the impulses that solve the problem of the slot with other b and R and
  /// without any friction as results, with the status of that.
  void add_frictionless(int env, const double* r, const double* b, const double* R);
  /// The residual of the impulses in the results, from any source.
  void measure(int env);
  /// Derivatives of the solution in the results (stickslip/gradient.hpp); arrays of one
  /// environment.
  void vjp(int env, const LossBatch<double>& loss, const GradientBatch<double>& gradient);
  void jvp(int env, const ChangeBatch<double>& change, const SolutionChange<double>& result);
  /// Throws std::invalid_argument for laws without derivatives.
  void require_derivatives();
  // For one half of the environments, on the GPU: `start` copies the problems and returns. What
  // `solve` has solved in velocities is not changed.
  static constexpr int kHalves = 2;
  int first_of_half(int half) const { return num_envs_ * half / kHalves; }
  void start_on_gpu(int half);
  void finish_on_gpu(int half);
  /// Seconds that the GPU has been busy, sum over the halves.
  double gpu_busy_seconds() const;

  HostProblems<double>& problems() { return *problems_; }
  HostResults<double>& results() { return *results_; }

 private:
  class BorrowedWorkspace;  // of one of the workspaces
  struct OwnFactor;
  /// The problems of `count` environments from `env` on.
  ProblemBatch<double> posed(int env, int count = 1) const;
  void copy_slot(int env, HostProblems<double>& to);
  void copy_result(int env, HostResults<double>& to);
  TreeGroups::Kind groups(int env);
  template <class F>
  bool succeeds_without_W(int env, Workspace& workspace, F&& f);
  void form_delassus(int env, Workspace& workspace);
  void solve(int env, const ProblemBatch<double>& problem, const SolveOptions& options,
             Workspace& workspace);

  CancellationToken& token_;
  TreeSparsity tree_;
  int num_envs_, nv_, nonzeros_of_M_, max_rows_ = 0, max_contacts_ = 0;
  SolveOptions options_;
  double position_speed_;  // m/s, tolerance of velocities that only move positions
  std::unique_ptr<HostProblems<double>> problems_;
  std::unique_ptr<HostResults<double>> results_;
  std::vector<RowCounts> gpu_counts_;
  std::vector<Workspace> workspaces_;
  std::vector<std::atomic<bool>> borrowed_;
  std::vector<double> J_, M_, a_free_, start_, free_velocity_;
  std::vector<MassFactor> factor_;
  std::vector<std::int32_t> rows_, efc_of_, J_row_, J_col_;
  std::vector<char> has_W_, hopeless_;
  std::vector<TreeGroups::Kind> kind_;  ///< [num_envs]
  TreeGroups groups_;
  std::vector<std::int32_t> start_selected_;
  bool divides_;  ///< whether environments of many rows are solved island by island
  std::vector<double> mobility_, x_;           ///< [num_envs][max_rows], [num_envs][nv]
  std::vector<std::int32_t> path_;             ///< [num_envs][nv]
  std::vector<cuda::HostSolver<double>> gpu_;  ///< of the halves, as soon as they are used
};

}  // namespace stickslip::mujoco
