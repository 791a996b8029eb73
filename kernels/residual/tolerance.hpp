// The largest residual that counts as solved, for problems of every kind.
#pragma once
#include "kernels/group/math.hpp"
#include "stickslip/types.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// atol + rtol * size, size being max|b| (max|q| for an LCP). Negative tolerances mean the default
/// of the precision.
template <class Number>
SS_HD Number tolerance_of(double atol, double rtol, Precision precision, Number size) {
  const double standard = precision == Precision::float32 ? 1e-5 : 1e-9;
  return fma(Number(rtol < 0.0 ? standard : rtol), size, Number(atol < 0.0 ? standard : atol));
}

}  // namespace stickslip::kernels::inline SS_ISA
