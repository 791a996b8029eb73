// The matrix and right side of a dense linear system, as lu.hpp solves it.
#pragma once
#include <type_traits>

#include "kernels/group/arena.hpp"
#include "kernels/linalg/matvec.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Dense n x n system. Its rows are padded with zeros to a multiple of 16 columns. Exchanges move
/// the places of rows, never the rows.
template <class Real>
struct LinearSystem {
  static constexpr int kPanel = 4, kColumns = kPanel + 2;
  /// On a GPU an offset, so that the compiler knows the kind of memory.
  using Place = std::conditional_t<kOnGpu, int, Real*>;
  Real* a;       ///< [n][ld] storage of the rows
  int ld;        ///< from one row to the next
  Place* begin;  ///< [n] where each row begins
  int* coupled;  ///< [n] whether a row has a multiplier other than 0 in this panel
  /// [kColumns][ld] columns below the pivots, then multipliers; right side; 1 / largest entry of
  /// each row. An exchange of rows exchanges their entries here.
  Real* panel;
  Real* below;  ///< [n][kPanel] on a GPU: this panel's multipliers with the other sign, row by row
  Real least_pivot = Real(1e-30);  ///< relative to its row; smaller ones count as 0
  // After `keep_factors`, for `solve_again`:
  /// [n][ld] multipliers, column by column, in the original row order. On a GPU, which has little
  /// memory, they take the place of the entries that they eliminate; elsewhere whole registers
  /// overwrite these.
  Real* lower = nullptr;
  int* origin = nullptr;  ///< [n] place of each row in the original order
  int* odd = nullptr;     ///< [1] whether the number of exchanges of rows is odd

  SS_HD LinearSystem(Arena& arena, int max_rows)
      : a(arena.take<Real>(std::size_t(max_rows) * leading(max_rows))),
        ld(leading(max_rows)),
        begin(arena.take<Place>(max_rows)),
        coupled(arena.take<int>(max_rows)),
        panel(arena.take<Real>(std::size_t(kColumns) * leading(max_rows))),
        below(arena.take<Real>(kOnGpu ? std::size_t(kPanel) * max_rows : 0)) {}
  SS_HD void keep_factors(Arena& arena, int max_rows) {
    if (keeps()) return;
    if (!kOnGpu) lower = arena.take<Real>(std::size_t(max_rows) * leading(max_rows));
    origin = arena.take<int>(max_rows);
    odd = arena.take<int>(1);
  }
  SS_HD bool keeps() const { return origin != nullptr; }
  SS_HD void forget_factors() { origin = nullptr; }
  SS_HD Real* row(int i) const {
    if constexpr (kOnGpu) {
      return a + begin[i];
    } else {
      return begin[i];
    }
  }
  /// Row i of the system is row i of the storage.
  SS_HD Real* place_row(int i) const {
    if constexpr (kOnGpu) {
      begin[i] = i * ld;
    } else {
      begin[i] = a + std::int64_t(i) * ld;
    }
    return row(i);
  }
  SS_HD Real* column(int q) const { return panel + std::int64_t(q) * ld; }
  SS_HD Real* right() const { return column(kPanel); }
  SS_HD Real* scale() const { return column(kPanel + 1); }
};

}  // namespace stickslip::kernels::inline SS_ISA
