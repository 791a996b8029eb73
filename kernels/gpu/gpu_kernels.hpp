// The CUDA kernels for host code: functions with the data that a launch needs. The kernels
// themselves are in gpu_batch.cuh, instantiated in one file per combination of types. A kernel is a
// pointer to its function, so its type has the parameters that a launch must give; only a launch
// may call it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/delassus/matrix_source.hpp"
#include "kernels/ladder/ladder.hpp"
#include "stickslip/batch.hpp"
#include "stickslip/gradient.hpp"
#include "stickslip/lcp.hpp"

struct CUstream_st;  // cudaStream_t is CUstream_st*: no CUDA header needed here

namespace stickslip::kernels {

#if defined(__CUDACC__)
/// Index of this thread in its launch, of one thread per item. That of the last block's last
/// threads may be more than an int holds.
__device__ __forceinline__ unsigned thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
#endif

/// Size classes of environments, smallest first. Each has its own launch, with scratch for its
/// capacity, so that one large problem does not slow down a batch of small ones.
struct SizeClasses {
  static constexpr int kCapacity = 6;
  int count = 0;
  int rows[kCapacity] = {};  ///< largest number of rows of an environment in the class
};

/// Environments of one class, in device memory: those at *next ... *end - 1 of `envs`. What a
/// launch notes of them is not wanted where the pointers are null.
struct WorkList {
  const std::int32_t* envs;  ///< indices into the batch; no result depends on their order
  const std::int32_t* end;
  std::int32_t* next;  ///< ticket: groups take environments one by one, because their work differs
  /// The list of the next pass, and its end: each environment that needs it is added.
  std::int32_t *unsolved = nullptr, *unsolved_end = nullptr;
  std::int32_t* work = nullptr;  ///< [num_envs] a guess of what the next solve will cost
};

/// Scratch of the groups of a launch.
struct GroupScratch {
  int max_rows, max_contacts;
  int directions;  ///< of the law `pyramid` as an LCP; 0: no variant has memory for it
  MatrixKind matrix;
  std::size_t bytes;      ///< per group
  unsigned char* memory;  ///< for kernels that use global memory; the others: dynamic shared memory
};

inline constexpr int kNarrowLanes = 8;   ///< of a group
inline constexpr int kPairLanes = 64;    ///< of a group that is a block
inline constexpr int kBlockLanes = 128;  ///< the same

/// Kernels that do the same with groups of different sizes. All but the last may be null, in
/// variants that few environments need.
template <class Kernel>
struct GroupKernels {
  Kernel narrow = nullptr;        ///< 8 lanes per environment, shared memory
  Kernel wide = nullptr;          ///< 32 lanes, shared memory
  Kernel pair = nullptr;          ///< 64 lanes, shared memory
  Kernel block = nullptr;         ///< 128 lanes, shared memory
  Kernel block_global = nullptr;  ///< 128 lanes, global memory
  /// Scratch of a group.
  std::size_t (*bytes)(int max_rows, int max_contacts, int directions, MatrixKind matrix) = nullptr;
  int narrow_rows = 0;  ///< most rows for narrow groups
  int narrow_envs = 0;  ///< least environments for each multiprocessor for them
  int most_warps = 1;   ///< of a block of narrow or wide groups
};

/// Most rows of an environment for narrow groups, if enough of them fit.
constexpr int narrow_rows_of(KernelVariant variant) {
  return variant == KernelVariant::sweeping ? 32 : 12;
}

/// Environments for each multiprocessor from which on narrow groups are faster: in smaller batches
/// a solve takes as long as its slowest environment, which takes longer on fewer lanes.
constexpr int narrow_envs_of(KernelVariant variant) {
  return variant == KernelVariant::rung0 ? 32 : 8;
}

/// Warps whose registers a multiprocessor holds: 8 with 255 per thread, 12 with 168. With those,
/// rung 0 would spill.
constexpr int resident_warps(KernelVariant variant, std::size_t bytes_of_number) {
  const bool sweeps_in_float = variant == KernelVariant::sweeping && bytes_of_number == 4;
  return sweeps_in_float || variant == KernelVariant::pivoting ? 12 : 8;
}

/// Most warps of a block of narrow or wide groups, which begin their environments together: all
/// that are resident, where the caches of a multiprocessor do not hold the code of a solve. Loops
/// over sweeps are short, and the few environments of later rungs are spread.
constexpr int most_warps(KernelVariant variant, std::size_t bytes_of_number) {
  const bool long_code = variant == KernelVariant::rung0 || variant == KernelVariant::pivoting;
  return long_code ? resident_warps(variant, bytes_of_number) : 1;
}

/// Whether a variant has a kernel for pairs of warps. With numbers of 4 bytes hardly any
/// environment is of the size that needs it. Lemke's method needs so few registers that three
/// blocks of four warps fit where four pairs would.
constexpr bool has_pairs(KernelVariant variant, std::size_t bytes_of_number) {
  return bytes_of_number == 8 &&
         (variant == KernelVariant::rung0 || variant == KernelVariant::sweeping);
}

template <class Scalar>
using SolveKernel = void (*)(ProblemBatch<Scalar>, ResultBatch<Scalar>, Ladder,
                             MatrixSource<Scalar>, GroupScratch, WorkList);
template <class Scalar>
using SolveKernels = GroupKernels<SolveKernel<Scalar>>;

template <class Real, class Factor, class Scalar, KernelVariant kVariant>
SolveKernels<Scalar> solve_kernels();

/// Of environments that begin without W: a pass in place of rung 0. None is small.
SolveKernels<double> sparse_kernels();

/// Of the law `convex` in velocities; none is narrow.
using ConvexKernel = void (*)(ProblemBatch<double>, EngineMechanism, EnvArray<const double> start,
                              ResultBatch<double>, SolveOptions, GroupScratch, WorkList);

GroupKernels<ConvexKernel> convex_kernels();

template <class Scalar>
using VjpKernel = void (*)(ProblemBatch<Scalar>, MechanismStep<Scalar>, SolutionBatch<Scalar>,
                           StepLoss<Scalar>, StepGradient<Scalar>, SolveOptions, GroupScratch,
                           WorkList);
template <class Scalar>
using JvpKernel = void (*)(ProblemBatch<Scalar>, SolutionBatch<Scalar>, ChangeBatch<Scalar>,
                           SolutionChange<Scalar>, SolveOptions, GroupScratch, WorkList);

/// Of derivatives; none is narrow.
template <class Scalar>
struct GradientKernels {
  GroupKernels<VjpKernel<Scalar>> vjp;
  GroupKernels<JvpKernel<Scalar>> jvp;
};

template <class Scalar>
GradientKernels<Scalar> gradient_kernels();

template <class Scalar>
using DelassusKernel = void (*)(MechanismBatch<Scalar>, EnvArray<Scalar> W, int ld_W,
                                std::int32_t* ok, GroupScratch);
template <class Scalar>
using ApplyKernel = void (*)(MechanismBatch<Scalar>, EnvArray<const Scalar> impulse,
                             EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next,
                             std::int32_t* ok, GroupScratch);

/// One warp per environment; the second variant of each uses global memory.
template <class Scalar>
struct MechanismKernels {
  DelassusKernel<Scalar> delassus[2];
  ApplyKernel<Scalar> apply[2];
  std::size_t (*bytes)(int nv, int max_rows);
};

template <class Scalar>
MechanismKernels<Scalar> mechanism_kernels();

/// Lanes of the kernels of LCPs: a block per environment.
inline constexpr int kLcpLanes = 128;

template <class Scalar>
using LcpKernel = void (*)(LcpBatch<Scalar>, LcpResult<Scalar>, LcpOptions, GroupScratch,
                           std::int32_t* next);

template <class Scalar>
struct LcpKernels {
  LcpKernel<Scalar> shared;
  LcpKernel<Scalar> global;  ///< scratch in global memory
  std::size_t (*bytes)(int max_rows, bool boxed);
};

/// Real: float, or double if the data are.
template <class Real, class Scalar>
LcpKernels<Scalar> lcp_kernels();

/// Arrays from which lists of work are made, in device memory: [num_envs].
struct ListArrays {
  std::uint32_t *keys, *sorted_keys;
  std::int32_t *envs, *sorted_envs;
};

/// Threads of a block of these kernels, one per environment.
inline constexpr int kListThreads = 128;

/// The work of an environment of which no solve has left a guess. All its bytes are equal.
inline constexpr std::int32_t kUnknownWork = -1;

/// Where each class begins and ends in the list of a pass, [classes] each. Of an empty class both
/// are 0. `ends` and `next` of the second pass begin as an empty list at the same place.
struct ListEnds {
  std::int32_t *end, *next, *unsolved_end, *unsolved_next;
};

/// Of lists of work. `work` is that of WorkList.
template <class Scalar>
struct ListKernels {
  /// Writes a key for each environment, by which they are then sorted.
  void (*keys)(ProblemBatch<Scalar>, SizeClasses, const std::int32_t* work, std::uint32_t* keys,
               std::int32_t* envs);
  /// Says where each class begins and ends, if all of that is 0 before.
  void (*ends)(const std::uint32_t* sorted_keys, int num_envs, ListEnds);
  /// Does everything in one block, for up to kSmallBatch environments.
  void (*all)(ProblemBatch<Scalar>, SizeClasses, const std::int32_t* work,
              std::uint32_t* sorted_keys, std::int32_t* sorted_envs, ListEnds);
};
inline constexpr int kSmallThreads = 1024, kSmallBatch = 4 * kSmallThreads;

template <class Scalar>
ListKernels<Scalar> list_kernels();

/// Enqueues a stable sort by the keys. Without `storage`, only sets `bytes` to what it needs, which
/// is enough for fewer environments too. Returns a cudaError_t.
int sort_lists(void* storage, std::size_t& bytes, const ListArrays& lists, int num_envs,
               CUstream_st* stream);

/// Threads of a block of these kernels, one per environment.
inline constexpr int kFrictionThreads = 128;

/// Of friction with one coefficient per contact (kernels/problem/contact_friction.hpp).
template <class Scalar>
using FrictionKernel = void (*)(ProblemBatch<Scalar>, EnvArray<const Scalar> from,
                                EnvArray<Scalar> to);
template <class Scalar>
struct FrictionKernels {
  FrictionKernel<Scalar> spread;  ///< from contacts to rows
  FrictionKernel<Scalar> sum;     ///< from rows to contacts
};

template <class Scalar>
FrictionKernels<Scalar> friction_kernels();

/// Threads of a block of the rounding kernel, one per number.
inline constexpr int kRoundThreads = 128;

using RoundKernel = void (*)(const double* from, float* to, int count);

RoundKernel round_kernel();

}  // namespace stickslip::kernels
