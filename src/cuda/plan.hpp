// How environments of a given size are launched: decided by numbers alone, without a device.
//
// Scratch of an environment, kB (environments that fit the 227 kB of an sm_90 multiprocessor):
//   rows                12         32        64        96
//   double, mixed      7.1 (31)   28.2 (8)  88.3 (2)  180.3 (1)
//   float              4.2 (54)   15.3 (14) 46.4 (4)   93.6 (2)
// Two matrices make most of it: W_hat, and the system of a Newton step. With 213 to 255 registers a
// thread, registers hold 8 warps per multiprocessor (32 narrow groups): shared memory is the
// tighter limit from 33 rows on in double.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/launch/gpu_kernels.hpp"

namespace stickslip::cuda {

/// One launch. `kernels::kBlockThreads` threads per block.
struct LaunchPlan {
  const void* kernel = nullptr;
  int lanes = 32;  ///< per environment
  int blocks = 0;
  int max_rows = 0, max_contacts = 0;
  std::size_t group_bytes = 0;   ///< scratch of an environment
  std::size_t shared_bytes = 0;  ///< per block; 0: scratch in global memory

  int groups() const { return kernels::kBlockThreads / lanes; }
  std::size_t global_bytes() const {
    return shared_bytes > 0 ? 0 : group_bytes * std::size_t(groups()) * std::size_t(blocks);
  }
};

/// The size classes of environments of up to `max_rows` rows.
inline kernels::SizeClasses size_classes(int max_rows) {
  kernels::SizeClasses classes;
  for (int limit : {kernels::SolveKernels::kNarrowRows, 32, 64, 96}) {
    if (limit < max_rows) classes.rows[classes.count++] = limit;
  }
  classes.rows[classes.count++] = max_rows;
  return classes;
}

/// Kernel and scratch of the class of up to `max_rows` rows; the number of blocks is left at 0.
inline LaunchPlan plan_class(const kernels::SolveKernels& kernels, int max_rows, int max_contacts,
                             std::size_t shared_per_block) {
  LaunchPlan plan;
  plan.max_rows = max_rows;
  plan.max_contacts = std::min(max_contacts, max_rows / 3);  // a contact has at least 3 rows
  plan.group_bytes = kernels.bytes(plan.max_rows, plan.max_contacts);
  const bool narrow = max_rows <= kernels::SolveKernels::kNarrowRows;
  plan.kernel = narrow ? kernels.narrow : kernels.wide;
  plan.lanes = narrow ? kernels::SolveKernels::kNarrowLanes : 32;
  plan.shared_bytes = plan.group_bytes * std::size_t(plan.groups());
  if (plan.shared_bytes > shared_per_block) {
    plan.kernel = kernels.wide_global;
    plan.lanes = 32;
    plan.shared_bytes = 0;
  }
  return plan;
}

}  // namespace stickslip::cuda
