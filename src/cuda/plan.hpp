// How environments of a given size are launched; computed from numbers only, without a device.
//
// Scratch of an environment, kB (environments that fit the 226 kB of a block on sm_90):
//   rows                             12         24         32         48         64         96
//   double, rung 0                  6.6 (34)  17.3 (13)  27.0 (8)   52.5 (4)   86.2 (2)  178.2 (1)
//   double, mixed: later rungs      6.7 (33)  17.4 (12)  27.1 (8)   52.6 (4)   86.3 (2)  282 (0)
//   mixed, rung 0                   5.6 (40)  15.3 (14)  24.4 (9)   48.7 (4)   81.1 (2)  170.6 (1)
//   float, rung 0                   4.0 (56)   9.8 (23)  14.9 (15)  28.2 (8)   45.7 (4)   92.8 (2)
//   sweeps alone, double            4.1 (54)  10.2 (22)  15.4 (14)  29.1 (7)   46.9 (4)   94.7 (2)
//   Lemke, double                   6.3 (35)  16.2 (13)  22.7 (9)   48.1 (4)   76.5 (2)  161.2 (1)
// Most of it is two matrices: W_hat, and the system of a Newton step. With 214 to 255 registers per
// thread (ptxas), the registers hold 8 warps per multiprocessor (32 narrow groups), with 168 they
// hold 12: Lemke's method, and sweeps in float. Above 32 rows, shared memory would leave most
// registers unused: where four environments fit, two warps take each (where there is such a
// kernel), where fewer fit, four. Each warp more repeats what all lanes of a group do. A sweep
// consists mostly of the blocks' own small problems, which all lanes of a group repeat: narrow
// groups waste less there, for more rows.
//
// Measured with groups of every size on an H200, these choices are the fastest: the table in
// docs/performance.md, "On a GPU".
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/delassus/matrix_source.hpp"
#include "kernels/gpu/gpu_kernels.hpp"
#include "kernels/ladder/mechanism_scratch.hpp"

namespace stickslip::cuda {

/// The passes of a solve, in order; each is one launch per size class. The second takes only the
/// environments that the first leaves unsolved, as counted on the device.
struct Passes {
  int count;
  kernels::KernelVariant variants[2];
};

/// `directions`: those for which the workspace has memory for the LCP; 0: none.
inline Passes passes_of(const kernels::Ladder& ladder, int directions) {
  using kernels::KernelVariant;
  const KernelVariant first = ladder.variant;
  if (first == KernelVariant::pivoting) {
    // The half-size tableau exists only for four directions.
    if (ladder.options.directions != 4) return {1, {KernelVariant::general}};
    return {directions > 0 ? 2 : 1, {first, KernelVariant::general}};
  }
  return {ladder.has_later_rungs ? 2 : 1, {first, KernelVariant::later}};
}

/// Groups and scratch of one launch.
struct LaunchShape {
  int lanes = 32;  ///< per environment
  int warps = 1;   ///< of a block of groups that are no larger than a warp
  int blocks = 0;
  int max_rows = 0, max_contacts = 0, directions = 0;
  kernels::MatrixKind matrix = {};
  int size_class = 0;
  std::size_t group_bytes = 0;   ///< scratch of an environment
  std::size_t shared_bytes = 0;  ///< per block; 0: scratch in global memory

