// From the linear algebra, which is in double, to the type of the data.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A derivative in the type of the data; numbers that it cannot hold become its largest.
template <class In>
SS_HD In narrowed(double value) {
  return In(clamp(value, -double(Limits<In>::largest), double(Limits<In>::largest)));
}

}  // namespace stickslip::kernels::inline SS_ISA
