// The CUDA kernels: each group takes environments of one size class until none is left.
#pragma once
#include "kernels/delassus/delassus.hpp"
#include "kernels/env/solve_env.hpp"
#include "kernels/gpu/gpu_kernels.hpp"
#include "kernels/gpu/work_list.hpp"
#include "kernels/group/block_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Most threads of a block: one group that is larger than a warp, else `warps` of groups.
template <class Group>
constexpr int most_threads(int warps = 1) {
  return Group::kLanes > 32 ? Group::kLanes : 32 * warps;
}

/// Scratch of this thread's group. A template parameter selects the memory, so that the compiler
/// knows the address space: shared addresses take half the registers. Volatile code reads the
/// indices, so that the compiler does not keep every address of the scratch in registers from one
/// environment to the next.
template <class Group, bool kShared>
__device__ __forceinline__ unsigned char* group_memory(const GroupScratch& scratch) {
  unsigned thread = 0, threads = 0, block = 0;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  unsigned char* memory = nullptr;
  if constexpr (kShared) {
    extern __shared__ __align__(64) unsigned char shared[];
    memory = shared + thread / Group::kLanes * scratch.bytes;
  } else {
    asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(threads));
    memory = scratch.memory + (block * threads + thread) / Group::kLanes * scratch.bytes;
  }
  return memory;
}

/// solve(env) for the environments of the list that this group takes. The groups of a block take
/// neighbours and begin together: in a sorted list these do alike work, and what the groups of a
/// warp do alike, the warp does at once. The warps of a block fetch alike code once, and while all
/// of them are in its long loops, the caches of a multiprocessor hold what they run (on a GPU,
/// fetching the instructions of a large body takes longer than executing them:
/// docs/performance.md).
template <class Group, class F>
__device__ __forceinline__ void take_envs(const Group& g, const WorkList& work, F&& solve) {
  constexpr bool kAlone = Group::kLanes > 32;  // a block is one group
  for (;;) {
    int first = 0;
    if (threadIdx.x == 0)
      first = atomicAdd(work.next, kAlone ? 1 : int(blockDim.x) / Group::kLanes);
    if constexpr (kAlone) {
      first = g.share(first);
    } else {
      __shared__ int shared_first;
      if (threadIdx.x == 0) shared_first = first;
      __syncthreads();
      first = shared_first;
    }
    if (first >= *work.end) return;
    const int ticket = first + int(threadIdx.x) / Group::kLanes;
    if (ticket < *work.end) solve(work.envs[ticket]);
    if constexpr (!kAlone) {
      __syncwarp();  // groups of a warp may end apart
      __syncthreads();
    }
  }
}

/// As note_result, with the device's counters.
template <class Group, class Scalar>
__device__ __forceinline__ void note(const Group& g, const WorkList& work,
                                     const ProblemBatch<Scalar>& batch,
                                     const ResultBatch<Scalar>& result, int env) {
  note_result(g, work, batch, result, env, [](std::int32_t* end) { return atomicAdd(end, 1); });
}

/// Warps of a block, and how many blocks the registers of a multiprocessor must hold.
template <class Real, KernelVariant kVariant>
constexpr int kWarps = most_warps(kVariant, sizeof(Real));
template <class Real, KernelVariant kVariant, class Group>
constexpr int kBlocks = Group::kLanes > 32
                            ? 1
                            : resident_warps(kVariant, sizeof(Real)) / kWarps<Real, kVariant>;

template <class Real, class Factor, class Scalar, KernelVariant kVariant, class Group, bool kShared>
__global__ void __launch_bounds__((most_threads<Group>(kWarps<Real, kVariant>)),
                                  (kBlocks<Real, kVariant, Group>))
    solve_kernel(const __grid_constant__ ProblemBatch<Scalar> batch,
                 const __grid_constant__ ResultBatch<Scalar> result,
                 const __grid_constant__ Ladder ladder,
                 const __grid_constant__ MatrixSource<Scalar> source,
                 const __grid_constant__ GroupScratch scratch,
                 const __grid_constant__ WorkList work) {
  const Group g;
  take_envs(g, work, [&](int env) SS_INLINE {
    const EnvScratch<Real, Factor, Scalar, kVariant> place(
        Arena(group_memory<Group, kShared>(scratch)), scratch.max_rows, scratch.max_contacts,
        scratch.directions, scratch.matrix);
    solve_env<Real, Factor>(g, batch, result, ladder, env, place, rungs_of(kVariant), source);
    note(g, work, batch, result, env);
  });
}

template <class Scalar, bool kShared>
__global__ void __launch_bounds__(32, 1)
    delassus_kernel(const __grid_constant__ MechanismBatch<Scalar> batch,
                    const __grid_constant__ EnvArray<Scalar> W, int ld_W, std::int32_t* ok,
                    const __grid_constant__ GroupScratch scratch) {
  const DelassusScratch<Scalar> place(Arena(group_memory<WarpGroup<32>, kShared>(scratch)),
                                      batch.nv, scratch.max_rows);
  for (int env = int(blockIdx.x); env < batch.num_envs; env += int(gridDim.x)) {
    form_delassus(WarpGroup<32>{}, batch, W, ld_W, ok, env, place);
  }
}

template <class Scalar, bool kShared>
__global__ void __launch_bounds__(32, 1)
    apply_kernel(const __grid_constant__ MechanismBatch<Scalar> batch,
                 const __grid_constant__ EnvArray<const Scalar> impulse,
                 const __grid_constant__ EnvArray<const Scalar> v_free,
                 const __grid_constant__ EnvArray<Scalar> v_next, std::int32_t* ok,
                 const __grid_constant__ GroupScratch scratch) {
  const DelassusScratch<Scalar> place(Arena(group_memory<WarpGroup<32>, kShared>(scratch)),
                                      batch.nv, scratch.max_rows);
  for (int env = int(blockIdx.x); env < batch.num_envs; env += int(gridDim.x)) {
    apply_env_impulse(WarpGroup<32>{}, batch, impulse, v_free, v_next, ok, env, place);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

/// Definition for the files that instantiate the kernels.
template <class Real, class Factor, class Scalar, KernelVariant kVariant>
SolveKernels<Scalar> solve_kernels() {
  using Scratch = EnvScratch<Real, Factor, Scalar, kVariant>;
  using Narrow = WarpGroup<kNarrowLanes>;
  using Wide = WarpGroup<32>;
  using Pair = BlockGroup<kPairLanes>;
  using Block = BlockGroup<kBlockLanes>;
  SolveKernels<Scalar> k;
  if constexpr (kVariant != KernelVariant::later && kVariant != KernelVariant::general) {
    k.narrow = &solve_kernel<Real, Factor, Scalar, kVariant, Narrow, true>;
  }
  if constexpr (kVariant != KernelVariant::general) {
    k.wide = &solve_kernel<Real, Factor, Scalar, kVariant, Wide, true>;
    k.block = &solve_kernel<Real, Factor, Scalar, kVariant, Block, true>;
  }
  if constexpr (has_pairs(kVariant, sizeof(Real))) {
    k.pair = &solve_kernel<Real, Factor, Scalar, kVariant, Pair, true>;
  }
  k.block_global = &solve_kernel<Real, Factor, Scalar, kVariant, Block, false>;
  k.bytes = &Scratch::bytes;
  k.narrow_rows = narrow_rows_of(kVariant);
  k.narrow_envs = narrow_envs_of(kVariant);
  k.most_warps = most_warps(kVariant, sizeof(Real));
  return k;
}

}  // namespace stickslip::kernels
