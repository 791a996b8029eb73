#include "src/mujoco/problem/problem_buffers.hpp"

#include <algorithm>
#include <cmath>

#include "src/cpu/kernel_table.hpp"
#include "src/mujoco/problem/part_of_batch.hpp"

namespace stickslip::mujoco {
namespace {

/// Slots of `from` elements become slots of `to` >= from elements.
template <class T>
void widen(std::vector<T>& slots, std::size_t num_envs, std::size_t from, std::size_t to) {
  std::vector<T> wider(num_envs * to);
  for (std::size_t e = 0; e < num_envs; ++e)
    std::copy_n(slots.data() + e * from, from, wider.data() + e * to);
  slots = std::move(wider);
}

}  // namespace

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
                               const SolveOptions& options, CancellationToken& token)
    : token_(token),
      tree_(mass_sparsity(m)),
      num_envs_(num_envs),
      nv_(int(m->nv)),
      nonzeros_of_M_(int(m->nC)),
      options_(options),
      borrowed_(threads) {
  const std::size_t envs = num_envs;
  M_.resize(envs * nonzeros_of_M_);
  a_free_.resize(envs * nv_);
  start_.resize(envs * nv_);
  factor_.resize(envs);
  rows_.resize(envs);
  gpu_counts_.resize(envs);
  reserve(8, 4);
  stickslip::solve(only(problems_->view(), 0), only(results_->view(), 0), options_, workspaces_[0]);
}

void ProblemBuffers::copy_slot(int env, HostProblems<double>& to) {
  const RowCounts counts = to.counts(env) = problems_->counts(env);
  const int n = rows_[env];
  std::copy_n(problems_->dims(env), counts.n_contacts, to.dims(env));
  std::copy_n(problems_->b(env), n, to.b(env));
  std::copy_n(problems_->mu(env), n, to.mu(env));
  std::copy_n(problems_->R(env), n, to.R(env));
  std::copy_n(problems_->warm_start(env), n, to.warm_start(env));
  std::copy_n(problems_->lo(env), counts.n_box, to.lo(env));
  std::copy_n(problems_->hi(env), counts.n_box, to.hi(env));
  for (std::ptrdiff_t row = 0; row < n; ++row)
    std::copy_n(problems_->W(env) + row * max_rows_, n, to.W(env) + row * to.max_rows());
}

void ProblemBuffers::copy_result(int env, HostResults<double>& to) {
  const auto target = only(to.view(), env);
  std::copy_n(results_->impulse(env), rows_[env], target.impulse.data);
  *target.status = results_->status(env);
  *target.residual = results_->residual(env);
  *target.iterations = results_->iterations(env);
  *target.solver = results_->solver(env);
}

void ProblemBuffers::reserve(int rows, int contacts) {
  if (fits(rows, contacts)) return;
  // Adds 50 %, so that memory grows only a few times while the contacts of a batch increase.
  const auto grown = [](int now, int needed) {
    return needed > now ? std::max(needed, now + now / 2) : now;
  };
  const int max_rows = grown(max_rows_, rows), max_contacts = grown(max_contacts_, contacts);
  auto problems = std::make_unique<HostProblems<double>>(num_envs_, max_rows, max_contacts);
  auto results = std::make_unique<HostResults<double>>(num_envs_, max_rows);
  for (int e = 0; problems_ && e < num_envs_; ++e) {
    copy_slot(e, *problems);
    copy_result(e, *results);
  }
  widen(J_, num_envs_, std::size_t(max_rows_) * nv_, std::size_t(max_rows) * nv_);
  widen(J_col_, num_envs_, std::size_t(max_rows_) * nv_, std::size_t(max_rows) * nv_);
  widen(J_row_, num_envs_, max_rows_ == 0 ? 0 : max_rows_ + 1, max_rows + 1);
  widen(efc_of_, num_envs_, max_rows_, max_rows);
  widen(free_velocity_, num_envs_, max_rows_, max_rows);
  problems_ = std::move(problems);
  results_ = std::move(results);
  max_rows_ = max_rows;
  max_contacts_ = max_contacts;
  workspaces_.clear();
  for (std::size_t t = 0; t < borrowed_.size(); ++t)
    workspaces_.emplace_back(max_rows_, max_contacts_, 1);
}

EnvSlot ProblemBuffers::slot(int env) {
  auto& p = *problems_;
  const std::size_t first = std::size_t(env) * max_rows_;
  return {.counts = &p.counts(env),
          .dims = p.dims(env),
          .b = p.b(env),
          .mu = p.mu(env),
          .R = p.R(env),
          .lo = p.lo(env),
          .hi = p.hi(env),
          .free_velocity = free_velocity_.data() + first,
          .J_row = J_row_.data() + first + env,
          .J_col = J_col_.data() + first * nv_,
          .J = J_.data() + first * nv_,
          .M = M_.data() + std::size_t(env) * nonzeros_of_M_,
          .factor = &factor_[env],
          .a_free = a_free_.data() + std::size_t(env) * nv_,
          .start = start_.data() + std::size_t(env) * nv_,
          .efc_of = efc_of_.data() + first};
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
  rows_[env] = 0;
}

