// Lists the rows that a smaller system takes from a larger one.
#pragma once
#include "kernels/group/defs.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Lists the rows i < n with wanted(i), in order, and the place of each in the list. Returns their
/// number, which every lane counts; one lane writes.
template <class G, class F>
SS_HD int list_rows(const G& g, int n, F&& wanted, int* list, int* place) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += wanted(i) ? 1 : 0;
  g.once([&] {
    int next = 0;
    for (int i = 0; i < n; ++i) {
      if (!wanted(i)) continue;
      list[next] = i;
      place[i] = next++;
    }
  });
  return count;
}

}  // namespace stickslip::kernels::inline SS_ISA
