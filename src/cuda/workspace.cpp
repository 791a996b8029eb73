#include "src/cuda/workspace.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/ladder/mechanism_scratch.hpp"
#include "src/api/check.hpp"
#include "src/cuda/launch.hpp"

namespace stickslip::cuda {

using kernels::KernelVariant;

DeviceLimits device_limits() {
  int device = 0, processors = 0, shared = 0;
  SS_CUDA(cudaGetDevice(&device));
  SS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  SS_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr int kStatic = 1024;  // for static shared memory of kernels (BlockGroup's exchanges)
  // Other libraries want memory too: with 600 rows under a pyramid of 8 directions, the scratch of
  // all blocks would be tens of GB.
  constexpr std::size_t kShare = 8;
  std::size_t free = 0, total = 0;
  SS_CUDA(cudaMemGetInfo(&free, &total));
  return {processors, std::size_t(shared - kStatic), free / kShare};
}

namespace {

/// In `mixed`, sweeps and the later rungs are in double, so their kernels are those of float64. The
/// general pyramid of data in double is always in double.
template <class Scalar, KernelVariant kVariant>
kernels::SolveKernels<Scalar> solve_kernels_of(Precision precision) {
  using kernels::solve_kernels;
  if constexpr (sizeof(Scalar) == 4) {
    return solve_kernels<float, float, float, kVariant>();
  } else {
    if constexpr (kVariant != KernelVariant::general) {
      if (precision == Precision::float32) return solve_kernels<float, float, double, kVariant>();
    }
    if constexpr (kVariant == KernelVariant::rung0 || kVariant == KernelVariant::pivoting) {
      if (precision == Precision::mixed) return solve_kernels<double, float, double, kVariant>();
    }
    return solve_kernels<double, double, double, kVariant>();
  }
}

std::size_t sort_bytes(std::int32_t num_envs) {
  std::size_t bytes = 0;
  SS_CUDA(cudaError_t(kernels::sort_lists(nullptr, bytes, {}, num_envs, nullptr)));
  return bytes;
}

}  // namespace

/// Sets the number of blocks. Notes the global scratch of a launch of class c.
template <class Kernel>
void Workspace::Impl::place(LaunchPlan<Kernel>& plan, int c) {
  int resident = 2;  // for large problems: more would only need more memory
  if (plan.shared_bytes > 0) {
    const void* const kernel = address_of(plan.kernel);
    SS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(limits.shared_per_block)));
    SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, plan.threads(),
                                                          plan.shared_bytes));
  }
  plan.blocks = blocks_of(plan, resident, config.num_envs, limits);
  plan.size_class = c;
  scratch_bytes[c] = std::max(scratch_bytes[c], plan.global_bytes());
}

template <class Kernel>
LaunchPlan<Kernel> Workspace::Impl::plan_class(int c, const kernels::GroupKernels<Kernel>& kernels,
                                               kernels::MatrixKind matrix) {
  LaunchPlan<Kernel> plan = cuda::plan_class(kernels, classes.rows[c], config.max_contacts,
                                             config.directions, matrix, config.num_envs, limits);
  place(plan, c);
  return plan;
}

template <class Kernel>
ClassPlans<Kernel> Workspace::Impl::plan_classes(const kernels::GroupKernels<Kernel>& kernels,
                                                 kernels::MatrixKind matrix) {
  ClassPlans<Kernel> plans;
  for (int c = 0; c < classes.count; ++c) plans.push_back(plan_class(c, kernels, matrix));
  return plans;
}

template <class Scalar>
SolvePlans<Scalar> Workspace::Impl::plan_solves(kernels::MatrixKind matrix) {
  SolvePlans<Scalar> plans;
  for (const Precision precision : {Precision::float64, Precision::float32, Precision::mixed}) {
    if (sizeof(Scalar) == 4 && precision != Precision::float32) continue;
    const auto plan = [&](KernelVariant variant, const kernels::SolveKernels<Scalar>& kernels) {
      plans.launches[int(variant)][int(precision)] = plan_classes(kernels, matrix);
    };
    plan(KernelVariant::sweeping, solve_kernels_of<Scalar, KernelVariant::sweeping>(precision));
    plan(KernelVariant::rung0, solve_kernels_of<Scalar, KernelVariant::rung0>(precision));
    plan(KernelVariant::later, solve_kernels_of<Scalar, KernelVariant::later>(precision));
    plan(KernelVariant::pivoting, solve_kernels_of<Scalar, KernelVariant::pivoting>(precision));
    if (config.directions > 0)
      plan(KernelVariant::general, solve_kernels_of<Scalar, KernelVariant::general>(precision));
  }
  return plans;
}

