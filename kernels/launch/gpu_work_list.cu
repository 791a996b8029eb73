// Lists environments by size class: all of a batch, or those that a launch has left unsolved.
// Neighbours in a list do alike work, because narrow groups that share a warp wait for each other.
#include <cub/device/device_radix_sort.cuh>

#include "kernels/launch/gpu_kernels.hpp"
#include "kernels/launch/work_list.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class In>
__global__ void __launch_bounds__(kListThreads)
    keys_kernel(const __grid_constant__ ProblemBatch<In> problem,
                const __grid_constant__ SizeClasses classes, const EnvStatus* status,
                const std::int32_t* work, std::uint32_t* keys, std::int32_t* envs) {
  const int env = int(blockIdx.x * kListThreads + threadIdx.x);
  if (env >= problem.num_envs) return;
  const bool listed = status == nullptr || wants_later_rungs(status[env]);
  keys[env] = listed ? list_key(classes, problem, env, work[env]) : kUnlisted;
  envs[env] = env;
}

template <class In>
__global__ void __launch_bounds__(kListThreads)
    work_kernel(const __grid_constant__ ProblemBatch<In> problem,
                const __grid_constant__ ResultBatch<In> result, std::int32_t* work) {
  const int env = int(blockIdx.x * kListThreads + threadIdx.x);
  if (env < problem.num_envs) work[env] = work_of(problem, result, env);
}

/// A class without environments keeps the zeros that its `next` and `end` hold before.
__global__ void __launch_bounds__(kListThreads)
    ends_kernel(const std::uint32_t* keys, int num_envs, std::int32_t* end, std::int32_t* next) {
  const int i = int(blockIdx.x * kListThreads + threadIdx.x);
  if (i >= num_envs || keys[i] == kUnlisted) return;
  const int own = class_of_key(keys[i]);
  if (i == 0 || class_of_key(keys[i - 1]) != own) next[own] = i;
  if (i + 1 == num_envs || class_of_key(keys[i + 1]) != own) end[own] = i + 1;
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

template <class In>
ListKernels list_kernels() {
  return {reinterpret_cast<const void*>(&keys_kernel<In>),
          reinterpret_cast<const void*>(&ends_kernel),
          reinterpret_cast<const void*>(&work_kernel<In>)};
}
template ListKernels list_kernels<double>();
template ListKernels list_kernels<float>();

int sort_lists(void* storage, std::size_t& bytes, const ListArrays& lists, int num_envs,
               CUstream_st* stream) {
  return cub::DeviceRadixSort::SortPairs(storage, bytes, lists.keys, lists.sorted_keys, lists.envs,
                                         lists.sorted_envs, num_envs, 0, kKeyBits, stream);
}

}  // namespace stickslip::kernels
