#include "src/mujoco/contacts/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stickslip::mujoco {
namespace {

constexpr double kSame = 1e-5;  // of the size: corners that are one

// The part of `polygon` to the left of the line from `from` to `to` (Sutherland & Hodgman 1974).
void cut(const Point& from, const Point& to, const Polygon& polygon, Polygon& part) {
  part.count = 0;
  for (int i = 0; i < polygon.count && part.count + 2 <= kRoom; ++i) {
    const Point &p = polygon[i], &q = polygon[i + 1];
    const double side = cross(from, to, p), next = cross(from, to, q);
    if (side >= 0.0) part.at[part.count++] = p;
    if ((side >= 0.0) == (next >= 0.0)) continue;
    const double share = side / (side - next);
    part.at[part.count++] = {p.x + share * (q.x - p.x), p.y + share * (q.y - p.y), 0.0};
  }
}

void remove(Polygon& p, int i) {
  std::copy(p.at + i + 1, p.at + p.count, p.at + i);
  --p.count;
}

}  // namespace

double cross(const Point& o, const Point& a, const Point& b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

double area_of(const Polygon& p) {
  double twice = 0.0;
  for (int i = 2; i < p.count; ++i) twice += cross(p.at[0], p.at[i - 1], p.at[i]);
  return 0.5 * twice;
}

void intersect(const Polygon& a, Polygon& b) {
  Polygon part;
  Polygon *from = &b, *to = &part;
  for (int i = 0; i < a.count && from->count > 0; ++i) {
    cut(a[i], a[i + 1], *from, *to);
    std::swap(from, to);
  }
  if (from != &b) b = part;
}

double extent_of(const Polygon& p) {
  double most = 0.0;
  for (int i = 0; i < p.count; ++i)
    most = std::max(most, std::hypot(p.at[i].x - p.at[0].x, p.at[i].y - p.at[0].y));
  return most;
}

void thin_out(Polygon& p, int most, double floor) {
  const double size = extent_of(p);
  const auto is_same = [&](const Point& a, const Point& b) {
    return std::hypot(a.x - b.x, a.y - b.y) <= kSame * size;
  };
  p.count = int(std::unique(p.at, p.at + p.count, is_same) - p.at);
  while (p.count > 1 && is_same(p.at[0], p.at[p.count - 1])) --p.count;
  while (p.count > most) {
    int least = 0;
    double area = std::numeric_limits<double>::infinity();
    for (int i = 0; i < p.count; ++i) {
      const double other = cross(p[i - 1], p[i], p[i + 1]);
      if (other < (1 - kSame) * area && p[i].height >= floor) {
        area = other;
        least = i;
      }
    }
    remove(p, least);
  }
}

void straighten(Polygon& p) {
  const double least = kSame * extent_of(p);
  for (int i = p.count - 1; i >= 0 && p.count > 3; --i) {
    const double side = std::hypot(p[i + 1].x - p[i - 1].x, p[i + 1].y - p[i - 1].y);
    if (std::abs(cross(p[i - 1], p[i], p[i + 1])) <= least * side) remove(p, i);
  }
}

Polygon hull_of(Polygon points) {
  const int n = points.count;
  if (n < 3) return points;
  std::sort(points.at, points.at + n,
            [](const Point& a, const Point& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  Polygon hull;
  for (const int step : {1, -1}) {
    const int begin = hull.count;
    for (int i = step > 0 ? 0 : n - 1; i >= 0 && i < n; i += step) {
      while (hull.count >= begin + 2 &&
             cross(hull.at[hull.count - 2], hull.at[hull.count - 1], points.at[i]) <= 0.0)
        --hull.count;
      hull.at[hull.count++] = points.at[i];
    }
    --hull.count;
  }
  return hull;
}

}  // namespace stickslip::mujoco
