// Launches of a solve, decided once: which kernel, how many blocks, which scratch for each class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/cuda/plan.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

/// Limits of the current device that decide how kernels are launched.
struct DeviceLimits {
  int processors;                ///< streaming multiprocessors
  std::size_t shared_per_block;  ///< most dynamic shared memory of a block, bytes
};

DeviceLimits device_limits();

/// The kernels of a combination of data and precision.
template <class In>
kernels::SolveKernels solve_kernels_of(Precision precision, kernels::Program program);

/// Launches of one program, for all combinations of types; one launch per class.
struct Plans {
  std::vector<LaunchPlan> float_data, by_precision[3];
};

struct Workspace::Impl {
  Impl(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts);

  /// Launches of a combination of types, one per class.
  template <class In>
  const std::vector<LaunchPlan>& plans(const SolveOptions& o) const {
    const Plans& plans =
        kernels::program_of(o) == kernels::Program::pivoting ? pivoting : iterative;
    return sizeof(In) == 4 ? plans.float_data : plans.by_precision[int(o.precision)];
  }
  /// Makes the global scratch at least `bytes` large (waits for the device where it grows).
  void reserve(std::size_t bytes);

  std::int32_t num_envs, max_rows, max_contacts;
  DeviceLimits limits;
  kernels::SizeClasses classes;
  kernels::SortKernels sort;
  Plans iterative, pivoting;
  Buffer class_of;  ///< int32 [num_envs]
  Buffer envs;      ///< int32 [classes][num_envs]
  Buffer counters;  ///< int32 [2][classes]: count, next
  Buffer scratch;   ///< of the launches that use global memory

 private:
  Plans plan_program(kernels::Program program);
  std::vector<LaunchPlan> plan_all(const kernels::SolveKernels& kernels);
};

}  // namespace stickslip::cuda
