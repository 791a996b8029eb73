// Factorisation M = LᵀDL of a joint-space inertia matrix whose sparsity follows the kinematic tree
// (Featherstone, Rigid Body Dynamics Algorithms, 2008, §6.5): no fill-in, a handful of flops per
// pair of a degree of freedom and its ancestor.
//
// Storage: the lower triangle in compressed rows; row i holds its ancestors in increasing order
// and ends with the diagonal. Row j of an ancestor j of i is the beginning of row i.
#pragma once

namespace stickslip::dynamics {

/// Sparsity of the lower triangle of an inertia matrix with n degrees of freedom.
struct TreeSparsity {
  int n;
  const int* row_nnz;
  const int* row_adr;
  const int* col;
};

/// In place M -> (D on the diagonal, unit L below it); diag_inv[n] = 1 / D. Returns false, with
/// undefined contents, where M is not positive definite.
bool factor_ltdl(const TreeSparsity& s, double* M, double* diag_inv);

/// x <- M^-1 x with the factor.
void solve_ltdl(const TreeSparsity& s, const double* L, const double* diag_inv, double* x);

}  // namespace stickslip::dynamics
