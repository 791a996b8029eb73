// One linear step of every method without W, in the space of velocities. An item, a scalar row or a
// contact, has the equations
//
//   P_k du_k + Q_k y_k = g_k,   du = J v,   M v = J^T y.
//
// With B = Q^-1 P in blocks of items this is
//
//   (M + sum J_k^T B_k J_k) v = J^T Q^-1 g,   y = Q^-1 g - B J v:
//
// a block-sparse system of as many rows as there are degrees of freedom, which redundant contacts
// do not make singular. `kIdentity`: P = 1. Only items that are `active` take part; the y of others
// are 0. The transposed equations,
//
//   J v + Q_k^T y_k = g_k,   M v = J^T P^T y,
//
// have S^T and the blocks transposed: S^T v = J^T B^T g, y = Q^-T (g - J v).
#pragma once
#include "kernels/velocity/scale_sparse.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A <- Q^-1 A, dim rows of `width` columns, by Gauss with exchanges of rows. Returns the sign of
/// det Q; 0 if it is singular.
template <int dim, int width>
SS_HD int solve_small(double (&Q)[dim][dim], double (&A)[dim][width]) {
  int sign = 1;
  for (int k = 0; k < dim; ++k) {
    int pivot = k;
    for (int i = k + 1; i < dim; ++i) {
      if (abs(Q[i][k]) > abs(Q[pivot][k])) pivot = i;
    }
    if (!(abs(Q[pivot][k]) > 1e-300)) return 0;
    for (int j = 0; pivot != k && j < dim; ++j) {
      const double other = Q[k][j];
      Q[k][j] = Q[pivot][j];
      Q[pivot][j] = other;
    }
    for (int j = 0; pivot != k && j < width; ++j) {
      const double other = A[k][j];
      A[k][j] = A[pivot][j];
      A[pivot][j] = other;
    }
    sign = (pivot != k) != (Q[k][k] < 0.0) ? -sign : sign;
    const double inverse = 1.0 / Q[k][k];
    for (int i = k + 1; i < dim; ++i) {
      const double factor = Q[i][k] * inverse;
      for (int j = k + 1; j < dim; ++j) Q[i][j] = fma(-factor, Q[k][j], Q[i][j]);
      for (int j = 0; j < width; ++j) A[i][j] = fma(-factor, A[k][j], A[i][j]);
    }
  }
  for (int k = dim - 1; k >= 0; --k) {
    const double inverse = 1.0 / Q[k][k];
    for (int j = 0; j < width; ++j) {
      double sum = A[k][j];
      for (int i = k + 1; i < dim; ++i) sum = fma(-Q[k][i], A[i][j], sum);
      A[k][j] = sum * inverse;
    }
  }
  return sign;
}

/// Q^-1 and B = Q^-1 P of an item. False if Q is singular.
template <bool kIdentity, int dim>
SS_HD bool invert_item(const ItemSteps& w, int item) {
  constexpr int width = kIdentity ? dim : 2 * dim;
  const double *P = w.P + ItemSteps::kBlock * item, *given = w.Q + ItemSteps::kBlock * item;
  double *inverse = w.inverse + ItemSteps::kBlock * item, *B = w.B + ItemSteps::kBlock * item;
  double Q[dim][dim], A[dim][width];  // [1 | P]
  for (int i = 0; i < dim; ++i) {
    for (int j = 0; j < dim; ++j) {
      Q[i][j] = given[dim * i + j];
      A[i][j] = i == j ? 1.0 : 0.0;
      if constexpr (!kIdentity) A[i][dim + j] = P[dim * i + j];
    }
  }
  w.sign[item] = solve_small<dim, width>(Q, A);
  if (w.sign[item] == 0) return false;
  for (int i = 0; i < dim; ++i) {
    for (int j = 0; j < dim; ++j) {
      inverse[dim * i + j] = A[i][j];
      B[dim * i + j] = A[i][kIdentity ? j : dim + j];
    }
  }
  return true;
}

/// S from the P and Q of the active items, factorised. False if it or some Q is singular.
template <bool kIdentity, class G, class Active>
SS_PART bool factor_items(const G& g, const SparseScaled& s, Active&& active) {
  const bool singular = g.any(s.items(), [&](int item) {
    bool good = true;
    if (!active(item)) return false;
    with_item_dim(s.lu.pattern, item,
                  [&](auto dim) SS_INLINE { good = invert_item<kIdentity, dim>(s.steps, item); });
    return !good;
  });
  if (singular) return false;
  copy_mass(g, s.m, s.lu);
  add_items(g, s.lu, active, [&](int item) { return s.steps.B + ItemSteps::kBlock * item; });
  return factor_blocks(g, s.lu);
}

/// The sign of det(J M^-1 J^T + Q) after factor_items<true> of all items: that of det S and all
/// det Q.
template <class G>
SS_HD int determinant_sign(const G& g, const SparseScaled& s) {
  const int odd = g.sum(s.items(), [&](int item) { return s.steps.sign[item] < 0 ? 1 : 0; });
  return odd % 2 == 0 ? determinant_sign(g, s.lu) : -determinant_sign(g, s.lu);
}

/// to += factor times the block of an item, or its transpose, times x.
template <int dim, bool kTransposed = false>
SS_HD void add_block(const double* blocks, int item, double factor, const double* x, double* to) {
  const double* block = blocks + ItemSteps::kBlock * item;
  for (int i = 0; i < dim; ++i) {
    double sum = to[i];
    for (int j = 0; j < dim; ++j) {
      sum = fma(factor * block[kTransposed ? dim * j + i : dim * i + j], x[j], sum);
    }
    to[i] = sum;
  }
}

