#include "src/mujoco/contacts/cylinder_side.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/convex_search.hpp"
#include "src/mujoco/contacts/hull.hpp"
#include "src/mujoco/contacts/polyhedron.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kTilt = 2e-3;      // rad; an edge parallel to the axis
constexpr double kRounding = 1e-6;  // of the size

bool is_cylinder(const mjModel* m, int geom) {
  return geom >= 0 && m->geom_type[geom] == mjGEOM_CYLINDER;
}

bool is_capsule(const mjModel* m, int geom) {
  return geom >= 0 && m->geom_type[geom] == mjGEOM_CAPSULE;
}

bool rolls(const mjModel* m, int geom) { return is_cylinder(m, geom) || is_capsule(m, geom); }

// Whether a direction is normal to the axis of a cylinder or capsule.
bool is_radial(const mjData* d, int geom, const double* normal) {
  const double* xmat = d->geom_xmat + 9 * geom;
  return std::abs(xmat[2] * normal[0] + xmat[5] * normal[1] + xmat[8] * normal[2]) < kRounding;
}

// A line near a cylinder's side, in the frame of the cylinder, whose axis is z: between its lowest
// and its highest point.
struct Edge {
  double begin[3], end[3];
  int points = 0;

  void add(const double* p) {
    if (points == 0 || p[2] < begin[2]) mju_copy3(begin, p);
    if (points == 0 || p[2] > end[2]) mju_copy3(end, p);
    ++points;
  }
  void at(double z, double* p) const {
    const double share = std::clamp((z - begin[2]) / (end[2] - begin[2]), 0.0, 1.0);
    for (int i = 0; i < 3; ++i) p[i] = begin[i] + share * (end[i] - begin[i]);
  }
};

// The vertices of b on the line through `on_line` parallel to the cylinder's axis, to 2 mrad, both
// in its frame. `toward`: from the cylinder to b, in the frame of b.
Edge find_edge(const mjModel* m, const mjData* d, int cylinder, int b, const double* on_line,
               const double* toward) {
  constexpr int kMost = 64;  // vertices along an edge
  double turn[9], way[3], offset[3];
  mju_mulMatTMat(turn, d->geom_xmat + 9 * cylinder, d->geom_xmat + 9 * b, 3, 3, 3);
  mju_sub3(way, d->geom_xpos + 3 * b, d->geom_xpos + 3 * cylinder);
  mju_mulMatTVec3(offset, d->geom_xmat + 9 * cylinder, way);
  const double rounding = kRounding * (m->geom_rbound[cylinder] + m->geom_rbound[b]);
  const auto place = [&](const double* vertex, double* p) {
    mju_mulMatVec3(p, turn, vertex);
    mju_addTo3(p, offset);
    const double off = std::hypot(p[0] - on_line[0], p[1] - on_line[1]);
    return off <= rounding + kTilt * std::abs(p[2] - on_line[2]);
  };
  Edge edge;
  double vertex[3], p[3];
  if (m->geom_type[b] == mjGEOM_BOX) {
    const double* half = m->geom_size + 3 * b;
    for (int i = 0; i < 8; ++i) {
      for (int k = 0; k < 3; ++k) vertex[k] = (i >> k & 1) ? half[k] : -half[k];
      if (place(vertex, p)) edge.add(p);
    }
    return edge;
  }
  const HullGraph hull(m, m->geom_dataid[b]);
  if (hull.num_vertices() == 0) return edge;
  const auto is_on_line = [&](int i) {
    std::copy_n(hull.vertex(i), 3, vertex);
    return place(vertex, p);
  };
  int on_edge[kMost];
  const double back[3] = {-toward[0], -toward[1], -toward[2]};
  const int count = hull.connected(hull.farthest(back), kMost, on_edge, is_on_line);
  for (int k = 0; k < count; ++k)
    if (is_on_line(on_edge[k])) edge.add(p);
  return edge;
}

}  // namespace

int meet_side(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found,
              bool& on_side) {
  if (!rolls(m, a) || !(rolls(m, b) || has_faces(m, b))) return 0;
  mj_markStack(d);
  mjModel capsules = *m;  // shallow: the other arrays belong to m
  capsules.geom_type =
      static_cast<int*>(mj_stackAllocByte(d, m->ngeom * sizeof(int), alignof(int)));
  capsules.opt.disableflags |= mjDSBL_MULTICCD;  // it replaces the normal by that of a face
  for (const int g : {a, b})                     // the function reads no other types
    capsules.geom_type[g] = is_cylinder(m, g) ? mjGEOM_CAPSULE : m->geom_type[g];
  const auto collide =
      rolls(m, b) ? mjCOLLISIONFUNC[mjGEOM_CAPSULE][mjGEOM_CAPSULE] : convex_search();
  const int count = collide(&capsules, d, found, a, b, margin);
  mj_freeStack(d);
  const auto is_side = [&](const mjPreContact& c) {
    return (!is_cylinder(m, a) || is_radial(d, a, c.normal)) &&
           (!is_cylinder(m, b) || is_radial(d, b, c.normal));
  };
  on_side = std::all_of(found, found + count, is_side);
  return count;
}

