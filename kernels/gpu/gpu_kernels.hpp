// The CUDA kernels for host code: functions with the data that a launch needs. The kernels
// themselves are in gpu_batch.cuh, instantiated in one file per combination of types.
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

/// Size classes of environments, smallest first. Each has its own launch, with scratch for its
/// capacity, so that one large problem does not slow down a batch of small ones.
struct SizeClasses {
  static constexpr int kCapacity = 5;
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

/// Parameters of a solve kernel: (ProblemBatch<Scalar>, ResultBatch<Scalar>, Ladder,
/// MatrixSource<Scalar>, GroupScratch, WorkList). All but the last kernel may be null, in variants
/// that few environments need.
struct SolveKernels {
  static constexpr int kNarrowLanes = 8;
  static constexpr int kPairLanes = 64;    ///< one group per block
  static constexpr int kBlockLanes = 128;  ///< the same
  const void* narrow = nullptr;            ///< 8 lanes per environment, shared memory
  const void* wide = nullptr;              ///< 32 lanes, shared memory
  const void* pair = nullptr;              ///< 64 lanes, shared memory
  const void* block = nullptr;             ///< 128 lanes, shared memory
  const void* block_global = nullptr;      ///< 128 lanes, global memory
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

template <class Real, class Factor, class Scalar, KernelVariant kVariant>
SolveKernels solve_kernels();

/// Of the law `convex` in velocities; none is narrow. Parameters: (ProblemBatch<double>,
/// EngineMechanism, EnvArray<const double> start, ResultBatch<double>, SolveOptions, GroupScratch,
/// WorkList).
SolveKernels convex_kernels();

/// Of derivatives; none is narrow. Parameters: vjp (ProblemBatch<Scalar>, MechanismStep<Scalar>,
/// SolutionBatch<Scalar>, StepLoss<Scalar>, StepGradient<Scalar>, SolveOptions, GroupScratch,
/// WorkList), jvp (ProblemBatch<Scalar>, SolutionBatch<Scalar>, ChangeBatch<Scalar>,
/// SolutionChange<Scalar>, SolveOptions, GroupScratch, WorkList).
struct GradientKernels {
  SolveKernels vjp, jvp;
};

template <class Scalar>
GradientKernels gradient_kernels();

/// Parameters: delassus (MechanismBatch<Scalar>, EnvArray<Scalar> W, int ld_W, int32* ok,
/// GroupScratch), apply (MechanismBatch<Scalar>, EnvArray<const Scalar> impulse, v_free,
/// EnvArray<Scalar> v_next, int32* ok, GroupScratch). One warp per environment; the second variant
/// of each uses global memory.
struct MechanismKernels {
  const void* delassus[2];
  const void* apply[2];
  std::size_t (*bytes)(int nv, int max_rows);
};

template <class Scalar>
MechanismKernels mechanism_kernels();

/// Parameters: (LcpBatch<Scalar>, LcpResult<Scalar>, LcpOptions, GroupScratch, int32* next). A
/// block per environment.
struct LcpKernels {
  static constexpr int kLanes = 128;
  const void* shared;
  const void* global;  ///< scratch in global memory
  std::size_t (*bytes)(int max_rows, bool boxed);
};

/// Real: float, or double if the data are.
template <class Real, class Scalar>
LcpKernels lcp_kernels();

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

/// Of lists of work. `keys` writes a key for each environment, by which they are then sorted;
/// `ends` says where each class begins and ends, if all of that is 0 before. `all` does everything
/// in one block, for up to kSmallBatch environments. Parameters: keys (ProblemBatch<Scalar>,
/// SizeClasses, const int32* work, uint32* keys, int32* envs); ends (const uint32* sorted_keys,
/// int num_envs, ListEnds); all (ProblemBatch<Scalar>, SizeClasses, const int32* work, uint32*
/// sorted_keys, int32* sorted_envs, ListEnds).
struct ListKernels {
  const void *keys, *ends, *all;
};
inline constexpr int kSmallThreads = 1024, kSmallBatch = 4 * kSmallThreads;

template <class Scalar>
ListKernels list_kernels();

/// Enqueues a stable sort by the keys. Without `storage`, only sets `bytes` to what it needs, which
/// is enough for fewer environments too. Returns a cudaError_t.
int sort_lists(void* storage, std::size_t& bytes, const ListArrays& lists, int num_envs,
               CUstream_st* stream);

/// Threads of a block of the rounding kernel, one per number. Parameters: (const double* from,
/// float* to, int count).
inline constexpr int kRoundThreads = 128;

const void* round_kernel();

}  // namespace stickslip::kernels
