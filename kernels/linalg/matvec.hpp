// Matrix-vector products with a fixed order of summation.
#pragma once
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// sum_j row[j] x[j] in double by one lane: 8 strided fma chains folded in halves. Eight, because a
/// single chain would wait for the latency of every fma; the order is the same on every backend.
template <class A, class X>
SS_HD double row_dot(int n, const A* row, const X* x) {
  double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int j = 0;
  for (; j + 8 <= n; j += 8) {
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l) s[l] = fma(double(row[j + l]), double(x[j + l]), s[l]);
  }
#pragma GCC unroll 8
  for (int l = 0; l < 8; ++l) {
    if (j + l < n) s[l] = fma(double(row[j + l]), double(x[j + l]), s[l]);
  }
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// y_i = start(i) + sum_j A[j * ld + i] x_j: column-major A, one fma chain per row in column order.
/// The group's lanes own chunks of kChunk rows, so A and y are padded to a multiple of 16 rows.
/// Entries y_i beyond n get the value of their chain, which callers keep at zero by zero padding.
template <class Real, class G, class F>
SS_HD void matvec(const G& g, int n, const Real* A, int ld, const Real* x, F&& start, Real* y) {
  constexpr int C = G::kChunk;
  g.for_each((n + C - 1) / C, [&](int chunk) {
    const int i0 = chunk * C;
    Real s[C];
#pragma GCC unroll 16
    for (int l = 0; l < C; ++l) s[l] = start(i0 + l);
    for (int j = 0; j < n; ++j) {
      const Real xj = x[j];
      const Real* column = A + std::int64_t(j) * ld + i0;
#pragma GCC unroll 16
      for (int l = 0; l < C; ++l) s[l] = fma(column[l], xj, s[l]);
    }
#pragma GCC unroll 16
    for (int l = 0; l < C; ++l) y[i0 + l] = s[l];
  });
}

/// Rows up to the next multiple of 16: whole vector registers and whole chunks.
SS_HD int padded(int n) { return (n + 15) / 16 * 16; }

}  // namespace stickslip::kernels::inline SS_ISA
