// Lists environments by size class: all of a batch, or those that a launch has left unsolved.
#include "kernels/launch/gpu_kernels.hpp"
#include "kernels/launch/work_list.hpp"

namespace stickslip::kernels::inline SS_ISA {

namespace {

/// A warp claims the places of its environments in each list at once. Which warp comes first is
/// chance: no result depends on the order of a list.
__global__ void __launch_bounds__(kListThreads)
    list_environments(const __grid_constant__ EnvArray<const EnvShape> shape,
                      const __grid_constant__ EnvArray<const std::int32_t> dims, int num_envs,
                      int max_rows, int max_contacts, const __grid_constant__ SizeClasses classes,
                      const EnvStatus* status, std::int32_t* envs, std::int32_t* count) {
  const int env = int(blockIdx.x * kListThreads + threadIdx.x);
  const int lane = int(threadIdx.x % 32);
  int own = -1;
  if (env < num_envs && (status == nullptr || wants_later_rungs(status[env]))) {
    own = size_class(classes, shape, dims, env, max_rows, max_contacts);
  }
  for (int c = 0; c < classes.count; ++c) {
    const unsigned members = __ballot_sync(0xffffffffU, own == c);
    if (members == 0) continue;
    int first = 0;
    if (lane == 0) first = atomicAdd(count + c, __popc(members));
    first = __shfl_sync(0xffffffffU, first, 0);
    const int before = __popc(members & ((1U << lane) - 1U));
    if (own == c) envs[std::int64_t(c) * num_envs + first + before] = env;
  }
}

}  // namespace

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

const void* list_kernel() { return reinterpret_cast<const void*>(&list_environments); }

}  // namespace stickslip::kernels
