// The CUDA kernels for host code: functions with the data that a launch needs. The kernels
// themselves are in gpu_batch.cuh, instantiated in one file per combination of types.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/launch/ladder.hpp"
#include "stickslip/batch.hpp"
#include "stickslip/gradient.hpp"
#include "stickslip/lcp.hpp"

namespace stickslip::kernels {

/// Size classes of environments, smallest first. Each has its own launch, with scratch for its
/// capacity, so that one large problem does not slow down a batch of small ones.
struct SizeClasses {
  static constexpr int kCapacity = 5;
  int count = 0;
  int rows[kCapacity] = {};  ///< largest number of rows of an environment in the class
};

/// Environments of one class, in device memory.
struct WorkList {
  const std::int32_t* envs;  ///< [*count] indices into the batch, in any order
  const std::int32_t* count;
  std::int32_t* next;  ///< ticket: groups take environments one by one, because their work differs
};

/// Scratch of the groups of a launch.
struct GroupScratch {
  int max_rows, max_contacts;
  int directions;         ///< of the law `pyramid` as an LCP; 0: no program has memory for it
  int nv;                 ///< of mechanisms, or kGivenMatrix
  std::size_t bytes;      ///< per group
  unsigned char* memory;  ///< for kernels that use global memory; the others: dynamic shared memory
};

/// Parameters of a solve kernel: (ProblemBatch<In>, ResultBatch<In>, Ladder,
/// MatrixSource<In>, GroupScratch, WorkList).
struct SolveKernels {
  static constexpr int kNarrowLanes = 8;
  static constexpr int kPairLanes = 64;    ///< one group per block
  static constexpr int kBlockLanes = 128;  ///< the same
  // All but the last may be null, in programs that few environments need.
  const void* narrow;        ///< 8 lanes per environment, shared memory
  const void* wide;          ///< 32 lanes, shared memory
  const void* pair;          ///< 64 lanes, shared memory
  const void* block;         ///< 128 lanes, shared memory
  const void* block_global;  ///< 128 lanes, global memory
  /// Scratch of a group.
  std::size_t (*bytes)(int max_rows, int max_contacts, int directions, int nv);
  int narrow_rows;  ///< most rows for narrow groups
};

/// Most rows of an environment for narrow groups, if enough of them fit.
constexpr int narrow_rows_of(Program program) { return program == Program::sweeping ? 32 : 12; }

/// Whether a program has a kernel for pairs of warps. With numbers of 4 bytes hardly any
/// environment is of the size that needs it. Lemke's method needs so few registers that three
/// blocks of four warps fit where four pairs would.
constexpr bool has_pairs(Program program, std::size_t bytes_of_number) {
  return bytes_of_number == 8 && (program == Program::first || program == Program::sweeping);
}

template <class Real, class Factor, class In, Program kProgram>
SolveKernels solve_kernels();

/// Of the law `convex` in velocities; none is narrow. Parameters: (ProblemBatch<double>,
/// EngineMechanism, EnvArray<const double> start, ResultBatch<double>, SolveOptions, GroupScratch,
/// WorkList).
SolveKernels convex_kernels();

/// Of derivatives; none is narrow. Parameters: vjp (ProblemBatch<In>, MechanismStep<In>,
/// SolutionBatch<In>, StepLoss<In>, StepGradient<In>, SolveOptions, GroupScratch, WorkList), jvp
/// (ProblemBatch<In>, SolutionBatch<In>, ChangeBatch<In>, SolutionChange<In>, SolveOptions,
/// GroupScratch, WorkList).
struct GradientKernels {
  SolveKernels vjp, jvp;
};

template <class In>
GradientKernels gradient_kernels();

/// Parameters: delassus (MechanismBatch<In>, EnvArray<In> W, int ld_W, int32* ok, GroupScratch),
/// apply (MechanismBatch<In>, EnvArray<const In> impulse, v_free, EnvArray<In> v_next, int32* ok,
/// GroupScratch). One warp per environment; the second variant of each uses global memory.
struct MechanismKernels {
  const void* delassus[2];
  const void* apply[2];
  std::size_t (*bytes)(int nv, int max_rows);
};

template <class In>
MechanismKernels mechanism_kernels();

/// Parameters: (LcpBatch<In>, LcpResult<In>, LcpOptions, GroupScratch, int32* next). A block per
/// environment.
struct LcpKernels {
  static constexpr int kLanes = 128;
  const void* shared;
  const void* global;  ///< scratch in global memory
  std::size_t (*bytes)(int max_rows, bool boxed);
};

/// Real: float, or double if the data are.
template <class Real, class In>
LcpKernels lcp_kernels();

/// Threads of a block of the list kernel, one per environment. Parameters: (EnvArray<const
/// EnvShape>, EnvArray<const int32> dims, int num_envs, max_rows, max_contacts, SizeClasses, const
/// EnvStatus* status, int32* envs [classes][num_envs], int32* count [classes]). Lists the
/// environments of each class: all, or, with `status`, the unsolved ones.
inline constexpr int kListThreads = 128;

const void* list_kernel();

/// Threads of a block of the rounding kernel, one per number. Parameters: (const double* from,
/// float* to, int count).
inline constexpr int kRoundThreads = 128;

const void* round_kernel();

}  // namespace stickslip::kernels
