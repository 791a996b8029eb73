// Which part of the ladder a call climbs. The same type for every instruction set.
#pragma once
#include <cstdint>

namespace stickslip::kernels {

enum class Part : std::int32_t {
  whole,
  first,  ///< rung 0
  later   ///< the other rungs; the result is what `first` left
};

}  // namespace stickslip::kernels
