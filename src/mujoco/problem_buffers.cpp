#include "src/mujoco/problem_buffers.hpp"

#include <algorithm>

#include "stickslip/cuda.hpp"

namespace stickslip::mujoco {

ProblemBuffers::ProblemBuffers(int num_envs, int nv, int threads, Backend backend)
    : num_envs_(num_envs), nv_(nv), threads_(threads), backend_(backend) {
  const std::size_t envs = num_envs;
  M_.resize(envs * nv * nv);
  a_free_.resize(envs * nv);
  rows_.resize(envs);
  ok_.resize(envs);
  reserve(8, 4);
}

void ProblemBuffers::reserve(int rows, int contacts) {
  if (fits(rows, contacts)) return;
  // Half as much again, so that a batch that tumbles into contact grows a few times only.
  const auto grown = [](int now, int needed) {
    return needed > now ? std::max(needed, now + now / 2) : now;
  };
  max_rows_ = grown(max_rows_, rows);
  max_contacts_ = grown(max_contacts_, contacts);
  problems_.reset();  // free before allocating
  results_.reset();
  problems_ = std::make_unique<HostProblems<double>>(num_envs_, max_rows_, max_contacts_);
  results_ = std::make_unique<HostResults<double>>(num_envs_, max_rows_);
  workspace_ = std::make_unique<Workspace>(max_rows_, max_contacts_, threads_);
  const std::size_t slots = std::size_t(num_envs_) * max_rows_;
  J_ = std::vector<double>(slots * nv_);
  efc_of_ = std::vector<std::int32_t>(slots);
}

EnvSlot ProblemBuffers::slot(int env) {
  auto& p = *problems_;
  const std::size_t first = std::size_t(env) * max_rows_;
  return {.shape = &p.shape(env),
          .dims = p.dims(env),
          .b = p.b(env),
          .mu = p.mu(env),
          .R = p.R(env),
          .lo = p.lo(env),
          .hi = p.hi(env),
          .J = J_.data() + first * nv_,
          .M = M_.data() + std::size_t(env) * nv_ * nv_,
          .a_free = a_free_.data() + std::size_t(env) * nv_,
          .efc_of = efc_of_.data() + first};
}

void ProblemBuffers::form_delassus() {
  const std::int64_t n = max_rows_, nv = nv_;
  const MechanismBatch<double> mechanism{.num_envs = num_envs_,
                                         .nv = nv_,
                                         .max_rows = max_rows_,
                                         .rows = {rows_.data(), 1},
                                         .M = {M_.data(), nv * nv},
                                         .J = {J_.data(), n * nv}};
  delassus(mechanism, EnvArray<double>{problems_->W(0), n * n}, max_rows_, ok_.data(),
           *workspace_);
}

void ProblemBuffers::solve(const SolveOptions& options) {
  if (backend_ == Backend::cuda)
    cuda::solve_host(problems_->view(), results_->view(), options);
  else
    stickslip::solve(problems_->view(), results_->view(), options, *workspace_);
}

}  // namespace stickslip::mujoco
