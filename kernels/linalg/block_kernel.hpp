// Blocks of at most 8 columns in vector registers: the steps of the block LU on a CPU. Sizes are
// constants, so that a block stays in registers.
#pragma once
#include "kernels/group/lanes.hpp"
#include "kernels/linalg/block_pattern.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Columns of a block that a lane handles together.
template <class G>
inline constexpr int kBlockColumns = min(G::kChunk, kBlockWidth);
/// Whether a lane handles whole blocks.
template <class G>
inline constexpr bool kWholeBlocks = kBlockColumns<G> == kBlockWidth;
template <class G>
using BlockRow = Lanes<double, kBlockColumns<G>>;

/// f(Index<size>). Free bodies come first.
template <class F>
SS_HD auto with_size(int size, F&& f) {
  switch (size) {
    case 6:
      return f(Index<6>{});
    case 1:
      return f(Index<1>{});
    case 2:
      return f(Index<2>{});
    case 3:
      return f(Index<3>{});
    case 4:
      return f(Index<4>{});
    case 5:
      return f(Index<5>{});
    case 7:
      return f(Index<7>{});
    default:
      return f(Index<8>{});
  }
}

/// A pivot by which one may divide.
SS_HD bool is_pivot(double a) { return abs(a) > 1e-300 && is_finite(a); }

template <class Row>
SS_HD Row times(const Row& a, double x) {
  Row product = Row::all(0.0);
  product.add(a, x);
  return product;
}

/// D = L U in place, with the reciprocals of the pivots on the diagonal. Rows are updated as whole
/// registers; what that leaves below the diagonal is replaced by L at the end.
template <int m, class Row>
SS_HD bool factor_block(double* D) {
  Row row[m];
  double inverse[m], L[m][m];
  bool good = true;
  unroll<0, m>([&](auto k) SS_INLINE { row[k] = Row::load(D + kBlockWidth * k); });
  unroll<0, m>([&](auto k) SS_INLINE {
    const double pivot = D[(kBlockWidth + 1) * k];
    good = good && is_pivot(pivot);
    inverse[k] = 1.0 / pivot;
    unroll<k + 1, m>([&](auto i) SS_INLINE {
      L[i][k] = D[kBlockWidth * i + k] * inverse[k];
      row[i].add(row[k], -L[i][k]);
      row[i].store(D + kBlockWidth * i);
    });
  });
  unroll<0, m>([&](auto i) SS_INLINE {
    unroll<0, i>([&](auto k) SS_INLINE { D[kBlockWidth * i + k] = L[i][k]; });
    D[(kBlockWidth + 1) * i] = inverse[i];
  });
  return good;
}

/// U <- -L^-1 U and L^T <- U_D^-T L^T of the blocks right of and below D = L U_D.
template <int m, class Row>
SS_HD void divide_block(const double* D, double* upper) {
  Row u[m], l[m];
  double* lower = upper + kBlockWidth * m;
  unroll<0, m>([&](auto r) SS_INLINE {
    u[r] = Row::load(upper + kBlockWidth * r);
    l[r] = Row::load(lower + kBlockWidth * r);
    unroll<0, r>([&](auto k) SS_INLINE {
      u[r].add(u[k], D[kBlockWidth * r + k]);
      l[r].add(l[k], -D[kBlockWidth * k + r]);
    });
    u[r] = times(u[r], -1.0);
    l[r] = times(l[r], D[(kBlockWidth + 1) * r]);
  });
  unroll<0, m>([&](auto r) SS_INLINE {
    u[r].store(upper + kBlockWidth * r);
    l[r].store(lower + kBlockWidth * r);
  });
}

/// A^T B, for `size` rows of A and B.
struct BlockProduct {
  int size;
  const double *A, *B;
};

/// C += the products 0 ... count - 1, for n rows of C.
template <int n, class Row, class F>
SS_HD void add_transposed_products(int count, F&& product, double* C) {
  Row c[n];
  unroll<0, n>([&](auto r) SS_INLINE { c[r] = Row::load(C + kBlockWidth * r); });
  for (int e = 0; e < count; ++e) {
    const BlockProduct p = product(e);
    for (int k = 0; k < p.size; ++k) {
      const Row b = Row::load(p.B + kBlockWidth * k);
      unroll<0, n>([&](auto r) SS_INLINE { c[r].add(b, p.A[kBlockWidth * k + r]); });
    }
  }
  unroll<0, n>([&](auto r) SS_INLINE { c[r].store(C + kBlockWidth * r); });
}

/// sum += a * b, entry by entry
template <class Row>
SS_HD void add_entries(Row& sum, const Row& a, const Row& b) {
  for (int k = 0; k < Row::kRegisters; ++k) sum.v[k].add(a.v[k], b.v[k]);
}

/// The sum of 8 numbers, halves added to halves.
SS_HD double fold(const double* a) {
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}
template <class Row>
SS_HD double fold_row(const Row& row) {
  double entry[kBlockWidth];
  row.store(entry);
  return fold(entry);
}

}  // namespace stickslip::kernels::inline SS_ISA
