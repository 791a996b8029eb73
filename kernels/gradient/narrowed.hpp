// From the linear algebra, which is in double, to the type of the data.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A derivative in the type of the data; numbers that it cannot hold become its largest.
template <class Scalar>
SS_HD Scalar narrowed(double value) {
  return Scalar(clamp(value, -double(Limits<Scalar>::largest), double(Limits<Scalar>::largest)));
}

}  // namespace stickslip::kernels::inline SS_ISA
