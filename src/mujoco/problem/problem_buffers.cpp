#include "src/mujoco/problem/problem_buffers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/ladder/ladder.hpp"
#include "kernels/problem/islands.hpp"
#include "kernels/residual/tolerance.hpp"
#include "src/cpu/kernel_table.hpp"
#include "src/mujoco/problem/part_of_batch.hpp"

namespace stickslip::mujoco {
class ProblemBuffers::BorrowedWorkspace {
 public:
  explicit BorrowedWorkspace(ProblemBuffers& b) : b_(b) {
    while (b_.borrowed_[index_].exchange(true, std::memory_order_acquire))
      index_ = (index_ + 1) % b_.borrowed_.size();
  }
  ~BorrowedWorkspace() { b_.borrowed_[index_].store(false, std::memory_order_release); }
  BorrowedWorkspace(const BorrowedWorkspace&) = delete;
  BorrowedWorkspace& operator=(const BorrowedWorkspace&) = delete;
  Workspace& workspace() const { return b_.workspaces_[index_]; }

 private:
  ProblemBuffers& b_;
  std::size_t index_ = 0;
};

ProblemBuffers::ProblemBuffers(const mjModel* m, int num_envs, int threads,
                               const SolveOptions& options, double position_tolerance,
                               CancellationToken& token)
    : token_(token),
      tree_(mass_sparsity(m)),
      num_envs_(num_envs),
      nv_(int(m->nv)),
      nonzeros_of_M_(int(m->nC)),
      options_(options),
      position_speed_(std::min(1e-7, 1e-2 * position_tolerance / m->opt.timestep)),
      borrowed_(threads),
      groups_(m, num_envs),
      divides_(kernels::Ladder(options).variant == kernels::KernelVariant::rung0) {
  const std::size_t envs = num_envs;
  M_.resize(envs * nonzeros_of_M_);
  a_free_.resize(envs * nv_);
  start_.resize(envs * nv_);
  factor_.resize(envs);
  rows_.resize(envs);
  has_W_.resize(envs);
  kind_.resize(envs);
  hopeless_.resize(envs);
  start_selected_.resize(envs);
  x_.resize(envs * nv_);
  path_.resize(envs * nv_);
  gpu_counts_.resize(envs);
  reserve(8, 4);
  stickslip::solve(only(problems_->view(), 0), only(results_->view(), 0), options_, workspaces_[0]);
}

SparseMechanism ProblemBuffers::mechanism(int env) {
  const EnvSlot s = slot(env);
  return {.tree = tree_,
          .M = s.M,
          .L = s.factor->L,
          .D_inv = s.factor->D_inv,
          .rows = rows_[env],
          .J_row = s.J_row,
          .J_col = s.J_col,
          .J = s.J};
}

void ProblemBuffers::clear(int env) {
  problems_->counts(env) = {};
  set_rows(env, 0);
}

ProblemBatch<double> ProblemBuffers::posed(int env, int count) const {
  ProblemBatch<double> problems = only(problems_->view(), env, count);
  problems.start_selected = {start_selected_.data() + env, 1};
  return problems;
}

bool ProblemBuffers::in_velocities(int env) const {
  return options_.law == Law::convex && options_.solver != Solver::pgs &&
         options_.precision != Precision::float32 && rows_[env] > 0 &&
         rows_[env] >= nv_;  // measured: this rule is the best for most robots
}

bool ProblemBuffers::is_absurd(int env) const {
  const double* b = problems_->b(env);
  // Twice, because motors alone may give light fingers as much in a step.
  const auto is_fast = [](double u) { return std::abs(u) > 2.0 * kAbsurdSpeed; };
  return rows_[env] > kManyAtAbsurdSpeed && std::any_of(b, b + rows_[env], is_fast);
}

double ProblemBuffers::limited_work(int env) const {
  constexpr double kHopeless = 1e7, kAbsurd = 3e8;  // some 0.7 and 20 ms
  if (options_.law == Law::convex || options_.thorough || options_.max_work > 0.0) return 0;
  return hopeless_[env] != 0 ? kHopeless : is_absurd(env) ? kAbsurd : 0;
}

TreeGroups::Kind ProblemBuffers::groups(int env) {
  if (kind_[env] == TreeGroups::Kind::unknown) {
    const EnvSlot s = slot(env);
    kind_[env] = groups_.kind_of(env, rows_[env], s.J_row, s.J_col);
  }
  return kind_[env];
}

bool ProblemBuffers::by_islands(int env) {
  const int rows = rows_[env];
  if (!divides_) return false;
  // As if joints had rows: with W, a dumped problem replays to the same bits.
  if (kernels::leaves_W(rows, 1, nv_)) return true;
  // Fewer rows are as fast as a whole, unless they are many on few degrees of freedom.
  if (rows > kernels::kFewRows) return groups(env) != TreeGroups::Kind::one;
  return rows > kernels::kDenseRowsOfBodies && groups(env) == TreeGroups::Kind::several_with_tall;
}

void ProblemBuffers::form_delassus(int env) {
  if (rows_[env] > 0 && !in_velocities(env) && !by_islands(env)) require_delassus(env);
}

const double* ProblemBuffers::require_delassus(int env) {
  if (!has_W_[env]) form_delassus(env, BorrowedWorkspace(*this).workspace());
  return problems_->W(env);
}

void ProblemBuffers::form_delassus(int env, Workspace& workspace) {
  delassus(mechanism(env), problems_->W(env), max_rows_, workspace);
  has_W_[env] = 1;
}

const double* ProblemBuffers::mobility(int env) {
  double* diagonal = mobility_.data() + std::size_t(env) * max_rows_;
  if (has_W_[env]) {
    for (std::ptrdiff_t i = 0; i < rows_[env]; ++i)
      diagonal[i] = problems_->W(env)[i * (max_rows_ + 1)];
  } else {
    const std::size_t first = std::size_t(env) * nv_;
    kernels::kernel_table().delassus_diagonal(mechanism(env), diagonal, x_.data() + first,
                                              path_.data() + first);
  }
  return diagonal;
}

void ProblemBuffers::multiply_delassus(int env, const double* r, double* u) {
  if (!has_W_[env]) {
    kernels::kernel_table().multiply_delassus(mechanism(env), r, u,
                                              x_.data() + std::size_t(env) * nv_);
    return;
  }
  for (std::ptrdiff_t i = 0; i < rows_[env]; ++i)
    u[i] = mju_dot(problems_->W(env) + i * max_rows_, r, rows_[env]);
}

void ProblemBuffers::solve(int env, Effort effort) {
  const BorrowedWorkspace borrowed(*this);
  const CancellationToken::Scope asks(token_);
  const auto problem = posed(env);
  const auto result = only(results_->view(), env);
  if (in_velocities(env)) {
    solve_convex(problem, mechanism(env), slot(env).start, result, options_, borrowed.workspace());
    std::copy_n(results_->impulse(env), rows_[env], problems_->warm_start(env));
    if (results_->status(env) != EnvStatus::not_converged) return;
    if (!by_islands(env)) form_delassus(env, borrowed.workspace());
  }
  SolveOptions options = options_;
  if (const double limit = limited_work(env); limit > 0) options.max_work = limit;
  if (effort == Effort::positions) {
    const double usual = kernels::tolerance_of(options.atol, 0.0, options.precision, 0.0);
    options.atol = std::max(usual, position_speed_);
  }
  if (effort != Effort::full && !options.thorough) {
    options.max_rung = 0;
    options.max_newton = std::min(options.max_newton, 40);
  }
  solve(env, problem, options, borrowed.workspace());
}

void ProblemBuffers::solve(int env, const ProblemBatch<double>& problem,
                           const SolveOptions& options, Workspace& workspace) {
  const auto result = only(results_->view(), env);
  if (by_islands(env))
    solve_mechanism(mechanism(env), problem, result, options, workspace);
  else
    stickslip::solve(problem, result, options, workspace);
}

void ProblemBuffers::add_frictionless(int env, const double* r, const double* b, const double* R) {
  const BorrowedWorkspace borrowed(*this);
  const CancellationToken::Scope asks(token_);
  const std::vector<double> zero(max_rows_);
  auto problem = only(problems_->view(), env);
  problem.b = {b, max_rows_};
  problem.R = {R, max_rows_};
  problem.lo = problem.hi = {zero.data(), max_rows_};
  problem.warm_start = {};
  SolveOptions options;
  options.law = Law::frictionless;
  options.atol = position_speed_;
  options.max_rung = 0;
  solve(env, problem, options, borrowed.workspace());
  double* sum = only(results_->view(), env).impulse.data;
  for (int row = 0; row < rows_[env]; ++row) sum[row] += r[row];
}

void ProblemBuffers::measure(int env) {
  require_delassus(env);
  const BorrowedWorkspace borrowed(*this);
  Measures measures;
  const auto result = only(results_->view(), env);
  stickslip::measure(only(problems_->view(), env),
                     EnvArray<const double>{result.impulse.data, result.impulse.stride},
                     options_.law, &measures, borrowed.workspace(), options_.directions);
  *result.residual = measures.residual;
}

/// The mechanism of a slot with a factor of its own: MuJoCo's data have moved on.
struct ProblemBuffers::OwnFactor {
  std::vector<double> L, D_inv;
  SparseMechanism mechanism;

