#include "src/cuda/workspace.hpp"

#include <algorithm>
#include <numeric>

#include "src/api/check.hpp"
#include "src/cuda/check.hpp"

namespace stickslip::cuda {

using kernels::KernelVariant;

DeviceLimits device_limits() {
  int device = 0, processors = 0, shared = 0;
  SS_CUDA(cudaGetDevice(&device));
  SS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  SS_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr int kStatic = 1024;  // for static shared memory of kernels (BlockGroup's exchanges)
  return {processors, std::size_t(shared - kStatic)};
}

namespace {

/// In `mixed`, sweeps and the later rungs are in double, so their kernels are those of float64. The
/// general pyramid is always in double.
template <KernelVariant kVariant>
kernels::SolveKernels solve_kernels_of(Types types) {
  using kernels::solve_kernels;
  if constexpr (kVariant == KernelVariant::general) {
    return types == Types::float_data ? solve_kernels<float, float, float, kVariant>()
                                      : solve_kernels<double, double, double, kVariant>();
  }
  switch (types) {
    case Types::float64:
      return solve_kernels<double, double, double, kVariant>();
    case Types::mixed:
      if constexpr (kVariant == KernelVariant::later || kVariant == KernelVariant::sweeping) {
        return solve_kernels<double, double, double, kVariant>();
      } else {
        return solve_kernels<double, float, double, kVariant>();
      }
    case Types::float32:
      return solve_kernels<float, float, double, kVariant>();
    case Types::float_data:
      break;
  }
  return solve_kernels<float, float, float, kVariant>();
}

std::size_t sort_bytes(std::int32_t num_envs) {
  std::size_t bytes = 0;
  SS_CUDA(cudaError_t(kernels::sort_lists(nullptr, bytes, {}, num_envs, nullptr)));
  return bytes;
}

}  // namespace

/// Sets the number of blocks: as many as the device holds at once, or as the batch needs. Notes the
/// global scratch of a launch of class c.
void Workspace::Impl::place(LaunchPlan& plan, int c) {
  int resident = 2;  // for large problems: more would only need more memory
  if (plan.shared_bytes > 0) {
    SS_CUDA(cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(limits.shared_per_block)));
    SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan.kernel, plan.threads(),
                                                          plan.shared_bytes));
  }
  const int enough = (num_envs + plan.groups() - 1) / plan.groups();
  plan.blocks = std::max(1, std::min(resident * limits.processors, enough));
  plan.size_class = c;
  scratch_bytes[c] = std::max(scratch_bytes[c], plan.global_bytes());
}

std::vector<LaunchPlan> Workspace::Impl::plan_classes(const kernels::SolveKernels& kernels,
                                                      kernels::MatrixKind matrix) {
  std::vector<LaunchPlan> plans;
  for (int c = 0; c < classes.count; ++c) {
    LaunchPlan plan =
        plan_class(kernels, classes.rows[c], max_contacts, directions, matrix, num_envs, limits);
    place(plan, c);
    plans.push_back(plan);
  }
  return plans;
}

Plans Workspace::Impl::plan_solves(kernels::MatrixKind matrix) {
  Plans plans;
  for (const Types types : {Types::float64, Types::float32, Types::mixed, Types::float_data}) {
    const auto plan = [&](KernelVariant variant, const kernels::SolveKernels& kernels) {
      plans.launches[int(variant)][int(types)] = plan_classes(kernels, matrix);
    };
    plan(KernelVariant::sweeping, solve_kernels_of<KernelVariant::sweeping>(types));
    plan(KernelVariant::rung0, solve_kernels_of<KernelVariant::rung0>(types));
    plan(KernelVariant::later, solve_kernels_of<KernelVariant::later>(types));
    plan(KernelVariant::pivoting, solve_kernels_of<KernelVariant::pivoting>(types));
    if (directions > 0)
      plan(KernelVariant::general, solve_kernels_of<KernelVariant::general>(types));
  }
  return plans;
}