int lie_on_edge(const mjModel* m, const mjData* d, int cylinder, int b, double margin,
                const mjPreContact& shown, mjPreContact* found) {
  const double *size = m->geom_size + 3 * cylinder, *xmat = d->geom_xmat + 9 * cylinder;
  if (!is_radial(d, cylinder, shown.normal)) return 0;
  double point[3], way[3], on_line[3], toward[3];
  mju_addScl3(point, shown.pos, shown.normal, 0.5 * shown.dist);
  mju_sub3(way, point, d->geom_xpos + 3 * cylinder);
  mju_mulMatTVec3(on_line, xmat, way);
  mju_mulMatTVec3(toward, d->geom_xmat + 9 * b, shown.normal);
  const Edge edge = find_edge(m, d, cylinder, b, on_line, toward);
  if (edge.points < 2 || edge.end[2] < -size[1] || edge.begin[2] > size[1]) return 0;
  int contacts = 0;
  for (const double z : {-size[1], size[1]}) {
    double on_edge[3], out[3] = {}, shift[3];
    edge.at(z, on_edge);
    std::copy_n(on_edge, 2, out);
    const double dist = mju_normalize3(out) - size[0];
    if (dist > margin) continue;
    mjPreContact& contact = found[contacts++];
    contact.dist = dist;
    mju_addScl3(shift, on_edge, out, -0.5 * dist);
    mju_mulMatVec3(contact.pos, xmat, shift);
    mju_addTo3(contact.pos, d->geom_xpos + 3 * cylinder);
    mju_mulMatVec3(contact.normal, xmat, out);
    mju_zero3(contact.tangent);
  }
  return contacts;
}

int lie_along(const mjModel* m, const mjData* d, int a, int b, double margin,
              const mjPreContact& shown, mjPreContact* found) {
  if (!rolls(m, a) || !rolls(m, b)) return 0;
  struct Axis {
    double center[3], along[3], radius, half;
    Axis(const mjModel* m, const mjData* d, int geom)
        : radius(m->geom_size[3 * geom]), half(m->geom_size[3 * geom + 1]) {
      mju_copy3(center, d->geom_xpos + 3 * geom);
      for (int i = 0; i < 3; ++i) along[i] = d->geom_xmat[9 * geom + 3 * i + 2];
    }
  };
  const Axis of_a(m, d, a), of_b(m, d, b);
  double tilt[3], way[3];
  mju_cross(tilt, of_a.along, of_b.along);
  if (mju_norm3(tilt) > kTilt || std::abs(mju_dot3(shown.normal, of_a.along)) > kTilt) return 0;
  mju_sub3(way, of_b.center, of_a.center);
  const double offset = mju_dot3(way, of_a.along);
  const double ends[2] = {std::max(-of_a.half, offset - of_b.half),
                          std::min(of_a.half, offset + of_b.half)};
  if (!(ends[0] < ends[1])) return 0;
  int contacts = 0;
  double nearest = margin;
  for (const double end : ends) {
    double on_a[3], on_b[3];
    mju_addScl3(on_a, of_a.center, of_a.along, end);
    mju_sub3(way, on_a, of_b.center);
    const double at = std::clamp(mju_dot3(way, of_b.along), -of_b.half, of_b.half);
    mju_addScl3(on_b, of_b.center, of_b.along, at);
    mjPreContact& contact = found[contacts];
    mju_sub3(contact.normal, on_b, on_a);
    contact.dist = mju_normalize3(contact.normal) - of_a.radius - of_b.radius;
    nearest = std::min(nearest, contact.dist);
    if (contact.dist > margin) continue;
    mju_addScl3(contact.pos, on_a, contact.normal, of_a.radius + 0.5 * contact.dist);
    mju_zero3(contact.tangent);
    ++contacts;
  }
  return shown.dist < nearest - kRounding * (of_a.radius + of_b.radius) ? 0 : contacts;
}

}  // namespace stickslip::mujoco
