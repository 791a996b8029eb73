// From the matrices of a mechanism to a contact problem and back (docs/mathematics.md §1).
#pragma once
#include <cstdint>

#include "stickslip/batch.hpp"
#include "stickslip/solve.hpp"

namespace stickslip {

/// Batch of mechanisms: mass matrices and constraint Jacobians.
template <class Scalar>
struct MechanismBatch {
  std::int32_t num_envs = 0;
  std::int32_t nv = 0;                ///< degrees of freedom, the same for all environments
  std::int32_t max_rows = 0;          ///< row capacity of J, W, impulse
  EnvArray<const std::int32_t> rows;  ///< rows in use; absent: max_rows
  EnvArray<const Scalar> M;           ///< [nv][nv] symmetric positive definite mass matrix
  EnvArray<const Scalar> J;           ///< [rows][nv] constraint Jacobian
};

/// The mechanism that the matrices of a batch come from, and the velocities that follow.
template <class Scalar>
struct MechanismStep {
  MechanismBatch<Scalar> mechanism;  ///< `rows` absent: the problems' shapes define it
  EnvArray<const Scalar> v_free;     ///< [nv]; required with v_next
  EnvArray<Scalar> v_next;           ///< [nv]; absent: not computed
};

/// Forms W = J M^-1 J^T (`W[rows][ld_W]`, row-major) by the Cholesky factor of M. ok[e] is 0 (and
/// W is NaN) where M is not positive definite or not finite, else 1.
/// Throws std::invalid_argument for missing arrays or sizes < 0.
template <class Scalar>
void delassus(const MechanismBatch<Scalar>& mechanism, EnvArray<Scalar> W, std::int32_t ld_W,
              std::int32_t* ok, Workspace& workspace);

/// Applies impulses: v_next = v_free + M^-1 J^T r, each `[nv]`. ok as in `delassus`.
template <class Scalar>
void apply_impulse(const MechanismBatch<Scalar>& mechanism, EnvArray<const Scalar> impulse,
                   EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next, std::int32_t* ok,
                   Workspace& workspace);

/// `delassus`, `solve` and `apply_impulse` in one call, with the same bits: W never leaves the
/// scratch of its environment. `problem.W` is absent; `mechanism` has the batch's num_envs and
/// max_rows. If M is not positive definite or not finite, the status is bad_input. v_next is v_free
/// if the input is bad or over capacity, so that one such environment does not end a simulation.
/// Throws std::invalid_argument as `solve` and `delassus` do.
template <class Scalar>
void solve_mechanism(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                     const ResultBatch<Scalar>& result, const SolveOptions& options,
                     Workspace& workspace);

}  // namespace stickslip
