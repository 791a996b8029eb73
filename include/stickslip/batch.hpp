// Non-owning views of a batch of contact problems and of its results.
//
// Structure of arrays: every quantity of the batch is one buffer in which each environment owns a
// slot of fixed stride; environments may use less than their slot (ragged batches, `counts`). The
// same views describe host memory (stickslip::solve) and device memory (stickslip::cuda::solve).
#pragma once
#include <cstdint>

#include "stickslip/types.hpp"

namespace stickslip {

/// One quantity of a batch: environment e's values start at `data + e * stride`.
/// A null `data` means "absent"; a zero `stride` shares one slot among all environments.
template <class T>
struct EnvArray {
  T* data = nullptr;
  std::int64_t stride = 0;
};

/// Batch of problems u = (W + diag R) r + b (docs/mathematics.md §1): r are impulses, N s, u the
/// next velocities of the rows, m/s. Rows in this order: `n_free` bilateral (u = 0, any r),
/// `n_nonneg` unilateral (0 <= r ⟂ u >= 0), `n_box` bounded (lo <= r <= hi, as dry friction), then
/// the contacts, each with its normal first: u_n > 0 separates, r_n >= 0 pushes. `Scalar` is float
/// or double.
template <class Scalar>
struct ProblemBatch {
  std::int32_t num_envs = 0;
  /// Capacity of a slot. An environment whose rows exceed it gets the status `over_capacity`.
  std::int32_t max_rows = 0;
  std::int32_t max_contacts = 0;

  EnvArray<const RowCounts> counts;   ///< required
  EnvArray<const std::int32_t> dims;  ///< [n_contacts] of 3, 4, 6; absent: all 3
  EnvArray<const Scalar> W;           ///< [rows][ld_W], row-major Delassus matrix, 1/kg
  std::int32_t ld_W = 0;              ///< elements between two rows of W; 0: max_rows
  EnvArray<const Scalar> b;           ///< [rows], m/s
  EnvArray<const Scalar> mu;          ///< [sum(dims - 1)], one per tangential row
  EnvArray<const Scalar> R;           ///< [rows] compliance >= 0, 1/kg; absent: 0
  EnvArray<const Scalar> lo, hi;      ///< [n_box] impulse bounds, N s; required if n_box > 0
  EnvArray<const Scalar> warm_start;  ///< [rows] impulses to start from; absent: 0
  /// Not 0: the warm start is the solution that is selected among many (docs/mathematics.md §9) of
  /// a problem with nearly the same W. The solve keeps the choice: it ends where the start is a
  /// solution, and begins at the start where it nearly is. kSelectedWhereUnchanged: parts of the
  /// problem have changed, and the solve keeps the choice of the others, islands of contacts that
  /// the start solves exactly, with nothing closed in them that bears no load. Absent: 0.
  EnvArray<const std::int32_t> start_selected;
};

/// Of ProblemBatch::start_selected.
inline constexpr std::int32_t kSelectedWhereUnchanged = 2;

/// Whether an impulse is the one solution selected among many (docs/mathematics.md §9).
enum class Selected : std::int32_t {
  no = 0,
  yes = 1,
  unique = 2  ///< there is nothing to select
};

/// Output arrays of a batch. Every array except `impulse` has one value per environment.
template <class Scalar>
struct ResultBatch {
  EnvArray<Scalar> impulse;    ///< [rows], N s; rows that are not in use are set to zero
  double* residual = nullptr;  ///< m/s, docs/mathematics.md §4; infinite for bad input, overflow
  EnvStatus* status = nullptr;
  std::int32_t* iterations = nullptr;   ///< sweeps and Newton steps together
  Solver* solver = nullptr;             ///< optional: the algorithm that produced the impulse
  std::int32_t* rows_needed = nullptr;  ///< optional: rows in use (see over_capacity)
  /// Optional: the rung of the ladder (docs/mathematics.md §11) that produced the impulse; the
  /// first is 0.
  std::int32_t* rung = nullptr;
  /// Optional: [rows], the proof if the status is `infeasible`, else 0 (docs/mathematics.md §5).
  EnvArray<double> certificate = {};
  Selected* selected = nullptr;  ///< optional
};

/// The residual, and the violation of each condition separately (docs/mathematics.md §4).
struct Measures {
  double residual = 0;         ///< m/s
  double penetration = 0;      ///< m/s, max(0, -u_n) over contacts and nonneg rows
  double cone_violation = 0;   ///< N s, excess |r_t| - mu r_n, or of a bound (circular coordinates)
  double complementarity = 0;  ///< W, max |r_n u_n|
  double misalignment = 0;     ///< W, |r_t||u_t| + r_t . u_t: 0 when friction opposes sliding
};

}  // namespace stickslip