/// y += factor times the blocks of the active items, or their transposes, times x.
template <bool kTransposed, class G, class Active>
SS_HD void add_blocks(const G& g, const SparseScaled& s, Active&& active, const double* blocks,
                      double factor, const double* x, double* y) {
  g.for_each(s.items(), [&](int item) {
    const int a = first_row(s, item);
    if (!active(item)) return;
    with_item_dim(s.lu.pattern, item, [&](auto dim) SS_INLINE {
      add_block<dim, kTransposed>(blocks, item, factor, x + a, y + a);
    });
  });
}

/// y = Q^-1 g - B J v with v from S; transposed: y = Q^-T (g - J v) with v from S^T.
template <bool kTransposed = false, class G, class Active>
SS_PART void solve_once(const G& g, const SparseScaled& s, Active&& active, const double* right,
                        double* y) {
  const ItemSteps& w = s.steps;
  g.for_each(s.n, [&](int i) { y[i] = 0.0; });
  add_blocks<kTransposed>(g, s, active, kTransposed ? w.B : w.inverse, 1.0, right, y);
  multiply_items_transposed(g, s.lu, [&](int i) { return y[i]; });
  if constexpr (kTransposed) {
    solve_transposed(g, s.lu);
    multiply_items(g, s.lu, [&](int i, double sum) {
      w.left[i] = right[i] - sum;
      y[i] = 0.0;
    });
    add_blocks<true>(g, s, active, w.inverse, 1.0, w.left, y);
  } else {
    solve_blocks(g, s.lu);
    multiply_items(g, s.lu, [&](int i, double sum) { w.left[i] = sum; });
    add_blocks<false>(g, s, active, w.B, -1.0, w.left, y);
  }
}

/// What y leaves of the equations: left = right - P J M^-1 J^T y - Q y. Returns the largest entry.
template <bool kIdentity, class G, class Active>
SS_HD double leave_over(const G& g, const SparseScaled& s, Active&& active, const double* right,
                        const double* y, double* left) {
  const ItemSteps& w = s.steps;
  multiply_mobility(g, s, y, [&](int i, double sum) { w.correction[i] = sum; });
  return g.max(s.items(), [&](int item) {
    double most = 0.0;
    if (!active(item)) return most;
    with_item_dim(s.lu.pattern, item, [&](auto dim) SS_INLINE {
      const int a = first_row(s, item);
      double x[dim];
      for (int i = 0; i < dim; ++i) {
        x[i] = right[a + i] - (kIdentity ? w.correction[a + i] : 0.0);
      }
      if constexpr (!kIdentity) add_block<dim>(w.P, item, -1.0, w.correction + a, x);
      add_block<dim>(w.Q, item, -1.0, y + a, x);
      for (int i = 0; i < dim; ++i) {
        left[a + i] = x[i];
        most = max(most, abs(x[i]));
      }
    });
    return is_finite(most) ? most : Limits<double>::infinity;
  });
}

/// The same for the transposed equations: left = right - J M^-1 J^T P^T y - Q^T y.
template <class G, class Active>
SS_HD double leave_over_transposed(const G& g, const SparseScaled& s, Active&& active,
                                   const double* right, const double* y, double* left) {
  const ItemSteps& w = s.steps;
  g.for_each(s.n, [&](int i) { w.left[i] = 0.0; });
  add_blocks<true>(g, s, active, w.P, 1.0, y, w.left);
  multiply_mobility(g, s, w.left, [&](int i, double sum) { left[i] = right[i] - sum; });
  add_blocks<true>(g, s, active, w.Q, -1.0, y, left);
  return g.max(s.items(), [&](int item) {
    double most = 0.0;
    for (int i = first_row(s, item); active(item) && i < end_row(s, item); ++i) {
      most = max(most, is_finite(left[i]) ? abs(left[i]) : Limits<double>::infinity);
    }
    return most;
  });
}

/// y of the equations with the right sides `right`, with the factors of factor_items, refined until
/// the largest error is at most `accurate` times the largest right side, at most twice. Each
/// refinement multiplies the error by about the same factor. Returns the error, relative, the last
/// time it was measured; infinite if y is not finite.
template <bool kIdentity, bool kTransposed = false, class G, class Active>
SS_PART double solve_items(const G& g, const SparseScaled& s, Active&& active, const double* right,
                           double accurate, double* y) {
  constexpr int kRefinements = 2;
  const ItemSteps& w = s.steps;
  const double size = g.max(s.items(), [&](int item) {
    double most = 0.0;
    if (!active(item)) return most;
    for (int i = first_row(s, item); i < end_row(s, item); ++i) most = max(most, abs(right[i]));
    return most;
  });
  solve_once<kTransposed>(g, s, active, right, y);
  double error = 0.0;
  for (int k = 0; k < kRefinements; ++k) {
    double most = 0.0;
    if constexpr (kTransposed) {
      most = leave_over_transposed(g, s, active, right, y, w.rest);
    } else {
      most = leave_over<kIdentity>(g, s, active, right, y, w.rest);
    }
    error = size > 0.0 ? most / size : most;
    if (!(error > accurate) || !is_finite(error)) break;
    solve_once<kTransposed>(g, s, active, w.rest, w.correction);
    g.for_each(s.n, [&](int i) { y[i] += w.correction[i]; });
    if (error * error <= accurate) break;
  }
  return error;
}

}  // namespace stickslip::kernels::inline SS_ISA
