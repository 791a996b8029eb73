// Mechanisms as simulators store them: in float, M along the kinematic tree, rows of J in any
// order. Read where they lie, converted in the scratch of each environment.
#pragma once
#include <cstdint>

#include "stickslip/delassus.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip {

/// Batch of mechanisms in float, such as mujoco_warp's. Indices that point outside the arrays give
/// the status bad_input.
struct EngineMechanism {
  std::int32_t num_envs = 0;
  std::int32_t nv = 0;  ///< degrees of freedom, the same for all environments
  EnvArray<const float> M;
  /// Sparsity of M, the same for all environments (MuJoCo's M_rownnz, M_rowadr, M_colind); n = 0: M
  /// is dense, [nv][nv].
  TreeSparsity tree;
  std::int32_t M_size = 0;  ///< values of M in one environment, if it is sparse

  EnvArray<const float> J;
  std::int32_t J_rows = 0;  ///< rows of J in one environment
  std::int32_t ld_J = 0;    ///< dense J: elements between two rows; 0: nv
  /// Compressed J: number of values of each row, place of its first value, columns. Absent: dense.
  EnvArray<const std::int32_t> J_nnz, J_adr, J_col;
  std::int32_t J_size = 0;  ///< values of J in one environment, if it is compressed
  EnvArray<const std::int32_t>
      row_of;  ///< [rows] row of J of each row of the problem; absent: equal
};

/// The mechanism that the matrices of a batch come from, and the velocities that follow.
struct EngineStep {
  EngineMechanism mechanism;
  EnvArray<const double> v_free;  ///< [nv]; required with v_next
  EnvArray<double> v_next;        ///< [nv]; absent: not computed
};

/// As solve_mechanism for dense matrices in double, with the bits that it has for the converted
/// matrices. But environments of more than 192 rows whose M follows a `tree` begin without W, as
/// those of a SparseMechanism do, in precision float64 and where a solve may use the later rungs.
/// Throws std::invalid_argument as it does.
void solve_mechanism(const EngineStep& step, const ProblemBatch<double>& problem,
                     const ResultBatch<double>& result, const SolveOptions& options,
                     Workspace& workspace);

/// Solves every environment under the law `convex` for velocities, without W, as solve_convex does
/// for a SparseMechanism: with the bits that it has for the same numbers in double, the factor of M
/// and rows of J sorted by column (dense rows: what is not zero). `start`: [nv] velocities minus
/// v_free; absent: 0. The status is not_converged where rows have no compliance: solve_mechanism
/// solves those. It is bad_input if M does not follow the tree (TreeSparsity; rows one behind the
/// other) or is not positive definite, if a row of J has a column twice, or if an index is not in
/// range. Throws std::invalid_argument as solve_mechanism does, for another law, without a tree,
/// and if M_size exceeds nv (nv + 1) / 2.
void solve_convex(const ProblemBatch<double>& problem, const EngineMechanism& mechanism,
                  EnvArray<const double> start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace);

}  // namespace stickslip
