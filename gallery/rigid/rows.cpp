#include "gallery/rigid/rows.hpp"

namespace stickslip::gallery::rigid {
namespace {

// w x (w x r) of a point that is fixed in a body.
Vector3 centripetal(const Vector3& w, const Vector3& r) { return w.cross(w.cross(r)); }

Wrench wrench(const Vector3& force, const Vector3& torque) {
  Wrench w;
  w << force, torque;
  return w;
}

}  // namespace

Anchor anchor(const Frame& body, const Vec3& point, const std::array<Trajectory, 3>& path,
              double time) {
  Vector3 o = vec(point), rate = Vector3::Zero(), acceleration = Vector3::Zero();
  for (int i = 0; i < 3; ++i) {
    if (!path[i]) continue;
    const Motion motion = path[i](time);
    o[i] += motion.value;
    rate[i] = motion.rate;
    acceleration[i] = motion.acceleration;
  }
  Anchor at;
  at.r = body.R * o;
  at.p = body.x + at.r;
  at.path_rate = body.R * rate;
  at.velocity = body.v + body.w.cross(at.r) + at.path_rate;
  at.acceleration =
      centripetal(body.w, at.r) + 2. * body.w.cross(at.path_rate) + body.R * acceleration;
  return at;
}

Row along(const Vector3& t, const Frame& a, const Anchor& at_a, const Anchor& at_b) {
  const Vector3 d = at_b.p - at_a.p, d_rate = at_b.velocity - at_a.velocity;
  const Vector3 turning = a.w.cross(t);
  Row row;
  row.C = t.dot(d);
  row.rate = t.dot(at_b.path_rate - at_a.path_rate);
  row.Ja = wrench(-t, -(at_a.r + d).cross(t));
  row.Jb = wrench(t, at_b.r.cross(t));
  row.k = t.dot(at_b.acceleration - at_a.acceleration) + 2. * turning.dot(d_rate) +
          centripetal(a.w, t).dot(d);
  return row;
}

Row perpendicular(const Vector3& t, const Vector3& s, const Frame& a, const Frame& b) {
  const Vector3 n = s.cross(t);
  const Vector3 n_rate = b.w.cross(s).cross(t) + s.cross(a.w.cross(t));
  Row row;
  row.C = t.dot(s);
  row.Ja = wrench(Vector3::Zero(), -n);
  row.Jb = wrench(Vector3::Zero(), n);
  row.k = n_rate.dot(b.w - a.w);
  return row;
}

Row distance(const Anchor& at_a, const Anchor& at_b) {
  const Vector3 d = at_b.p - at_a.p, d_rate = at_b.velocity - at_a.velocity;
  const double length = d.norm();
  const Vector3 n = d / length;
  Row row;
  row.C = length;
  row.rate = n.dot(at_b.path_rate - at_a.path_rate);
  row.Ja = wrench(-n, -at_a.r.cross(n));
  row.Jb = wrench(n, at_b.r.cross(n));
  row.k = n.dot(at_b.acceleration - at_a.acceleration) +
          (d_rate.squaredNorm() - std::pow(n.dot(d_rate), 2)) / length;
  return row;
}

Row angle(double value, const Vector3& axis, const Frame& a, const Frame& b) {
  Row row;
  row.C = value;
  row.Ja = wrench(Vector3::Zero(), -axis);
  row.Jb = wrench(Vector3::Zero(), axis);
  row.k = a.w.cross(axis).dot(b.w - a.w);
  return row;
}

}  // namespace stickslip::gallery::rigid
