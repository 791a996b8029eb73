// Convex polygons in a plane.
#pragma once

namespace stickslip::mujoco {

inline constexpr int kRoom = 128;  ///< corners of a polygon

struct Point {
  double x, y, height;
};

/// Counter-clockwise.
struct Polygon {
  int count = 0;
  Point at[kRoom];

  const Point& operator[](int i) const { return at[(i + count) % count]; }
};

/// Twice the area of a triangle; positive if it is counter-clockwise.
double cross(const Point& o, const Point& a, const Point& b);
double area_of(const Polygon& p);
/// The largest distance of a corner from the first.
double extent_of(const Polygon& p);

/// Leaves of b what lies in a too.
void intersect(const Polygon& a, Polygon& b);

/// Removes corners on the line between their neighbours: sides that coincide but for rounding meet
/// anywhere on them.
void straighten(Polygon& p);

/// Removes corners that are one with their neighbour; then, of more than `most`, those whose
/// triangle with their neighbours is the least and which are not below `floor`.
void thin_out(Polygon& p, int most, double floor = 0.0);

/// Convex hull (Andrew's monotone chain, 1979).
Polygon hull_of(Polygon points);

}  // namespace stickslip::mujoco
