// Sorts environments into size classes, in the order of their indices: the same lists every time.
#include <cub/block/block_scan.cuh>

#include "kernels/launch/gpu_kernels.hpp"
#include "kernels/law/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

namespace {

/// Environments without a valid shape go to the first class: they are answered without scratch.
__global__ void __launch_bounds__(SortKernels::kClassifyThreads)
    classify_kernel(const __grid_constant__ EnvArray<const EnvShape> shape,
                    const __grid_constant__ EnvArray<const std::int32_t> dims, int num_envs,
                    int max_rows, int max_contacts, const __grid_constant__ SizeClasses classes,
                    std::int32_t* class_of) {
  const int env = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (env >= num_envs) return;
  const EnvShape s = *slot(shape, env);
  int place = 0;
  const bool counts_are_valid = min(min(s.n_free, s.n_nonneg), min(s.n_box, s.n_contacts)) >= 0;
  if (counts_are_valid && s.n_contacts <= max_contacts) {
    const int rows = rows_of(s, slot(dims, env), max_contacts);
    if (rows <= max_rows) {
      while (place + 1 < classes.count && rows > classes.rows[place]) ++place;
    }
  }
  class_of[env] = place;
}

__global__ void __launch_bounds__(SortKernels::kCollectThreads)
    collect_kernel(const std::int32_t* class_of, int num_envs, std::int32_t* envs,
                   std::int32_t* count, std::int32_t* next) {
  using Scan = cub::BlockScan<int, SortKernels::kCollectThreads>;
  __shared__ typename Scan::TempStorage storage;
  const int own = int(blockIdx.x);
  std::int32_t* list = envs + std::int64_t(own) * num_envs;
  int listed = 0;
  for (int begin = 0; begin < num_envs; begin += SortKernels::kCollectThreads) {
    const int env = begin + int(threadIdx.x);
    const int found = env < num_envs && class_of[env] == own ? 1 : 0;
    int place = 0, total = 0;
    Scan(storage).ExclusiveSum(found, place, total);
    if (found != 0) list[listed + place] = env;
    listed += total;
    __syncthreads();  // storage is used again
  }
  if (threadIdx.x == 0) {
    count[own] = listed;
    next[own] = 0;
  }
}

}  // namespace

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

SortKernels sort_kernels() {
  return {reinterpret_cast<const void*>(&classify_kernel),
          reinterpret_cast<const void*>(&collect_kernel)};
}

}  // namespace stickslip::kernels