  OwnFactor(ProblemBuffers& buffers, int env)
      : D_inv(std::size_t(buffers.nv_)), mechanism(buffers.mechanism(env)) {
    L.assign(mechanism.M, mechanism.M + buffers.nonzeros_of_M_);
    kernels::kernel_table().factor_ltdl(mechanism.tree, L.data(), D_inv.data());
    mechanism.L = L.data();
    mechanism.D_inv = D_inv.data();
  }
};

/// Calls f(mechanism) unless the slot has its W. If that is needed, forms it and returns false.
template <class F>
bool ProblemBuffers::succeeds_without_W(int env, Workspace& workspace, F&& f) {
  if (has_W_[env]) return false;
  const OwnFactor own(*this, env);
  if (f(own.mechanism)) return true;
  delassus(own.mechanism, problems_->W(env), max_rows_, workspace);
  return false;
}

void ProblemBuffers::vjp(int env, const LossBatch<double>& loss,
                         const GradientBatch<double>& gradient) {
  const BorrowedWorkspace borrowed(*this);
  const auto problem = only(problems_->view(), env);
  const auto result = only(results_->view(), env);
  const SolutionBatch<double> solution{{result.impulse.data, result.impulse.stride}, result.status};
  if (in_velocities(env)) {
    const OwnFactor own(*this, env);
    if (solve_convex_vjp(without_W(problem), own.mechanism, solution, loss, gradient, options_,
                         borrowed.workspace()))
      return;
  }
  const auto sparse = [&](const SparseMechanism& m) {
    return solve_vjp(without_W(problem), m, solution, loss, gradient, options_,
                     borrowed.workspace());
  };
  if (!succeeds_without_W(env, borrowed.workspace(), sparse))
    solve_vjp(problem, solution, loss, gradient, options_, borrowed.workspace());
}

void ProblemBuffers::jvp(int env, const ChangeBatch<double>& change,
                         const SolutionChange<double>& to) {
  const BorrowedWorkspace borrowed(*this);
  const auto problem = only(problems_->view(), env);
  const auto result = only(results_->view(), env);
  const SolutionBatch<double> solution{{result.impulse.data, result.impulse.stride}, result.status};
  const auto sparse = [&](const SparseMechanism& m) {
    return solve_jvp(without_W(problem), m, solution, change, to, options_, borrowed.workspace());
  };
  if (!succeeds_without_W(env, borrowed.workspace(), sparse))
    solve_jvp(problem, solution, change, to, options_, borrowed.workspace());
}

void ProblemBuffers::require_derivatives() {
  const auto nothing = only(problems_->view(), 0, 0);
  solve_vjp<double>(nothing, {}, {}, {}, options_, workspaces_[0]);
}

}  // namespace stickslip::mujoco
