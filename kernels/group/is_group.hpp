// What a body requires of a group, the lanes that work on one environment; it uses nothing else.
#pragma once
#include <concepts>

#include "kernels/group/math.hpp"

namespace stickslip::kernels {

/// A function of an item, and of a row and a column.
struct ItemFunction {
  double operator()(int i) const;
  void operator()(int i, int j) const;
};

/// A function of a row, and of what calls a function for all of its columns.
struct RowFunction {
  template <class Columns>
  void operator()(int i, Columns&& columns) const;
};

/// Each call begins and ends with a barrier. Every lane runs the code between the calls: it may
/// read shared scratch and must not write it.
///   for_each(n, f)             f(i) for i in [0, n), in any order, lanes in parallel
///   for_each_2d(rows, cols, f) f(i, j), columns contiguous
///   for_rows(rows, cols, f)    f(i, columns) for each row; columns(entry) calls entry(j) for all
///                              columns j. What f computes outside of entry, it computes once
///   teams(cols)                rows that for_each_2d takes at the same time
///   once(f)                    f() by one lane
///   compute(f)                 f(), which is the same for all lanes; it has no effect
///   sum(n, f)                  32 strided partials (i mod 32) added in halves, for any lane count;
///                              calls f once for each i, so f may write what belongs to i
///   max(n, f)                  largest f(i), at least 0; NaN is not propagated: use `any` for it;
///                              f may write as for sum
///   any(n, f)                  whether f(i) holds for some i
///   argmax(n, f)               Largest{index, value} of the f(i) >= 0, n > 0, ties to the lowest
///                              index
///   list(n, wanted, take)      take(i, place) for each i with wanted(i), place = how many of them
///                              are before i; returns how many there are
///   kChunk                     consecutive rows of one lane in a matrix-vector product
template <class G>
concept IsGroup = requires(const G& g, int n, ItemFunction f, RowFunction rows, void (*once)(),
                           int (*value)(), bool (*holds)(int)) {
  g.for_each(n, f);
  g.for_each_2d(n, n, f);
  g.for_rows(n, n, rows);
  { g.teams(n) } -> std::same_as<int>;
  g.once(once);
  { g.compute(value) } -> std::same_as<int>;
  { g.sum(n, f) } -> std::same_as<double>;
  { g.max(n, f) } -> std::same_as<double>;
  { g.any(n, holds) } -> std::same_as<bool>;
  { g.argmax(n, f) } -> std::same_as<Largest<double>>;
  { g.list(n, holds, f) } -> std::same_as<int>;
  { G::kChunk } -> std::convertible_to<int>;
};

}  // namespace stickslip::kernels