template <class Scalar>
MechanismPlans Workspace::Impl::plan_mechanism() {
  const kernels::MechanismKernels k = kernels::mechanism_kernels<Scalar>();
  const std::size_t bytes = k.bytes(nv, max_rows);
  const bool shared = bytes <= limits.shared_per_block;
  const auto plan = [&](const void* const kernels[2]) {
    LaunchPlan p{.kernel = kernels[shared ? 0 : 1],
                 .max_rows = max_rows,
                 .matrix = {nv},
                 .group_bytes = bytes,
                 .shared_bytes = shared ? bytes : 0};
    place(p, 0);
    return p;
  };
  return {plan(k.delassus), plan(k.apply)};
}

template <class Scalar>
GradientPlans Workspace::Impl::plan_gradients() {
  const kernels::GradientKernels k = kernels::gradient_kernels<Scalar>();
  GradientPlans plans{plan_classes(k.vjp, {}), plan_classes(k.jvp, {}), {}};
  if (nv >= 0) plans.step = plan_classes(k.vjp, {nv});
  return plans;
}

Workspace::Impl::Impl(std::int32_t envs_, std::int32_t rows, std::int32_t contacts,
                      std::int32_t dofs, std::int32_t directions_, bool float_storage_,
                      bool has_gradients_)
    : num_envs(envs_),
      max_rows(rows),
      max_contacts(contacts),
      nv(dofs),
      directions(directions_),
      float_storage(float_storage_),
      has_gradients(has_gradients_),
      limits(device_limits()),
      classes(size_classes(rows)),
      branches(classes.count),
      given(plan_solves({})),
      lists(4 * sizeof(std::int32_t) * std::size_t(envs_)),
      sorting(sort_bytes(envs_)),
      work(sizeof(std::int32_t) * std::size_t(envs_)),
      impulses(float_storage_ ? sizeof(double) * std::size_t(envs_) * std::size_t(rows) : 0),
      counters(sizeof(std::int32_t) * 4 * std::size_t(classes.count)),
      scratch(0) {
  if (nv >= 0 || float_storage) fused = plan_solves({nv, float_storage});
  if (nv >= 0) {
    mechanism_double = plan_mechanism<double>();
    mechanism_float = plan_mechanism<float>();
    convex = plan_classes(kernels::convex_kernels(), {nv});
  }
  if (has_gradients) {
    gradients_double = plan_gradients<double>();
    gradients_float = plan_gradients<float>();
  }
  scratch = Buffer(std::accumulate(scratch_bytes, scratch_bytes + classes.count, std::size_t(0)));
  if (envs_ > 0) {
    SS_CUDA(cudaMemsetAsync(work.data(), kernels::kUnknownWork, work.bytes(), nullptr));
    wait(nullptr);  // calls may use any stream
  }
}

kernels::ListArrays Workspace::Impl::list_arrays() const {
  auto* const keys = static_cast<std::uint32_t*>(lists.data());
  auto* const indices = static_cast<std::int32_t*>(lists.data()) + 2 * std::int64_t(num_envs);
  return {keys, keys + num_envs, indices, indices + num_envs};
}

Workspace::Workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts,
                     std::int32_t nv, std::int32_t directions, bool float_storage, bool gradients) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require(max_contacts >= 0, "max_contacts", "a number >= 0", max_contacts);
  require(nv >= -1, "nv", "a number >= 0, or -1 for none", nv);
  if (directions != 0) check_directions(directions, "directions");
  impl_ = std::make_unique<Impl>(num_envs, max_rows, max_contacts, nv, directions, float_storage,
                                 gradients);
}

bool Workspace::holds(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts,
                      std::int32_t directions, bool float_storage) const {
  return impl_->num_envs >= num_envs && impl_->max_rows >= max_rows &&
         impl_->max_contacts >= max_contacts && impl_->directions >= directions &&
         impl_->float_storage >= float_storage;
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

}  // namespace stickslip::cuda
