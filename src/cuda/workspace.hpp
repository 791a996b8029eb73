// Launches of a solve, planned once: kernel, number of blocks and scratch of each class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "src/api/impl.hpp"
#include "src/cuda/branches.hpp"
#include "src/cuda/plan.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

/// Of the current device.
DeviceLimits device_limits();

/// Launches of a call, one per class.
template <class Kernel>
using ClassPlans = std::vector<LaunchPlan<Kernel>>;

inline constexpr int kPrecisions = 3;

/// Launches of the solves of given matrices, or of mechanisms: by variant and precision. Data in
/// float have those of float32 alone.
template <class Scalar>
struct SolvePlans {
  using Launches = ClassPlans<kernels::SolveKernel<Scalar>>;
  Launches launches[kernels::kKernelVariants][kPrecisions];

  const Launches& of(kernels::KernelVariant variant, Precision precision) const {
    return launches[int(variant)][int(precision)];
  }
};

/// Launches of `delassus` and `apply_impulse`.
template <class Scalar>
struct MechanismPlans {
  LaunchPlan<kernels::DelassusKernel<Scalar>> delassus;
  LaunchPlan<kernels::ApplyKernel<Scalar>> apply;
};

/// Launches of derivatives.
template <class Scalar>
struct GradientPlans {
  ClassPlans<kernels::VjpKernel<Scalar>> vjp;
  ClassPlans<kernels::JvpKernel<Scalar>> jvp;
  ClassPlans<kernels::VjpKernel<Scalar>> step;  ///< of mechanisms
};

/// Plans for data in double and for data in float: std::get<Plans<Scalar>>.
template <template <class> class Plans>
using ForBoth = std::tuple<Plans<double>, Plans<float>>;

struct Workspace::Impl {
  explicit Impl(const WorkspaceConfig& config);

  /// Global scratch of the launches of class c.
  unsigned char* scratch_memory(int c) const {
    auto* const all = static_cast<unsigned char*>(scratch.data());
    return std::accumulate(scratch_bytes, scratch_bytes + c, all);
  }
  kernels::ListArrays list_arrays() const;

  WorkspaceConfig config;
  DeviceLimits limits;
  kernels::SizeClasses classes;
  Branches branches;  ///< one per class
  /// The most global scratch of any launch of a class, since the launches of two classes may run at
  /// once. Declared before the plans, which set it.
  std::size_t scratch_bytes[kernels::SizeClasses::kCapacity] = {};
  ForBoth<SolvePlans> given, fused;  ///< fused: where W is formed in the scratch
  /// Of the class of large environments, which may begin without W; else it has no kernel.
  LaunchPlan<kernels::SolveKernel<double>> sparse;
  ClassPlans<kernels::ConvexKernel> convex;  ///< without W
  ForBoth<MechanismPlans> mechanism;
  ForBoth<GradientPlans> gradients;
  Buffer lists;     ///< keys and environments, before and after sorting: ListArrays
  Buffer sorting;   ///< storage of the sort
  Buffer work;      ///< int32 [num_envs], guessed from rung 0 of the solve before
  Buffer impulses;  ///< double [num_envs][max_rows] if `float_storage`
  Buffer counters;  ///< int32 [passes][2][classes]: end, next
  Buffer scratch;   ///< global, of the classes one after the other

 private:
  template <class Scalar>
  SolvePlans<Scalar> plan_solves(kernels::MatrixKind matrix);
  template <class Kernel>
  LaunchPlan<Kernel> plan_class(int c, const kernels::GroupKernels<Kernel>& kernels,
                                kernels::MatrixKind matrix);
  template <class Kernel>
  ClassPlans<Kernel> plan_classes(const kernels::GroupKernels<Kernel>& kernels,
                                  kernels::MatrixKind matrix);
  template <class Scalar>
  MechanismPlans<Scalar> plan_mechanism();
  template <class Scalar>
  GradientPlans<Scalar> plan_gradients();
  template <class Kernel>
  void place(LaunchPlan<Kernel>& plan, int c);
};

}  // namespace stickslip::cuda
