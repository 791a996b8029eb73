// Lists the rows that a smaller system takes from a larger one.
#pragma once
#include "kernels/group/defs.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Lists the rows i < n with wanted(i), in order, and the place of each in the list. Returns their
/// number.
template <class G, class F>
SS_HD int list_rows(const G& g, int n, F&& wanted, int* list, int* place) {
  return g.list(n, wanted, [&](int i, int next) SS_INLINE {
    list[next] = i;
    place[i] = next;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
