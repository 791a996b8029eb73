// Lists the environments of a batch by size class, those with alike work side by side.
// Neighbours in a list do alike work, because narrow groups that share a warp wait for each other.
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/gpu/gpu_kernels.hpp"
#include "kernels/gpu/work_list.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
__global__ void __launch_bounds__(kListThreads)
    keys_kernel(const __grid_constant__ ProblemBatch<Scalar> problem,
                const __grid_constant__ SizeClasses classes, const std::int32_t* work,
                std::uint32_t* keys, std::int32_t* envs) {
  const unsigned env = thread_index();
  if (env >= unsigned(problem.num_envs)) return;
  keys[env] = list_key(classes, problem, int(env), work[env]);
  envs[env] = int(env);
}

/// A class without environments keeps the zeros.
__global__ void __launch_bounds__(kListThreads)
    ends_kernel(const std::uint32_t* keys, int num_envs, const __grid_constant__ ListEnds ends) {
  const unsigned i = thread_index();
  if (i < unsigned(num_envs)) mark_ends(keys, num_envs, int(i), ends);
}

template <class Scalar>
__global__ void __launch_bounds__(kSmallThreads)
    small_kernel(const __grid_constant__ ProblemBatch<Scalar> problem,
                 const __grid_constant__ SizeClasses classes, const std::int32_t* work,
                 std::uint32_t* sorted_keys, std::int32_t* sorted_envs,
                 const __grid_constant__ ListEnds ends) {
  constexpr int kItems = kSmallBatch / kSmallThreads;
  using Sort = cub::BlockRadixSort<std::uint32_t, kSmallThreads, kItems, std::int32_t>;
  __shared__ typename Sort::TempStorage storage;
  const int thread = int(threadIdx.x), first = thread * kItems;
  if (thread < classes.count) {
    ends.end[thread] = ends.next[thread] = 0;
    ends.unsolved_end[thread] = ends.unsolved_next[thread] = 0;
  }
  std::uint32_t keys[kItems];
  std::int32_t envs[kItems];
  for (int j = 0; j < kItems; ++j) {
    const int env = envs[j] = first + j;
    keys[j] = env < problem.num_envs ? list_key(classes, problem, env, work[env])
                                     : (1U << kKeyBits) - 1U;  // last, and not kept
  }
  Sort(storage).Sort(keys, envs, 0, kKeyBits);
  for (int j = 0; j < kItems && first + j < problem.num_envs; ++j) {
    sorted_keys[first + j] = keys[j];
    sorted_envs[first + j] = envs[j];
  }
  __syncthreads();
  for (int i = thread; i < problem.num_envs; i += kSmallThreads) {
    mark_ends(sorted_keys, problem.num_envs, i, ends);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

template <class Scalar>
ListKernels<Scalar> list_kernels() {
  return {&keys_kernel<Scalar>, &ends_kernel, &small_kernel<Scalar>};
}
template ListKernels<double> list_kernels<double>();
template ListKernels<float> list_kernels<float>();

int sort_lists(void* storage, std::size_t& bytes, const ListArrays& lists, int num_envs,
               CUstream_st* stream) {
  return cub::DeviceRadixSort::SortPairs(storage, bytes, lists.keys, lists.sorted_keys, lists.envs,
                                         lists.sorted_envs, num_envs, 0, kKeyBits, stream);
}

}  // namespace stickslip::kernels
