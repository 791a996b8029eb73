// The memory of the slots.
#include <algorithm>

#include "src/mujoco/problem/part_of_batch.hpp"
#include "src/mujoco/problem/problem_buffers.hpp"

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
  *target.selected = results_->selected(env);
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
  mobility_.resize(std::size_t(num_envs_) * max_rows);
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

}  // namespace stickslip::mujoco
