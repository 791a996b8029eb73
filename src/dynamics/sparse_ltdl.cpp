#include "src/dynamics/sparse_ltdl.hpp"

namespace stickslip::dynamics {

bool factor_ltdl(const TreeSparsity& s, double* M, double* diag_inv) {
  for (int k = s.n - 1; k >= 0; --k) {
    const int start = s.row_adr[k], ancestors = s.row_nnz[k] - 1;
    const double pivot = M[start + ancestors];
    if (!(pivot > 0.0)) return false;
    diag_inv[k] = 1.0 / pivot;
    // Row i of an ancestor i is a beginning of row k, so the update runs along both rows.
    for (int a = ancestors - 1; a >= 0; --a) {
      const int i = s.col[start + a];
      double* row = M + s.row_adr[i];
      const double scale = M[start + a] * diag_inv[k];
      for (int c = 0; c < s.row_nnz[i]; ++c) row[c] -= scale * M[start + c];
      M[start + a] = scale;
    }
  }
  return true;
}

void solve_ltdl(const TreeSparsity& s, const double* L, const double* diag_inv, double* x) {
  for (int i = s.n - 1; i >= 0; --i)
    for (int c = s.row_adr[i], end = c + s.row_nnz[i] - 1; c < end; ++c) x[s.col[c]] -= L[c] * x[i];
  for (int i = 0; i < s.n; ++i) x[i] *= diag_inv[i];
  for (int i = 0; i < s.n; ++i)
    for (int c = s.row_adr[i], end = c + s.row_nnz[i] - 1; c < end; ++c) x[i] -= L[c] * x[s.col[c]];
}

}  // namespace stickslip::dynamics
