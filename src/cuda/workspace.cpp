#include "src/cuda/workspace.hpp"

#include <algorithm>

#include "src/batch/check.hpp"
#include "src/cuda/check.hpp"

namespace stickslip::cuda {

DeviceLimits device_limits() {
  int device = 0, processors = 0, shared = 0;
  SS_CUDA(cudaGetDevice(&device));
  SS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  SS_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return {processors, std::size_t(shared)};
}

namespace {

template <kernels::Program kProgram>
kernels::SolveKernels double_data(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return kernels::solve_kernels<double, double, double, kProgram>();
    case Precision::mixed:
      return kernels::solve_kernels<double, float, double, kProgram>();
    case Precision::fp32:
      break;
  }
  return kernels::solve_kernels<float, float, double, kProgram>();
}

}  // namespace

using kernels::Program;

template <>
kernels::SolveKernels solve_kernels_of<double>(Precision precision, Program program) {
  return program == Program::pivoting ? double_data<Program::pivoting>(precision)
                                      : double_data<Program::iterative>(precision);
}

template <>
kernels::SolveKernels solve_kernels_of<float>(Precision, Program program) {
  return program == Program::pivoting
             ? kernels::solve_kernels<float, float, float, Program::pivoting>()
             : kernels::solve_kernels<float, float, float, Program::iterative>();
}

Plans Workspace::Impl::plan_program(Program program) {
  Plans plans;
  plans.float_data = plan_all(solve_kernels_of<float>(Precision::fp32, program));
  for (Precision p : {Precision::fp64, Precision::fp32, Precision::mixed}) {
    plans.by_precision[int(p)] = plan_all(solve_kernels_of<double>(p, program));
  }
  return plans;
}

std::vector<LaunchPlan> Workspace::Impl::plan_all(const kernels::SolveKernels& kernels) {
  std::vector<LaunchPlan> plans;
  for (int c = 0; c < classes.count; ++c) {
    LaunchPlan plan = plan_class(kernels, classes.rows[c], max_contacts, limits.shared_per_block);
    int resident = 2;  // of the large problems: more would only need more memory
    if (plan.shared_bytes > 0) {
      SS_CUDA(cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(limits.shared_per_block)));
      SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &resident, plan.kernel, kernels::kBlockThreads, plan.shared_bytes));
    }
    const int enough = (num_envs + plan.groups() - 1) / plan.groups();
    plan.blocks = std::max(1, std::min(resident * limits.processors, enough));
    plans.push_back(plan);
  }
  return plans;
}

Workspace::Impl::Impl(std::int32_t envs_, std::int32_t rows, std::int32_t contacts)
    : num_envs(envs_),
      max_rows(rows),
      max_contacts(contacts),
      limits(device_limits()),
      classes(size_classes(rows)),
      sort(kernels::sort_kernels()),
      class_of(sizeof(std::int32_t) * std::size_t(envs_)),
      envs(sizeof(std::int32_t) * std::size_t(envs_) * std::size_t(classes.count)),
      counters(sizeof(std::int32_t) * 2 * std::size_t(classes.count)),
      scratch(0) {
  iterative = plan_program(Program::iterative);
  pivoting = plan_program(Program::pivoting);
  std::size_t bytes = 0;
  for (const Plans* program : {&iterative, &pivoting}) {
    const auto& typed = program->by_precision;
    for (const auto* plans : {&program->float_data, &typed[0], &typed[1], &typed[2]}) {
      for (const LaunchPlan& plan : *plans) bytes = std::max(bytes, plan.global_bytes());
    }
  }
  reserve(bytes);
}

void Workspace::Impl::reserve(std::size_t bytes) {
  if (bytes <= scratch.bytes()) return;
  SS_CUDA(cudaDeviceSynchronize());  // launches may still use the old scratch
  scratch = Buffer(0);
  scratch = Buffer(bytes);
}

Workspace::Workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require(max_contacts >= 0, "max_contacts", "a number >= 0", max_contacts);
  impl_ = std::make_unique<Impl>(num_envs, max_rows, max_contacts);
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

}  // namespace stickslip::cuda