  int threads() const { return std::max(lanes, 32 * warps); }  ///< per block
  int groups() const { return threads() / lanes; }             ///< per block
  std::size_t global_bytes() const {
    return shared_bytes > 0 ? 0 : group_bytes * std::size_t(groups()) * std::size_t(blocks);
  }
};

template <class Kernel>
struct LaunchPlan : LaunchShape {
  Kernel kernel = nullptr;
};

/// Bytes of a group's scratch, at least `bytes`, with which neighbouring groups of a warp read the
/// same entry from the other half of the banks.
inline std::size_t in_other_banks(std::size_t bytes) {
  constexpr std::size_t kAll = 128, kHalf = kAll / 2;  // one word of each bank
  return (bytes + kHalf - 1) / kAll * kAll + kHalf;
}

/// The size classes of environments of up to `max_rows` rows.
inline kernels::SizeClasses size_classes(int max_rows) {
  kernels::SizeClasses classes;
  for (int limit : {12, 32, 64, 96, kernels::kEngineRows}) {
    if (limit < max_rows) classes.rows[classes.count++] = limit;
  }
  classes.rows[classes.count++] = max_rows;
  return classes;
}

/// Limits of a device that decide how kernels are launched.
struct DeviceLimits {
  int processors;                ///< streaming multiprocessors
  std::size_t shared_per_block;  ///< most dynamic shared memory of a block, bytes
  std::size_t scratch;           ///< most global scratch of a launch, bytes
};

/// Blocks of a launch: as many as the device holds at once, `resident` per multiprocessor, as the
/// environments need, and as its memory has scratch for; at least one.
inline int blocks_of(const LaunchShape& plan, int resident, int num_envs,
                     const DeviceLimits& device) {
  const int enough = (num_envs + plan.groups() - 1) / plan.groups();
  int blocks = std::max(1, std::min(resident * device.processors, enough));
  if (plan.shared_bytes == 0 && plan.group_bytes > 0) {
    const std::size_t room = device.scratch / (plan.group_bytes * std::size_t(plan.groups()));
    blocks = int(std::clamp(room, std::size_t(1), std::size_t(blocks)));
  }
  return blocks;
}

/// Most rows of environments that begin together: larger ones spend their time in loops that the
/// caches hold.
inline constexpr int kTogetherRows = 32;

/// Warps of a block of groups that are no larger than a warp; these begin their environments
/// together. As many as give each multiprocessor a block, up to `most`, if they fit.
inline int warps_of(const LaunchShape& plan, int most, int num_envs, const DeviceLimits& device) {
  if (plan.lanes > 32 || plan.max_rows > kTogetherRows) return 1;
  const int groups = 32 / plan.lanes;  // of a warp
  const int needed = (num_envs - 1) / (groups * device.processors) + 1;
  const std::size_t bytes = plan.group_bytes * std::size_t(groups);
  const int room = int(std::min(device.shared_per_block / bytes, std::size_t(most)));
  return std::max(1, std::min(needed, room));
}

/// Kernel and scratch of the class of up to `max_rows` rows, in batches of up to `num_envs`
/// environments; `directions` as in WorkspaceConfig. The number of blocks stays 0.
template <class Kernel>
LaunchPlan<Kernel> plan_class(const kernels::GroupKernels<Kernel>& kernels, int max_rows,
                              int max_contacts, int directions, kernels::MatrixKind matrix,
                              int num_envs, const DeviceLimits& device) {
  constexpr std::size_t kFewGroups = 4;  // their warps occupy half of the registers
  constexpr std::size_t kManyGroups = 16;
  LaunchPlan<Kernel> plan;
  plan.max_rows = max_rows;
  plan.max_contacts = std::min(max_contacts, max_rows / 3);  // a contact has at least 3 rows
  plan.directions = directions;
  plan.matrix = matrix;
  plan.group_bytes = kernels.bytes(plan.max_rows, plan.max_contacts, directions, matrix);
  const auto fit = [&](std::size_t groups) {
    return plan.group_bytes * groups <= device.shared_per_block;
  };
  const auto choose = [&](Kernel kernel, int lanes) {
    plan.kernel = kernel;
    plan.lanes = lanes;
  };
  const bool many = num_envs >= kernels.narrow_envs * device.processors;
  if (many && kernels.narrow != nullptr && max_rows <= kernels.narrow_rows && fit(kManyGroups)) {
    choose(kernels.narrow, kernels::kNarrowLanes);
    plan.group_bytes = in_other_banks(plan.group_bytes);
  } else if (kernels.wide != nullptr && fit(kFewGroups + 1)) {
    choose(kernels.wide, 32);
  } else if (kernels.pair != nullptr && fit(kFewGroups)) {
    choose(kernels.pair, kernels::kPairLanes);
  } else if (kernels.block != nullptr && fit(1)) {
    choose(kernels.block, kernels::kBlockLanes);
  } else {
    choose(kernels.block_global, kernels::kBlockLanes);
    return plan;
  }
  plan.warps = warps_of(plan, kernels.most_warps, num_envs, device);
  plan.shared_bytes = plan.group_bytes * std::size_t(plan.groups());
  return plan;
}

}  // namespace stickslip::cuda
