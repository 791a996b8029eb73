// What every call that enqueues work for the environments of a batch needs.
#pragma once
#include "src/batch/check.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/workspace.hpp"

namespace stickslip::cuda {

inline kernels::GroupScratch scratch_of(const LaunchPlan& plan, const Workspace::Impl& w) {
  return {plan.max_rows, plan.max_contacts, plan.directions,
          plan.nv,       plan.group_bytes,  w.scratch_memory()};
}

inline void check_workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts,
                            const Workspace::Impl& w) {
  require(w.num_envs >= num_envs, "workspace.num_envs", "at least the batch's num_envs",
          w.num_envs);
  require(w.max_rows >= max_rows, "workspace.max_rows", "at least the batch's max_rows",
          w.max_rows);
  require(w.max_contacts >= max_contacts, "workspace.max_contacts",
          "at least the batch's max_contacts", w.max_contacts);
}

/// A workspace without memory for mechanisms has nv -1.
template <class In>
void check_workspace(const MechanismBatch<In>& m, const Workspace::Impl& w) {
  check_workspace(m.num_envs, m.max_rows, 0, w);
  require(w.nv >= m.nv, "workspace.nv", "at least the mechanism's nv", w.nv);
}

/// The lists of work of one pass: their addresses, and how environments are added to them.
class WorkLists {
 public:
  WorkLists(const Workspace::Impl& w, std::int32_t num_envs, int pass)
      : w_(w),
        num_envs_(num_envs),
        envs_(static_cast<std::int32_t*>(w.envs.data())),
        counters_(static_cast<std::int32_t*>(w.counters.data()) + 2 * pass * w.classes.count) {}

  /// Lists the environments by class: all, or, if `status` is given, those that are unsolved.
  template <class In>
  void fill(const ProblemBatch<In>& p, const EnvStatus* status, Stream stream) const {
    const int blocks = (num_envs_ + kernels::kListThreads - 1) / kernels::kListThreads;
    launch(kernels::list_kernel(), blocks, kernels::kListThreads, 0, stream, p.shape, p.dims,
           p.num_envs, p.max_rows, p.max_contacts, w_.classes, status, envs_, counters_);
  }
  kernels::WorkList operator[](int c) const {
    return {envs_ + std::int64_t(c) * num_envs_, counters_ + c, counters_ + w_.classes.count + c};
  }

 private:
  const Workspace::Impl& w_;
  std::int32_t num_envs_;
  std::int32_t *envs_, *counters_;
};

/// One launch per size class, of all environments; `arguments` come before scratch and list.
template <class In, class... Arguments>
void enqueue_classes(const std::vector<LaunchPlan>& plans, const Workspace::Impl& w, Stream stream,
                     const ProblemBatch<In>& problem, const Arguments&... arguments) {
  SS_CUDA(cudaMemsetAsync(w.counters.data(), 0, w.counters.bytes(), stream));
  const WorkLists lists(w, problem.num_envs, 0);
  lists.fill(problem, nullptr, stream);
  int c = 0;
  for (const LaunchPlan& plan : plans)
    launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, problem,
           arguments..., scratch_of(plan, w), lists[c++]);
}

}  // namespace stickslip::cuda
