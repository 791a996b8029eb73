// Launches of a solve, planned once: kernel, number of blocks and scratch of each class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "src/api/impl.hpp"
#include "src/cuda/branches.hpp"
#include "src/cuda/plan.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

/// Of the current device.
DeviceLimits device_limits();

/// Combinations of precision and data type for which kernels are compiled.
enum class Types { float64, float32, mixed, float_data };
inline constexpr int kTypes = 4;

template <class Scalar>
Types types_of(Precision precision) {
  return sizeof(Scalar) == 4 ? Types::float_data : Types(precision);
}

/// Launches of the solves of given matrices, or of mechanisms: by variant and type, one per class.
struct Plans {
  std::vector<LaunchPlan> launches[kernels::kKernelVariants][kTypes];

  const std::vector<LaunchPlan>& of(kernels::KernelVariant variant, Types types) const {
    return launches[int(variant)][int(types)];
  }
};

/// Launches of `delassus` and `apply_impulse` for one type of data.
struct MechanismPlans {
  LaunchPlan delassus, apply;
};

/// Launches of derivatives for one type of data, one per class.
struct GradientPlans {
  std::vector<LaunchPlan> vjp, jvp, step;  ///< step: of mechanisms
};

struct Workspace::Impl {
  Impl(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts, std::int32_t nv,
       std::int32_t directions, bool float_storage, bool has_gradients);

  template <class Scalar>
  const MechanismPlans& mechanism_plans() const {
    return sizeof(Scalar) == 4 ? mechanism_float : mechanism_double;
  }
  /// Global scratch of the launches of class c.
  unsigned char* scratch_memory(int c) const {
    auto* const all = static_cast<unsigned char*>(scratch.data());
    return std::accumulate(scratch_bytes, scratch_bytes + c, all);
  }
  kernels::ListArrays list_arrays() const;

  std::int32_t num_envs, max_rows, max_contacts, nv, directions;
  bool float_storage, has_gradients;
  DeviceLimits limits;
  kernels::SizeClasses classes;
  Branches branches;  ///< one per class
  /// The most global scratch of any launch of a class, since the launches of two classes may run at
  /// once. Declared before the plans, which set it.
  std::size_t scratch_bytes[kernels::SizeClasses::kCapacity] = {};
  Plans given, fused;              ///< fused: where W is formed in the scratch
  std::vector<LaunchPlan> convex;  ///< without W, one per class
  MechanismPlans mechanism_double, mechanism_float;
  GradientPlans gradients_double, gradients_float;
  Buffer lists;     ///< keys and environments, before and after sorting: ListArrays
  Buffer sorting;   ///< storage of the sort
  Buffer work;      ///< int32 [num_envs], guessed from rung 0 of the solve before
  Buffer impulses;  ///< double [num_envs][max_rows] if `float_storage`
  Buffer counters;  ///< int32 [passes][2][classes]: end, next
  Buffer scratch;   ///< global, of the classes one after the other

 private:
  Plans plan_solves(kernels::MatrixKind matrix);
  std::vector<LaunchPlan> plan_classes(const kernels::SolveKernels& kernels,
                                       kernels::MatrixKind matrix);
  template <class Scalar>
  MechanismPlans plan_mechanism();
  template <class Scalar>
  GradientPlans plan_gradients();
  void place(LaunchPlan& plan, int c);
};

}  // namespace stickslip::cuda
