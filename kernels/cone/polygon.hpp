// The section of a friction pyramid with d > 4 directions: the regular polygon with its corners in
// those directions, on a circle of given radius. With more friction rows than the two of the
// sliding plane, the set is {gauge(x, y) + sum |rest_i| <= radius}.
//
// Its projection uses a threshold, like that of the diamond (project.hpp): with tau the multiplier,
// each part is reduced by its projection on tau times the polar set. The polar of the polygon is
// the one with its sides in the same directions, at distance 1 (Moreau).
#pragma once
#include "kernels/cone/directions.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct PlanePoint {
  double x, y;
};

/// (x, y) rotated and mirrored into the octant 0 <= y <= x; the polygon has all these symmetries.
SS_HD PlanePoint fold_octant(double x, double y) {
  return {max(abs(x), abs(y)), min(abs(x), abs(y))};
}

/// The factor by which the unit polygon must be scaled so that (x, y) lies on its boundary.
SS_HD double polygon_gauge(int d, double x, double y) {
  const PlanePoint v = fold_octant(x, y);
  double longest = 0.0;
  for (int k = 0; 8 * k < d; ++k) {  // sides, given by the sum of their corners
    const Direction a = pyramid_direction(k, d), b = pyramid_direction(k + 1, d);
    longest = max(longest, fma(a.c + b.c, v.x, (a.s + b.s) * v.y));
  }
  return longest / (1.0 + pyramid_direction(1, d).c);
}

/// (x, y) minus its projection on tau times the polar polygon.
SS_HD PlanePoint polygon_shrink(int d, double tau, double x, double y) {
  const PlanePoint v = fold_octant(x, y);
  Direction normal{1.0, 0.0};
  double farthest = v.x;
  for (int k = 1; 8 * k <= d; ++k) {
    const Direction a = pyramid_direction(k, d);
    const double distance = fma(a.c, v.x, a.s * v.y);
    if (distance > farthest) {
      farthest = distance;
      normal = a;
    }
  }
  if (!(farthest > tau)) return {0.0, 0.0};
  const Direction first = pyramid_direction(1, d);
  const double corner = tau * first.s / (1.0 + first.c);  // half a side: tau tan(pi / d)
  const double along = clamp(fma(normal.c, v.y, -(normal.s * v.x)), -corner, corner);
  const double a = v.x - fma(tau, normal.c, -(along * normal.s));
  const double b = v.y - fma(tau, normal.s, along * normal.c);
  const bool swapped = abs(y) > abs(x);
  const double out_x = swapped ? b : a, out_y = swapped ? a : b;
  return {x < 0.0 ? -out_x : out_x, y < 0.0 ? -out_y : out_y};
}

/// Threshold tau >= 0 of the projection of (x, y, rest(0), ..., rest(n - 1)); by bisection, until
/// no number lies between the bounds.
template <class F>
SS_HD double polygon_threshold(int d, double radius, double x, double y, int n, F&& rest) {
  const auto total = [&](double tau) {
    const PlanePoint v = polygon_shrink(d, tau, x, y);
    double sum = tau > 0.0 ? polygon_gauge(d, v.x, v.y) : polygon_gauge(d, x, y);
    for (int i = 0; i < n; ++i) sum += max(0.0, abs(rest(i)) - tau);
    return sum;
  };
  if (total(0.0) <= radius) return 0.0;
  double below = 0.0, above = max(abs(x) + abs(y), 0.0);
  for (int i = 0; i < n; ++i) above = max(above, abs(rest(i)));
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (below + above);
    if (!(below < middle && middle < above)) break;
    (total(middle) > radius ? below : above) = middle;
  }
  return above;
}

}  // namespace stickslip::kernels::inline SS_ISA
