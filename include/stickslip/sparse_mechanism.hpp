// The mechanism of one environment in sparse form, as engines in joint coordinates store it: M
// along the kinematic tree, with its factor, and J in compressed rows.
#pragma once
#include <cstdint>

#include "stickslip/solve.hpp"

namespace stickslip {

/// Sparsity of the lower triangle of a joint-space inertia matrix with n degrees of freedom: row i
/// holds its ancestors in the kinematic tree in increasing order and ends with the diagonal, so row
/// j of an ancestor j of i is the beginning of row i. MuJoCo's M_rownnz, M_rowadr, M_colind.
struct TreeSparsity {
  std::int32_t n = 0;
  const std::int32_t* row_nnz = nullptr;
  const std::int32_t* row_adr = nullptr;
  const std::int32_t* col = nullptr;
};

/// M = L^T D L with the sparsity `tree` (Featherstone 2008, §6.5; MuJoCo's qLD, qLDiagInv), and J
/// in compressed rows, columns increasing in each.
struct SparseMechanism {
  TreeSparsity tree;
  const double* M = nullptr;            ///< as stored by `tree`
  const double* L = nullptr;            ///< unit lower triangle; its diagonal is not read
  const double* D_inv = nullptr;        ///< [n] 1 / D
  std::int32_t rows = 0;                ///< of J
  const std::int32_t* J_row = nullptr;  ///< [rows + 1] start of each row
  const std::int32_t* J_col = nullptr;
  const double* J = nullptr;
};

/// Forms W = J M^-1 J^T (`W[rows][ld_W]`, row-major), as `delassus` does for dense matrices. The
/// input is not checked: values that are not finite give such values in W.
void delassus(const SparseMechanism& mechanism, double* W, std::int32_t ld_W, Workspace& workspace);

/// Solves the one environment of `problem`, whose W = J M^-1 J^T need not be given: it is formed
/// for each island alone, a part of the environment whose rows touch none of the degrees of freedom
/// of the other parts. With up to 96 rows the bits are those of `delassus` and `solve`. Throws
/// std::invalid_argument as `solve` does, and for more environments.
void solve_mechanism(const SparseMechanism& mechanism, const ProblemBatch<double>& problem,
                     const ResultBatch<double>& result, const SolveOptions& options,
                     Workspace& workspace);

/// Solves the one environment of `problem` under the law `convex` by Newton's method in velocity
/// space (docs/mathematics.md §10), in double and without W, which may be absent; b is J v_free +
/// ... as always. `start`[nv] is the initial point, a velocity minus v_free. The verdict uses the
/// same residual. If rows have no compliance, the status is not_converged, and the caller must form
/// W and call `solve`. Throws std::invalid_argument for another law, more environments, no start.
void solve_convex(const ProblemBatch<double>& problem, const SparseMechanism& mechanism,
                  const double* start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace);

}  // namespace stickslip
