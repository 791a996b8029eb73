// Rung 0 alone, with groups of a given number of lanes whatever the plan chooses, and the
// environments in the order of the batch.
#pragma once
#include <cuda_runtime_api.h>

#include <numeric>
#include <vector>

#include "src/cuda/check.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/plan.hpp"
#include "src/cuda/workspace.hpp"

namespace stickslip::bench {

class GroupLaunch {
 public:
  /// Groups of `lanes`: 8, 32, 64 or 128.
  GroupLaunch(int lanes, const ProblemBatch<double>& problem, const SolveOptions& options,
              cuda::Stream stream)
      : problem_(problem),
        stream_(stream),
        ladder_(options),
        plan_{{.lanes = lanes, .max_rows = problem.max_rows}},
        list_((std::size_t(problem.num_envs) + 2) * sizeof(std::int32_t)) {
    const kernels::SolveKernels<double> k = kernels_of(ladder_.variant);
    plan_.kernel = lanes == kernels::kNarrowLanes ? k.narrow
                   : lanes == 32                  ? k.wide
                   : lanes == kernels::kPairLanes ? k.pair
                                                  : k.block;
    plan_.max_contacts = problem.max_contacts;
    plan_.group_bytes = k.bytes(plan_.max_rows, plan_.max_contacts, 0, plan_.matrix);
    if (lanes < 32) plan_.group_bytes = cuda::in_other_banks(plan_.group_bytes);
    plan_.warps = cuda::warps_of(plan_, k.most_warps, problem.num_envs, cuda::device_limits());
    plan_.shared_bytes = plan_.group_bytes * std::size_t(plan_.groups());
    plan_.blocks = (problem.num_envs - 1) / plan_.groups() + 1;
    if (!possible()) return;
    std::vector<std::int32_t> list(std::size_t(problem.num_envs) + 2, 0);  // its end, the next
    std::iota(list.begin(), list.end() - 2, 0);
    list[list.size() - 2] = problem.num_envs;
    list_.upload(list.data(), list_.bytes(), stream);
    SS_CUDA(cudaFuncSetAttribute(cuda::address_of(plan_.kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(cuda::device_limits().shared_per_block)));
  }

  /// False if there is no such kernel or the scratch does not fit shared memory.
  bool possible() const {
    return plan_.kernel != nullptr && plan_.shared_bytes <= cuda::device_limits().shared_per_block;
  }

  /// Only as many blocks as are resident at a time, as in a solve: each takes one environment after
  /// the other.
  void limit_blocks() {
    int resident = 0;
    SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, cuda::address_of(plan_.kernel),
                                                          plan_.threads(), plan_.shared_bytes));
    plan_.blocks = std::min(plan_.blocks, resident * cuda::device_limits().processors);
  }

  /// Makes the list full again.
  void rewind() { cuda::clear(next(), sizeof(std::int32_t), stream_); }

  void enqueue(const ResultBatch<double>& result) {
    const kernels::WorkList work{envs(), envs() + problem_.num_envs, next()};
    cuda::launch(plan_, stream_, problem_, result, ladder_, {},
                 {plan_.max_rows, plan_.max_contacts, 0, plan_.matrix, plan_.group_bytes, nullptr},
                 work);
  }

 private:
  static kernels::SolveKernels<double> kernels_of(kernels::KernelVariant variant) {
    using kernels::KernelVariant, kernels::solve_kernels;
    return variant == KernelVariant::sweeping
               ? solve_kernels<double, double, double, KernelVariant::sweeping>()
           : variant == KernelVariant::pivoting
               ? solve_kernels<double, double, double, KernelVariant::pivoting>()
               : solve_kernels<double, double, double, KernelVariant::rung0>();
  }
  std::int32_t* envs() { return static_cast<std::int32_t*>(list_.data()); }
  std::int32_t* next() { return envs() + problem_.num_envs + 1; }

  ProblemBatch<double> problem_;
  cuda::Stream stream_;
  kernels::Ladder ladder_;
  cuda::LaunchPlan<kernels::SolveKernel<double>> plan_;
  cuda::Buffer list_;
};

}  // namespace stickslip::bench
