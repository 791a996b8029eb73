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
SS_INNER PlanePoint fold_octant(double x, double y) {
  return {max(abs(x), abs(y)), min(abs(x), abs(y))};
}

/// The factor by which the unit polygon must be scaled so that (x, y) lies on its boundary.
SS_INNER double polygon_gauge(int d, double x, double y) {
  const PlanePoint v = fold_octant(x, y);
  double longest = 0.0;
  for (int k = 0; 8 * k < d; ++k) {  // sides, given by the sum of their corners
    const Direction a = pyramid_direction(k, d), b = pyramid_direction(k + 1, d);
    longest = max(longest, fma(a.c + b.c, v.x, (a.s + b.s) * v.y));
  }
  return longest / (1.0 + pyramid_direction(1, d).c);
}

/// Where the projection of a point on tau times the polar polygon lies: on the side with the
/// `normal`, direction `k`, at `along` from its middle; in the octant of `fold_octant`.
struct PolarFoot {
  int k;
  Direction normal;
  double farthest;  ///< distance of the point along the normal
  double corner;    ///< half a side: tau tan(pi / d)
  double along;     ///< of the point; the projection clamps it to +-corner
};

SS_INNER PolarFoot polar_foot(int d, double tau, const PlanePoint& v) {
  PolarFoot foot{0, {1.0, 0.0}, v.x, 0.0, 0.0};
  for (int k = 1; 8 * k <= d; ++k) {
    const Direction a = pyramid_direction(k, d);
    const double distance = fma(a.c, v.x, a.s * v.y);
    if (distance > foot.farthest) {
      foot.farthest = distance;
      foot.normal = a;
      foot.k = k;
    }
  }
  const Direction first = pyramid_direction(1, d);
  foot.corner = tau * first.s / (1.0 + first.c);
  foot.along = fma(foot.normal.c, v.y, -(foot.normal.s * v.x));
  return foot;
}

/// A point of the octant of `fold_octant` moved to where (x, y) lies.
SS_INNER PlanePoint unfold_octant(const PlanePoint& v, double x, double y) {
  const bool swapped = abs(y) > abs(x);
  const double out_x = swapped ? v.y : v.x, out_y = swapped ? v.x : v.y;
  return {x < 0.0 ? -out_x : out_x, y < 0.0 ? -out_y : out_y};
}

/// (x, y) minus its projection on tau times the polar polygon.
SS_INNER PlanePoint polygon_shrink(int d, double tau, double x, double y) {
  const PlanePoint v = fold_octant(x, y);
  const PolarFoot foot = polar_foot(d, tau, v);
  if (!(foot.farthest > tau)) return {0.0, 0.0};
  const double along = clamp(foot.along, -foot.corner, foot.corner);
  const Direction& normal = foot.normal;
  return unfold_octant(
      {v.x - fma(tau, normal.c, -(along * normal.s)), v.y - fma(tau, normal.s, along * normal.c)},
      x, y);
}

/// The face of the polygon on which `polygon_shrink` of a point lies.
struct PolygonFace {
  enum State : std::int32_t { none, corner, side } state;  ///< none: it is 0
  double normal[2];  ///< of the gauge: the direction of a corner, or the gauge's gradient on a side
  double slip[2];    ///< normal / |normal|^2
  double margin;     ///< distance of the point to where the face changes
};

SS_INNER PolygonFace polygon_face(int d, double tau, double x, double y) {
  const PlanePoint v = fold_octant(x, y);
  const PolarFoot foot = polar_foot(d, tau, v);
  const double inside = foot.farthest - tau, beyond = abs(foot.along) - foot.corner;
  if (inside <= 0.0) return {PolygonFace::none, {0.0, 0.0}, {0.0, 0.0}, -inside};
  PlanePoint normal{foot.normal.c, foot.normal.s};
  double square = 1.0;
  if (beyond > 0.0) {
    const int next = (foot.k + (foot.along > 0.0 ? 1 : d - 1)) % d;
    const Direction b = pyramid_direction(next, d);
    const double share = 1.0 / (1.0 + pyramid_direction(1, d).c);
    normal = {(normal.x + b.c) * share, (normal.y + b.s) * share};
    square = fma(normal.x, normal.x, normal.y * normal.y);
  }
  normal = unfold_octant(normal, x, y);
  return {beyond > 0.0 ? PolygonFace::side : PolygonFace::corner,
          {normal.x, normal.y},
          {normal.x / square, normal.y / square},
          min(inside, abs(beyond))};
}

/// Threshold tau >= 0 of the projection of (x, y, rest(0), ..., rest(n - 1)); by bisection, until
/// no number lies between the bounds.
template <class F>
SS_INNER double polygon_threshold(int d, double radius, double x, double y, int n, F&& rest) {
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
