// From the pose of a system to the rows of its problem.
#include <cmath>

#include "gallery/rigid/environment.hpp"

namespace stickslip::gallery::rigid {
namespace {

// Rows of a contact: normal and, with friction, two tangents at the same point.
void append_contact(const Contact& contact, const std::vector<Body>& bodies, int first,
                    Constraints& to) {
  const Frame a = frame_of(bodies, contact.a), b = frame_of(bodies, contact.b);
  const Gap gap = contact.gap(pose_of(bodies, contact.a), pose_of(bodies, contact.b));
  const Vector3 p = vec(gap.point), n = vec(gap.normal), t = n.unitOrthogonal();
  Matrix3 frame;
  frame << n.transpose(), t.transpose(), n.cross(t).transpose();
  for (int i = 0; i < (contact.mu > 0. ? 3 : 1); ++i) {
    const Vector3 direction = frame.row(i).transpose();
    Row& row = to.rows[first + i];
    row.C = i == 0 ? gap.distance : 0.;
    if (!(std::abs(n.squaredNorm() - 1.) < 1e-9)) row.C = std::nan("");  // the solver reports it
    row.Ja << -direction, -(p - a.x).cross(direction);
    row.Jb << direction, (p - b.x).cross(direction);
    to.bodies[first + i] = {contact.a, contact.b};
  }
  to.frames.push_back(frame);
}

Row negative(Row row) {
  row.C = -row.C;
  row.rate = -row.rate;
  row.k = -row.k;
  row.Ja = -row.Ja;
  row.Jb = -row.Jb;
  return row;
}

void append_coordinate(const Joint& joint, const Layout& layout, std::size_t index, const Row& row,
                       Constraints& to) {
  const auto put = [&](int at, const Row& what, double constant) {
    if (at < 0) return;
    to.rows[at] = what;
    to.rows[at].C += constant;
    to.bodies[at] = {joint.a, joint.b};
  };
  put(layout.lower[index], row, -joint.lower);
  put(layout.upper[index], negative(row), joint.upper);
  put(layout.friction[index], row, -row.C);
}

}  // namespace

Layout::Layout(const System& system) {
  const auto take = [](int& next, bool wanted, int many) {
    const int first = next;
    if (wanted) next += many;
    return wanted ? first : -1;
  };
  for (const Joint& j : system.joints) joint.push_back(take(rows, true, bilateral_rows(j)));
  counts.n_free = rows;
  for (const Joint& j : system.joints) {
    lower.push_back(take(rows, std::isfinite(j.lower), 1));
    upper.push_back(take(rows, std::isfinite(j.upper), 1));
  }
  for (const Contact& c : system.contacts) contact.push_back(take(rows, c.mu == 0., 1));
  counts.n_nonneg = rows - counts.n_free;
  for (const Joint& j : system.joints) friction.push_back(take(rows, j.friction > 0., 1));
  counts.n_box = rows - counts.n_free - counts.n_nonneg;
  for (std::size_t i = 0; i < system.contacts.size(); ++i) {
    if (system.contacts[i].mu == 0.) continue;
    contact[i] = take(rows, true, 3);
    ++counts.n_contacts;
  }
}

Constraints constraints(const System& system, const Layout& layout, const std::vector<Body>& bodies,
                        double time) {
  Constraints at;
  at.rows.reserve(layout.rows);
  for (const Joint& joint : system.joints) {
    append_bilateral(joint, bodies, time, at.rows);
    at.bodies.resize(at.rows.size(), {joint.a, joint.b});
  }
  at.rows.resize(layout.rows);
  at.bodies.resize(layout.rows);
  for (std::size_t i = 0; i < system.joints.size(); ++i) {
    if (layout.lower[i] < 0 && layout.upper[i] < 0 && layout.friction[i] < 0) continue;
    append_coordinate(system.joints[i], layout, i, coordinate_row(system.joints[i], bodies, time),
                      at);
  }
  for (std::size_t i = 0; i < system.contacts.size(); ++i)
    append_contact(system.contacts[i], bodies, layout.contact[i], at);
  return at;
}

}  // namespace stickslip::gallery::rigid
