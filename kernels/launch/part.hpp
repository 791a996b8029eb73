// The part of the ladder that a call runs. The same type for every instruction set.
#pragma once
#include <cstdint>

namespace stickslip::kernels {

enum class Part : std::int32_t {
  whole,
  first,  ///< rung 0
  later   ///< the other rungs; they start from the result of `first`
};

}  // namespace stickslip::kernels
