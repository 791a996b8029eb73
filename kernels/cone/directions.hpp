// The d directions of a friction pyramid, d a power of two: (cos, sin) of 2 pi k / d by half
// angles, without libm. Opposite directions are exactly opposite, and d = 4 gives exactly the axes.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Direction {
  double c, s;
};

/// (cos, sin) of 2 pi k / d for 0 <= k <= d / 8: 45 degrees, or a sum of halves of it.
SS_INNER Direction direction_in_octant(int k, int d) {
  Direction half{sqrt(0.5), sqrt(0.5)}, sum{1.0, 0.0};
  if (8 * k == d) return half;
  for (int step = d / 16; step > 0; step /= 2) {
    const double c = sqrt(fma(0.5, half.c, 0.5));
    half = {c, half.s / (2.0 * c)};
    if ((k & step) != 0) {
      sum = {fma(sum.c, half.c, -(sum.s * half.s)), fma(sum.s, half.c, sum.c * half.s)};
    }
  }
  return sum;
}

/// Direction k of d: reduced to the first octant, so that all symmetries are exact.
SS_INNER Direction pyramid_direction(int k, int d) {
  const int quarter = d / 4, quadrant = k / quarter, rest = k % quarter;
  const bool mirrored = 2 * rest > quarter;
  const Direction first = direction_in_octant(mirrored ? quarter - rest : rest, d);
  const Direction v = mirrored ? Direction{first.s, first.c} : first;
  if (quadrant == 0) return v;
  if (quadrant == 1) return {-v.s, v.c};
  return quadrant == 2 ? Direction{-v.c, -v.s} : Direction{v.s, -v.c};
}

}  // namespace stickslip::kernels::inline SS_ISA
