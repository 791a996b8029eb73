// Matrix-vector products with a fixed order of summation.
#pragma once
#include "kernels/group/lanes.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// f(i) for i in [0, n), in whole chunks: on a CPU up to the next multiple of 16, where the arrays
/// are padded, so that loops have no remainder.
template <class G, class F>
SS_HD void for_chunks(const G& g, int n, F&& f) {
  constexpr int C = G::kChunk;
  g.for_each((n + C - 1) / C * C, f);
}

/// f(i, true) for i in [begin, end), in reverse order if `backwards`. If chunks are vector
/// registers, whole chunks are processed, with f(i, false) for i outside the range.
template <class G, class F>
SS_HD void for_range(const G& g, int begin, int end, bool backwards, F&& f) {
  constexpr int C = G::kChunk;
  if constexpr (C < 8) {
    g.for_each(end - begin, [&](int i) { f(backwards ? end - 1 - i : begin + i, true); });
  } else {
    const int first = begin / C * C;
    g.for_each((end + C - 1) / C * C - first,
               [&](int i) { f(first + i, first + i >= begin && first + i < end); });
  }
}

/// A sum for each row: where it begins, and where it is stored.
template <class Number, class F>
struct RowSum {
  static constexpr bool kWanted = true;
  Number* to;
  F start;
};
template <class Number, class F>
SS_HD RowSum<Number, F> sum_into(Number* to, F start) {
  return {to, start};
}
struct NoSum {
  static constexpr bool kWanted = false;
};

/// y_i = start(i) + sum_j W_ij x_j for rows [i0, i0 + C), and m_i = start(i) + sum_j |W_ij| |x_j|,
/// each if it is wanted: one fma chain per row, in column order. `step` separates the columns of W:
/// a symmetric W is read along its rows, which are columns too.
template <int C, class A, class X, class Sums, class Sizes>
SS_HD void chain_rows(int n, const A* W, std::int64_t step, int i0, const X* x, const Sums& y,
                      const Sizes& m) {
  using Row = Lanes<Wide<X>, C>;
  const auto begin = [&](const auto& sum) {
    for (int l = 0; l < C; ++l) sum.to[i0 + l] = sum.start(i0 + l);
    return Row::load(sum.to + i0);
  };
  [[maybe_unused]] Row sum, size;
  if constexpr (Sums::kWanted) sum = begin(y);
  if constexpr (Sizes::kWanted) size = begin(m);
  SS_BY_FOUR
  for (int j = 0; j < n; ++j) {
    // Open contacts: most of the columns in many problems. A GPU waits longer for the answer.
    if (!kOnGpu && all(x[j] == X(0))) continue;
    const Row column = Row::load(W + j * step + i0);
    const Wide<X> factor(x[j]);
    if constexpr (Sums::kWanted) sum.add(column, factor);
    if constexpr (Sizes::kWanted) size.add(column.magnitude(), abs(factor));
  }
  if constexpr (Sums::kWanted) sum.store(y.to + i0);
  if constexpr (Sizes::kWanted) size.store(m.to + i0);
}

/// The same for all rows, in double, for a caller's matrix W: row-major, not padded.
template <class G, class A, class X, class Sums, class Sizes = NoSum>
SS_HD void matvec_given(const G& g, int n, const A* W, int ld, bool symmetric, const X* x,
                        const Sums& y, const Sizes& m = {}) {
  constexpr int C = G::kChunk;
  if (!symmetric) {
    g.for_each(n, [&](int i) { chain_rows<1>(n, W + std::int64_t(i) * (ld - 1), 1, i, x, y, m); });
    return;
  }
  g.for_each((n + C - 1) / C, [&](int chunk) {
    int i = chunk * C;
    if (i + C <= n) {
      chain_rows<C>(n, W, ld, i, x, y, m);
      return;
    }
    if constexpr (C > 1) {  // the last rows, in smaller and smaller runs
      for (; i + 8 <= n; i += 8) chain_rows<8>(n, W, ld, i, x, y, m);
      for (; i + 4 <= n; i += 4) chain_rows<4>(n, W, ld, i, x, y, m);
      for (; i < n; ++i) chain_rows<1>(n, W, ld, i, x, y, m);
    }
  });
}

/// y_i = start_i + sum_j A[j * ld + i] x_j: column-major A, one fma chain per row in column order.
/// The group's lanes have chunks of kChunk rows, so A and y are padded to a multiple of 16 rows.
/// Entries y_i beyond n get the value of their chain, which callers keep at zero by zero padding.
template <class Real, class G>
SS_HD void matvec(const G& g, int n, const Real* A, int ld, const Real* x, const Real* start,
                  Real* y) {
  constexpr int C = G::kChunk;
  g.for_each((n + C - 1) / C, [&](int chunk) {
    const int i0 = chunk * C;
    auto sum = Lanes<Real, C>::load(start + i0);
    SS_BY_FOUR
    for (int j = 0; j < n; ++j) {
      if (!kOnGpu && all(x[j] == Real(0))) continue;
      sum.add(Lanes<Real, C>::load(A + std::int64_t(j) * ld + i0), x[j]);
    }
    sum.store(y + i0);
  });
}

/// Rows up to the next multiple of 16: whole vector registers and whole chunks. On a GPU, where a
/// chunk is one row, no more than there are.
SS_HD int padded(int n) { return kOnGpu ? n : (n + 15) / 16 * 16; }

/// From one row to the next of a matrix whose columns are read too: on a GPU an odd number, so that
/// the entries of a column lie in different banks.
SS_HD int leading(int n) { return kOnGpu ? n | 1 : padded(n); }

/// As `padded`, for arrays of numbers or of packs. A pack is whole registers by itself, so these
/// are padded to a multiple of the chunk.
template <class Real>
SS_HD int padded_rows(int n) {
  return kIsPlain<Real> ? padded(n) : (n + 3) / 4 * 4;
}

}  // namespace stickslip::kernels::inline SS_ISA