template <class Scalar>
MechanismPlans<Scalar> Workspace::Impl::plan_mechanism() {
  const kernels::MechanismKernels<Scalar> k = kernels::mechanism_kernels<Scalar>();
  const std::size_t bytes = k.bytes(config.nv, config.max_rows);
  const bool shared = bytes <= limits.shared_per_block;
  const auto plan = [&](const auto& kernels) {
    LaunchPlan p{{.max_rows = config.max_rows,
                  .matrix = {config.nv},
                  .group_bytes = bytes,
                  .shared_bytes = shared ? bytes : 0},
                 kernels[shared ? 0 : 1]};
    place(p, 0);
    return p;
  };
  return {plan(k.delassus), plan(k.apply)};
}

template <class Scalar>
GradientPlans<Scalar> Workspace::Impl::plan_gradients() {
  const kernels::GradientKernels<Scalar> k = kernels::gradient_kernels<Scalar>();
  GradientPlans<Scalar> plans{plan_classes(k.vjp, {}), plan_classes(k.jvp, {}), {}};
  if (config.nv >= 0) plans.step = plan_classes(k.vjp, {config.nv});
  return plans;
}

Workspace::Impl::Impl(const WorkspaceConfig& c)
    : config(c),
      limits(device_limits()),
      classes(size_classes(c.max_rows)),
      branches(classes.count),
      given(plan_solves<double>({}), plan_solves<float>({})),
      lists(4 * sizeof(std::int32_t) * std::size_t(c.num_envs)),
      sorting(sort_bytes(c.num_envs)),
      work(sizeof(std::int32_t) * std::size_t(c.num_envs)),
      impulses(c.float_storage ? sizeof(double) * std::size_t(c.num_envs) * std::size_t(c.max_rows)
                               : 0),
      counters(sizeof(std::int32_t) * 4 * std::size_t(classes.count)),
      scratch(0) {
  const kernels::MatrixKind formed{c.nv, c.float_storage};
  if (formed.has_matrix()) fused = {plan_solves<double>(formed), plan_solves<float>(formed)};
  if (c.nv >= 0) {
    mechanism = {plan_mechanism<double>(), plan_mechanism<float>()};
    convex = plan_classes(kernels::convex_kernels(), {c.nv});
    if (c.max_rows > kernels::kEngineRows)
      sparse = plan_class(classes.count - 1, kernels::sparse_kernels(), {c.nv});
  }
  if (c.gradients) gradients = {plan_gradients<double>(), plan_gradients<float>()};
  scratch = Buffer(std::accumulate(scratch_bytes, scratch_bytes + classes.count, std::size_t(0)));
  if (c.num_envs > 0) {
    SS_CUDA(cudaMemsetAsync(work.data(), kernels::kUnknownWork, work.bytes(), nullptr));
    wait(nullptr);  // calls may use any stream
  }
}

kernels::ListArrays Workspace::Impl::list_arrays() const {
  auto* const keys = static_cast<std::uint32_t*>(lists.data());
  const std::int64_t envs = config.num_envs;
  auto* const indices = static_cast<std::int32_t*>(lists.data()) + 2 * envs;
  return {keys, keys + envs, indices, indices + envs};
}

Workspace::Workspace(const WorkspaceConfig& c) {
  require(c.num_envs >= 0, "num_envs", "a number >= 0", c.num_envs);
  require(c.max_rows >= 0, "max_rows", "a number >= 0", c.max_rows);
  require(c.max_contacts >= 0, "max_contacts", "a number >= 0", c.max_contacts);
  require(c.nv >= -1, "nv", "a number >= 0, or -1 for none", c.nv);
  if (c.directions != 0) check_directions(c.directions, "directions");
  impl_ = std::make_unique<Impl>(c);
}

bool Workspace::holds(const WorkspaceConfig& c) const {
  const WorkspaceConfig& own = impl_->config;
  return own.num_envs >= c.num_envs && own.max_rows >= c.max_rows &&
         own.max_contacts >= c.max_contacts && own.nv >= c.nv && own.directions >= c.directions &&
         own.float_storage >= c.float_storage && own.gradients >= c.gradients;
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

}  // namespace stickslip::cuda
