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

inline int list_blocks(std::int32_t num_envs) { return (num_envs - 1) / kernels::kListThreads + 1; }

/// The lists of work of one pass: their addresses, and how environments are added to them.
class WorkLists {
 public:
  WorkLists(const Workspace::Impl& w, std::int32_t num_envs, int pass)
      : w_(w),
        arrays_(w.list_arrays()),
        num_envs_(num_envs),
        ends_(static_cast<std::int32_t*>(w.counters.data()) + 2 * pass * w.classes.count) {}

  /// Lists the environments by class: all, or, if `status` is given, those that are unsolved.
  template <class In>
  void fill(const ProblemBatch<In>& p, const EnvStatus* status, Stream stream) const {
    const kernels::ListKernels k = kernels::list_kernels<In>();
    const int blocks = list_blocks(num_envs_);
    launch(k.keys, blocks, kernels::kListThreads, 0, stream, p, w_.classes, status,
           static_cast<const std::int32_t*>(w_.work.data()), arrays_.keys, arrays_.envs);
    std::size_t bytes = w_.sorting.bytes();
    SS_CUDA(cudaError_t(kernels::sort_lists(w_.sorting.data(), bytes, arrays_, num_envs_, stream)));
    launch(k.ends, blocks, kernels::kListThreads, 0, stream,
           static_cast<const std::uint32_t*>(arrays_.sorted_keys), num_envs_, ends_, next());
  }
  kernels::WorkList operator[](int c) const { return {arrays_.sorted_envs, ends_ + c, next() + c}; }

 private:
  std::int32_t* next() const { return ends_ + w_.classes.count; }

  const Workspace::Impl& w_;
  kernels::ListArrays arrays_;
  std::int32_t num_envs_;
  std::int32_t* ends_;
};

/// Keeps what rung 0 took: the next solve of the batch will take about as much. If it is another
/// batch, its lists are in a worse order, and its results are the same.
template <class In>
void keep_work(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
               const Workspace::Impl& w, Stream stream) {
  launch(kernels::list_kernels<In>().work, list_blocks(problem.num_envs), kernels::kListThreads, 0,
         stream, problem, result, static_cast<std::int32_t*>(w.work.data()));
}

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