bool ProblemBuffers::in_velocities(int env) const {
  return options_.law == Law::convex && options_.solver != Solver::pgs &&
         options_.precision != Precision::float32 && rows_[env] > 0 &&
         rows_[env] >= nv_;  // measured: this rule is the best for most robots
}

bool ProblemBuffers::is_fast(int env) const {
  const double* b = problems_->b(env);
  // Twice, because motors alone may give light fingers as much in a step.
  return std::any_of(b, b + rows_[env], [](double u) { return std::abs(u) > 2.0 * kAbsurdSpeed; });
}

bool ProblemBuffers::is_absurd(int env) const {
  return options_.law != Law::convex && !options_.thorough && options_.max_work == 0.0 &&
         rows_[env] > kManyAtAbsurdSpeed && is_fast(env);
}

void ProblemBuffers::form_delassus(int env) {
  if (rows_[env] > 0 && !in_velocities(env))
    form_delassus(env, BorrowedWorkspace(*this).workspace());
}

void ProblemBuffers::form_delassus(int env, Workspace& workspace) {
  delassus(mechanism(env), problems_->W(env), max_rows_, workspace);
}

void ProblemBuffers::solve(int env, Effort effort) {
  const BorrowedWorkspace borrowed(*this);
  const CancellationToken::Scope asks(token_);
  const auto problem = only(problems_->view(), env);
  const auto result = only(results_->view(), env);
  if (in_velocities(env)) {
    solve_convex(problem, mechanism(env), slot(env).start, result, options_, borrowed.workspace());
    std::copy_n(results_->impulse(env), rows_[env], problems_->warm_start(env));
    if (results_->status(env) != EnvStatus::not_converged) return;
    form_delassus(env, borrowed.workspace());
  }
  SolveOptions options = options_;
  if (is_absurd(env)) options.max_work = 3e8;  // some 20 ms
  if (effort == Effort::brief && !options.thorough) {
    options.max_rung = 0;
    options.max_newton = std::min(options.max_newton, 40);
  }
  stickslip::solve(problem, result, options, borrowed.workspace());
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
  options.atol = 1e-7;  // m/s, of positions
  options.max_rung = 0;
  const auto result = only(results_->view(), env);
  stickslip::solve(problem, result, options, borrowed.workspace());
  for (int row = 0; row < rows_[env]; ++row) result.impulse.data[row] += r[row];
}

// Environments that are solved in velocities have no rows there.
void ProblemBuffers::start_on_gpu(int half) {
  if (gpu_.empty()) gpu_ = std::vector<cuda::HostSolver<double>>(kHalves);
  const int first = first_of_half(half), end = first_of_half(half + 1);
  for (int e = first; e < end; ++e) gpu_counts_[e] = on_cpu(e) ? RowCounts{} : problems_->counts(e);
  auto problems = only(problems_->view(), first, end - first);
  problems.counts = {gpu_counts_.data() + first, 1};
  gpu_[half].start(problems, options_);
}

void ProblemBuffers::finish_on_gpu(int half) {
  const int first = first_of_half(half);
  gpu_[half].finish(only(results_->view(), first),
                    [&](std::int32_t e) { return !on_cpu(first + e); });
}

double ProblemBuffers::gpu_busy_seconds() const {
  double seconds = 0;
  for (const auto& solver : gpu_) seconds += solver.busy_seconds();
  return seconds;
}

void ProblemBuffers::measure(int env) {
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

void ProblemBuffers::vjp(int env, const LossBatch<double>& loss,
                         const GradientBatch<double>& gradient) {
  const BorrowedWorkspace borrowed(*this);
  const auto problem = only(problems_->view(), env);
  const auto result = only(results_->view(), env);
  const SolutionBatch<double> solution{{result.impulse.data, result.impulse.stride}, result.status};
  if (in_velocities(env)) {
    const OwnFactor own(*this, env);
    auto without_W = problem;
    without_W.W = {};
    if (solve_convex_vjp(without_W, own.mechanism, solution, loss, gradient, options_,
                         borrowed.workspace()))
      return;
    delassus(own.mechanism, problems_->W(env), max_rows_, borrowed.workspace());
  }
  solve_vjp(problem, solution, loss, gradient, options_, borrowed.workspace());
}

void ProblemBuffers::jvp(int env, const ChangeBatch<double>& change,
                         const SolutionChange<double>& to) {
  const BorrowedWorkspace borrowed(*this);
  const auto result = only(results_->view(), env);
  if (in_velocities(env))
    delassus(OwnFactor(*this, env).mechanism, problems_->W(env), max_rows_, borrowed.workspace());
  solve_jvp(only(problems_->view(), env),
            {{result.impulse.data, result.impulse.stride}, result.status}, change, to, options_,
            borrowed.workspace());
}

void ProblemBuffers::require_derivatives() {
  const auto nothing = only(problems_->view(), 0, 0);
  solve_vjp<double>(nothing, {}, {}, {}, options_, workspaces_[0]);
}

void ProblemBuffers::form_missing_delassus(int env) {
  if (in_velocities(env)) form_delassus(env, BorrowedWorkspace(*this).workspace());
}

}  // namespace stickslip::mujoco
