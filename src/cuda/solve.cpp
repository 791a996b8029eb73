// Enqueues solves: sort the environments into classes, then one launch per class.
#include <algorithm>

#include "src/batch/check.hpp"
#include "src/cuda/check.hpp"
#include "src/cuda/workspace.hpp"

namespace stickslip::cuda {

namespace {

/// cudaLaunchKernel takes the addresses of the parameters, in the order of the kernel's own.
template <class... Parameters>
void launch(const void* kernel, int blocks, int threads, std::size_t shared_bytes, Stream stream,
            Parameters... parameters) {
  void* addresses[] = {&parameters...};
  SS_CUDA(cudaLaunchKernel(kernel, dim3(unsigned(blocks)), dim3(unsigned(threads)), addresses,
                           shared_bytes, stream));
}

void check_workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts,
                     const Workspace::Impl& workspace) {
  require(workspace.num_envs >= num_envs, "workspace.num_envs", "at least the batch's num_envs",
          workspace.num_envs);
  require(workspace.max_rows >= max_rows, "workspace.max_rows", "at least the batch's max_rows",
          workspace.max_rows);
  require(workspace.max_contacts >= max_contacts, "workspace.max_contacts",
          "at least the batch's max_contacts", workspace.max_contacts);
}

template <class In>
void sort_environments(const ProblemBatch<In>& p, Workspace::Impl& w, Stream stream) {
  using kernels::SortKernels;
  auto* class_of = static_cast<std::int32_t*>(w.class_of.data());
  auto* envs = static_cast<std::int32_t*>(w.envs.data());
  auto* count = static_cast<std::int32_t*>(w.counters.data());
  const int blocks =
      (p.num_envs + SortKernels::kClassifyThreads - 1) / SortKernels::kClassifyThreads;
  launch(w.sort.classify, blocks, SortKernels::kClassifyThreads, 0, stream, p.shape, p.dims,
         p.num_envs, p.max_rows, p.max_contacts, w.classes, class_of);
  launch(w.sort.collect, w.classes.count, SortKernels::kCollectThreads, 0, stream,
         static_cast<const std::int32_t*>(class_of), p.num_envs, envs, count,
         count + w.classes.count);
}

/// Blocks and scratch of a mechanism kernel; `kernels` for shared and global memory.
struct MechanismLaunch {
  const void* kernel;
  int blocks;
  std::size_t shared_bytes;
  kernels::GroupScratch scratch;
};

MechanismLaunch plan_mechanism(const void* const kernels[2], std::size_t bytes, int num_envs,
                               int max_rows, Workspace::Impl& w) {
  const bool shared = bytes <= w.limits.shared_per_block;
  MechanismLaunch plan{
      kernels[shared ? 0 : 1], 0, shared ? bytes : 0, {max_rows, 0, bytes, nullptr}};
  int resident = 2;
  if (shared) {
    SS_CUDA(cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(w.limits.shared_per_block)));
    SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan.kernel,
                                                          kernels::kBlockThreads, bytes));
  }
  plan.blocks = std::min(num_envs, resident * w.limits.processors);
  if (!shared) {
    w.reserve(bytes * std::size_t(plan.blocks));
    plan.scratch.memory = static_cast<unsigned char*>(w.scratch.data());
  }
  return plan;
}

}  // namespace

template <class In>
void solve(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
           const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_solve(problem, result, options);
  require(options.law != Law::pyramid || options.directions == 4, "options.directions",
          "4 on a GPU", options.directions);
  Workspace::Impl& w = workspace.impl();
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  if (problem.num_envs == 0) return;
  sort_environments(problem, w, stream);
  auto* envs = static_cast<std::int32_t*>(w.envs.data());
  auto* count = static_cast<std::int32_t*>(w.counters.data());
  int c = 0;
  for (const LaunchPlan& plan : w.plans<In>(options)) {
    const kernels::GroupScratch scratch{plan.max_rows, plan.max_contacts, plan.group_bytes,
                                        static_cast<unsigned char*>(w.scratch.data())};
    const kernels::WorkList work{envs + std::int64_t(c) * problem.num_envs, count + c,
                                 count + w.classes.count + c};
    launch(plan.kernel, plan.blocks, kernels::kBlockThreads, plan.shared_bytes, stream, problem,
           result, options, scratch, work);
    ++c;
  }
}

template <class In>
void delassus(const MechanismBatch<In>& m, EnvArray<In> W, std::int32_t ld_W, std::int32_t* ok,
              Workspace& workspace, Stream stream) {
  check_mechanism(m);
  if (m.num_envs > 0 && m.max_rows > 0) require_array(W, "W");
  require(ld_W >= m.max_rows, "ld_W", "at least mechanism.max_rows", ld_W);
  require(ok != nullptr || m.num_envs == 0, "ok", "an array", "none");
  if (m.num_envs == 0) return;
  const auto k = kernels::mechanism_kernels<In>();
  const MechanismLaunch plan = plan_mechanism(k.delassus, k.bytes(m.nv, m.max_rows), m.num_envs,
                                              m.max_rows, workspace.impl());
  launch(plan.kernel, plan.blocks, kernels::kBlockThreads, plan.shared_bytes, stream, m, W, ld_W,
         ok, plan.scratch);
}

template <class In>
void apply_impulse(const MechanismBatch<In>& m, EnvArray<const In> impulse,
                   EnvArray<const In> v_free, EnvArray<In> v_next, std::int32_t* ok,
                   Workspace& workspace, Stream stream) {
  check_mechanism(m);
  if (m.num_envs > 0 && m.nv > 0) {
    if (m.max_rows > 0) require_array(impulse, "impulse");
    require_array(v_free, "v_free");
    require_array(v_next, "v_next");
  }
  require(ok != nullptr || m.num_envs == 0, "ok", "an array", "none");
  if (m.num_envs == 0) return;
  const auto k = kernels::mechanism_kernels<In>();
  const MechanismLaunch plan =
      plan_mechanism(k.apply, k.bytes(m.nv, m.max_rows), m.num_envs, m.max_rows, workspace.impl());
  launch(plan.kernel, plan.blocks, kernels::kBlockThreads, plan.shared_bytes, stream, m, impulse,
         v_free, v_next, ok, plan.scratch);
}

template void solve(const ProblemBatch<double>&, const ResultBatch<double>&, const SolveOptions&,
                    Workspace&, Stream);
template void solve(const ProblemBatch<float>&, const ResultBatch<float>&, const SolveOptions&,
                    Workspace&, Stream);
template void delassus(const MechanismBatch<double>&, EnvArray<double>, std::int32_t, std::int32_t*,
                       Workspace&, Stream);
template void delassus(const MechanismBatch<float>&, EnvArray<float>, std::int32_t, std::int32_t*,
                       Workspace&, Stream);
template void apply_impulse(const MechanismBatch<double>&, EnvArray<const double>,
                            EnvArray<const double>, EnvArray<double>, std::int32_t*, Workspace&,
                            Stream);
template void apply_impulse(const MechanismBatch<float>&, EnvArray<const float>,
                            EnvArray<const float>, EnvArray<float>, std::int32_t*, Workspace&,
                            Stream);

}  // namespace stickslip::cuda
