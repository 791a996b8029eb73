// What every call that enqueues work for the environments of a batch needs.
#pragma once
#include "src/api/check.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/workspace.hpp"

namespace stickslip::cuda {

inline kernels::GroupScratch scratch_of(const LaunchShape& plan, const Workspace::Impl& w) {
  return {plan.max_rows, plan.max_contacts, plan.directions,
          plan.matrix,   plan.group_bytes,  w.scratch_memory(plan.size_class)};
}

inline void check_workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts,
                            const Workspace::Impl& w) {
  const WorkspaceConfig& c = w.config;
  require(c.num_envs >= num_envs, "workspace.num_envs", "at least the batch's num_envs",
          c.num_envs);
  require(c.max_rows >= max_rows, "workspace.max_rows", "at least the batch's max_rows",
          c.max_rows);
  require(c.max_contacts >= max_contacts, "workspace.max_contacts",
          "at least the batch's max_contacts", c.max_contacts);
}

/// A workspace without memory for mechanisms has nv -1.
inline void check_nv(std::int32_t nv, const Workspace::Impl& w) {
  require(w.config.nv >= nv, "workspace.nv", "at least the mechanism's nv", w.config.nv);
}

template <class Scalar>
void check_workspace(const MechanismBatch<Scalar>& m, const Workspace::Impl& w) {
  check_workspace(m.num_envs, m.max_rows, 0, w);
  check_nv(m.nv, w);
}

/// The lists of work of a call's passes, in memory of the workspace. The list of the first pass has
/// all environments. Its launches add to that of the second.
class WorkLists {
 public:
  WorkLists(const Workspace::Impl& w, std::int32_t num_envs)
      : w_(w), arrays_(w.list_arrays()), num_envs_(num_envs) {}

  /// Lists all environments by class. One launch where one block can do it.
  template <class Scalar>
  void fill(const ProblemBatch<Scalar>& p, Stream stream) const {
    const kernels::ListKernels<Scalar> k = kernels::list_kernels<Scalar>();
    const auto* const work = static_cast<const std::int32_t*>(w_.work.data());
    if (num_envs_ <= kernels::kSmallBatch) {
      launch(k.all, 1, kernels::kSmallThreads, 0, stream, p, w_.classes, work, arrays_.sorted_keys,
             arrays_.sorted_envs, ends());
      return;
    }
    const int blocks = (num_envs_ - 1) / kernels::kListThreads + 1;
    SS_CUDA(cudaMemsetAsync(w_.counters.data(), 0, w_.counters.bytes(), stream));
    launch(k.keys, blocks, kernels::kListThreads, 0, stream, p, w_.classes, work, arrays_.keys,
           arrays_.envs);
    std::size_t bytes = w_.sorting.bytes();
    SS_CUDA(cudaError_t(kernels::sort_lists(w_.sorting.data(), bytes, arrays_, num_envs_, stream)));
    launch(k.ends, blocks, kernels::kListThreads, 0, stream, arrays_.sorted_keys, num_envs_,
           ends());
  }

  /// The list of class c in the first pass, of `passes`. Solves note their work there.
  kernels::WorkList first(int c, int passes) const {
    const kernels::ListEnds at = ends();
    kernels::WorkList list{arrays_.sorted_envs, at.end + c, at.next + c};
    if (passes > 1) list.unsolved = unsolved(), list.unsolved_end = at.unsolved_end + c;
    list.work = static_cast<std::int32_t*>(w_.work.data());
    return list;
  }
  /// In the second pass.
  kernels::WorkList second(int c) const {
    const kernels::ListEnds at = ends();
    return {unsolved(), at.unsolved_end + c, at.unsolved_next + c};
  }

 private:
  kernels::ListEnds ends() const {
    auto* const end = static_cast<std::int32_t*>(w_.counters.data());
    const int classes = w_.classes.count;
    return {end, end + classes, end + 2 * classes, end + 3 * classes};
  }
  /// Unsorted indices have been used when the launches begin.
  std::int32_t* unsolved() const { return arrays_.envs; }

  const Workspace::Impl& w_;
  kernels::ListArrays arrays_;
  std::int32_t num_envs_;
};

/// A launch per size class, of all environments; `arguments` come before scratch and list.
template <class Kernel, class Scalar, class... Arguments>
void enqueue_classes(const ClassPlans<Kernel>& plans, const Workspace::Impl& w, Stream stream,
                     const ProblemBatch<Scalar>& problem, const Arguments&... arguments) {
  const WorkLists lists(w, problem.num_envs);
  lists.fill(problem, stream);
  w.branches.run(w.classes.count, stream, [&](int c, Stream branch) {
    const LaunchPlan<Kernel>& plan = plans[c];
    launch(plan, branch, problem, arguments..., scratch_of(plan, w), lists.first(c, 1));
  });
}

}  // namespace stickslip::cuda
