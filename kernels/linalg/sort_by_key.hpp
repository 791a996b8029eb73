// A counting sort.
#pragma once
#include <cstdint>

#include "kernels/group/defs.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Sorts 0 ... count - 1 by key(i) < keys, equal ones in their order: calls place(i, position).
/// Afterwards begin[k] is where the key k begins.
template <class Key, class Place>
SS_HD void sort_by_key(int count, int keys, std::int32_t* begin, Key&& key, Place&& place) {
  for (int k = 0; k <= keys; ++k) begin[k] = 0;
  for (int i = 0; i < count; ++i) ++begin[key(i) + 1];
  for (int k = 0; k < keys; ++k) begin[k + 1] += begin[k];
  for (int i = 0; i < count; ++i) place(i, begin[key(i)]++);
  for (int k = keys; k > 0; --k) begin[k] = begin[k - 1];
  begin[0] = 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
