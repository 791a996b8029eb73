#include "src/mujoco/contacts/face_polygons.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/mujoco/contacts/hull.hpp"
#include "src/mujoco/contacts/polygon.hpp"
#include "src/mujoco/contacts/polyhedron.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kTilt = 2e-3;                           // rad
constexpr double kParallel = 1.0 - 0.5 * kTilt * kTilt;  // cosine of 2 mrad
constexpr double kDeep = 2e-2;  // of the size: overlap that is no face at rest
constexpr double kWide = 10.0;  // strips; narrower faces are those of a round mesh
constexpr double kEven = 1e-6;  // of the size: corners of one height

// A face of a geom in world coordinates, with its outward normal.
struct Face {
  int count = 0;
  double corners[kRoom / 2][3];
  double normal[3];
};

void add_corner(const mjData* d, int geom, const double* local, Face& face) {
  double* corner = face.corners[face.count++];
  mju_mulMatVec3(corner, d->geom_xmat + 9 * geom, local);
  mju_addTo3(corner, d->geom_xpos + 3 * geom);
}

// The face of a box whose outward normal is `out` in its frame; `near`: the least cosine.
bool find_box_face(const mjModel* m, const mjData* d, int geom, const double* out, double near,
                   Face& face) {
  for (int axis = 0; axis < 3; ++axis) {
    if (std::abs(out[axis]) < near) continue;
    const double* size = m->geom_size + 3 * geom;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double normal[3] = {}, corner[3];
    normal[axis] = out[axis] > 0 ? 1 : -1;
    corner[axis] = normal[axis] * size[axis];
    for (const auto& [s, t] : {std::pair(1, 1), {-1, 1}, {-1, -1}, {1, -1}}) {
      corner[u] = s * size[u];
      corner[v] = t * size[v];
      add_corner(d, geom, corner, face);
    }
    mju_mulMatVec3(face.normal, d->geom_xmat + 9 * geom, normal);
    return true;
  }
  return false;
}

// The same of a mesh: of its convex hull, whose faces MuJoCo has merged.
bool find_mesh_face(const mjModel* m, const mjData* d, int geom, const double* out, double near,
                    Face& face) {
  const int mesh = m->geom_dataid[geom], best = face_towards(m, mesh, out, near);
  if (best < 0 || m->mesh_polyvertnum[best] > kRoom / 2) return false;
  const int* vertices = m->mesh_polyvert + m->mesh_polyvertadr[best];
  for (int i = 0; i < m->mesh_polyvertnum[best]; ++i) {
    const float* v = m->mesh_vert + 3 * (m->mesh_vertadr[mesh] + vertices[i]);
    const double local[3] = {v[0], v[1], v[2]};
    add_corner(d, geom, local, face);
  }
  mju_mulMatVec3(face.normal, d->geom_xmat + 9 * geom, m->mesh_polynormal + 3 * best);
  return true;
}

// The same of a cylinder: a cap, as an octagon, of which thin_out leaves every second corner. One
// of these is where the cap leans to, if it does by more than rounding: there it would tip over.
bool find_cap(const mjModel* m, const mjData* d, int geom, const double* out, double near,
              Face& face) {
  constexpr int kCorners = 8, kFirstLeft = 1;
  constexpr double kLeans = 1e-8;  // m
  if (std::abs(out[2]) < near) return false;
  const double *size = m->geom_size + 3 * geom, up = out[2] > 0 ? 1 : -1, normal[3] = {0, 0, up};
  const bool leans = size[0] * std::hypot(out[0], out[1]) > kLeans;
  const double lean = leans ? std::atan2(out[1], out[0]) : 0.0;
  for (int i = 0; i < kCorners; ++i) {  // counter-clockwise, seen from outside
    const double angle = lean + up * (i - kFirstLeft) * 2 * mjPI / kCorners;
    const double corner[3] = {size[0] * std::cos(angle), size[0] * std::sin(angle), up * size[1]};
    add_corner(d, geom, corner, face);
  }
  mju_mulMatVec3(face.normal, d->geom_xmat + 9 * geom, normal);
  return true;
}

// The face of a geom whose outward normal is `sign` times the normal, to 2 mrad, or another cosine.
bool find_face(const mjModel* m, const mjData* d, int geom, const double* normal, double sign,
               Face& face, double near = kParallel) {
  double out[3];
  mju_mulMatTVec3(out, d->geom_xmat + 9 * geom, normal);
  mju_scl3(out, out, sign);
  switch (m->geom_type[geom]) {
    case mjGEOM_BOX:
      return find_box_face(m, d, geom, out, near, face);
    case mjGEOM_MESH:
      return find_mesh_face(m, d, geom, out, near, face);
    case mjGEOM_CYLINDER:
      return find_cap(m, d, geom, out, near, face);
    default:
      return false;
  }
}

// Coordinates in a plane through `origin`.
struct Plane {
  double origin[3], normal[3], first[3], second[3];

  Plane(const Face& face) {
    mju_copy3(origin, face.corners[0]);
    mju_copy3(normal, face.normal);
    mju_sub3(first, face.corners[1], origin);
    mju_addToScl3(first, normal, -mju_dot3(first, normal));
    mju_normalize3(first);
    mju_cross(second, normal, first);
  }
  Point coordinates(const double* x) const {
    double way[3];
    mju_sub3(way, x, origin);
    return {mju_dot3(way, first), mju_dot3(way, second), 0.0};
  }
  void point(const Point& p, double* x) const {
    mju_addScl3(x, origin, first, p.x);
    mju_addToScl3(x, second, p.y);
  }
};

void project(const Plane& plane, const Face& face, Polygon& polygon) {
  polygon.count = face.count;
  for (int i = 0; i < face.count; ++i) polygon.at[i] = plane.coordinates(face.corners[i]);
  if (area_of(polygon) < 0.0) std::reverse(polygon.at, polygon.at + polygon.count);
}

// The height below which kSupports corners are; none if corners up to `even` are more: what stands
// on uneven feet stands on the lowest, and others show where it may turn to.
double floor_of(const Polygon& p, double even) {
  constexpr int kSupports = 4;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double heights[kRoom];
  if (p.count <= kSupports) return kNone;
  std::transform(p.at, p.at + p.count, heights, [](const Point& c) { return c.height; });
  std::nth_element(heights, heights + kSupports, heights + p.count);
  return heights[kSupports] <= even ? kNone : heights[kSupports];
}

// A point of a face with outward normal `normal`, and what is `dist` above it.
void set_contact(const double* on_face, const double* normal, double dist, mjPreContact& contact) {
  contact.dist = dist;
  mju_addScl3(contact.pos, on_face, normal, 0.5 * dist);
  mju_copy3(contact.normal, normal);
  mju_zero3(contact.tangent);
}

// The part of the segment from p to q above a convex polygon, or at most `beside` beside it: from
// share `begin` to `end` of the way (Cyrus & Beck 1978). Whether there is one.
bool clip(const Polygon& polygon, const Point& p, const Point& q, double beside, double& begin,
          double& end) {
  begin = 0;
  end = 1;
  for (int i = 0; i < polygon.count; ++i) {
    const Point &from = polygon[i], &to = polygon[i + 1];
    const double least = -beside * std::hypot(to.x - from.x, to.y - from.y);
    const double at_p = cross(from, to, p) - least, at_q = cross(from, to, q) - least;
    if (at_p < 0 && at_q < 0) return false;
    const double share = at_p / (at_p - at_q);
    if (at_p < 0) begin = std::max(begin, share);
    if (at_q < 0) end = std::min(end, share);
  }
  return begin <= end;
}

}  // namespace

int lie_on_face(const mjModel* m, const mjData* d, int cylinder, int b, double margin,
                const mjPreContact* shown, double beside, mjPreContact* found) {
  constexpr double kSameSide = 0.9;  // cosine
  Face face;
  if (!find_face(m, d, b, shown->normal, -1.0, face, kSameSide)) return 0;
  const double *size = m->geom_size + 3 * cylinder, *xmat = d->geom_xmat + 9 * cylinder;
  const double axis[3] = {xmat[2], xmat[5], xmat[8]};
  const double sine = mju_dot3(axis, face.normal);
  if (std::abs(sine) > kTilt) return 0;
  double down[3], ends[2][3], along[3], heights[2];
  mju_addScl3(down, face.normal, axis, -sine);
  mju_normalize3(down);
  for (int i = 0; i < 2; ++i) {
    double way[3];
    mju_addScl3(ends[i], d->geom_xpos + 3 * cylinder, down, -size[0]);
    mju_addToScl3(ends[i], axis, i == 0 ? -size[1] : size[1]);
    mju_sub3(way, ends[i], face.corners[0]);
    heights[i] = mju_dot3(way, face.normal);
  }
  mju_sub3(along, ends[1], ends[0]);
  const Plane plane(face);
  Polygon polygon;
  project(plane, face, polygon);
  double shares[2];
  if (!clip(polygon, plane.coordinates(ends[0]), plane.coordinates(ends[1]), beside, shares[0],
            shares[1]))
    return 0;
  int contacts = 0;
  for (const double share : shares) {
    double point[3];
    const double dist = heights[0] + share * (heights[1] - heights[0]);
    if (dist < -kDeep * size[0]) return 0;
    if (dist > margin) continue;
    mju_addScl3(point, ends[0], along, share);
    mju_addToScl3(point, face.normal, -dist);
    set_contact(point, face.normal, dist, found[contacts]);
    mju_scl3(found[contacts++].normal, face.normal, -1);
  }
  return contacts;
}

int stand_on_plane(const mjModel* m, const mjData* d, int plane, int mesh, double margin,
                   mjPreContact* found) {
  const double *frame = d->geom_xmat + 9 * plane, *pose = d->geom_xmat + 9 * mesh;
  const HullGraph hull(m, m->geom_dataid[mesh]);
  if (hull.num_vertices() == 0) return 0;
  double toward[9], offset[3], way[3];  // from the mesh to the plane
  mju_mulMatTMat(toward, frame, pose, 3, 3, 3);
  mju_sub3(way, d->geom_xpos + 3 * mesh, d->geom_xpos + 3 * plane);
  mju_mulMatTVec3(offset, frame, way);
  const auto height = [&](int i) {
    const float* v = hull.vertex(i);
    return toward[6] * v[0] + toward[7] * v[1] + toward[8] * v[2] + offset[2];
  };
  const auto point = [&](int i) {
    const double v[3] = {hull.vertex(i)[0], hull.vertex(i)[1], hull.vertex(i)[2]};
    double moved[3];
    mju_mulMatVec3(moved, toward, v);
    return Point{moved[0], moved[1], height(i)};
  };
  const double down[3] = {-toward[6], -toward[7], -toward[8]};
  const int bottom = hull.farthest(down);
  const double lowest = height(bottom);
  if (lowest > margin) return 0;
  const double highest = std::min(margin, lowest + kTilt * m->geom_rbound[mesh]);
  int low[kRoom / 2];
  Polygon polygon;
  polygon.count =
      hull.connected(bottom, kRoom / 2, low, [&](int i) { return height(i) <= highest; });
  std::transform(low, low + polygon.count, polygon.at, point);
  polygon = hull_of(polygon);
  thin_out(polygon, kMostCorners, floor_of(polygon, lowest + kEven * m->geom_rbound[mesh]));
  if (polygon.count < 3) return 0;
  const double normal[3] = {frame[2], frame[5], frame[8]};
  for (int i = 0; i < polygon.count; ++i) {
    const Point& p = polygon.at[i];
    const double local[3] = {p.x + offset[0], p.y + offset[1], 0.0};
    double on_plane[3];
    mju_mulMatVec3(on_plane, frame, local);
    mju_addTo3(on_plane, d->geom_xpos + 3 * plane);
    set_contact(on_plane, normal, p.height, found[i]);
  }
  return polygon.count;
}

int share_face(const mjModel* m, const mjData* d, int a, int b, double margin,
               const mjPreContact* shown, int count, mjPreContact* found, double narrow) {
  constexpr int kCapCorners = 4;  // as MuJoCo
  const bool is_cap = m->geom_type[a] == mjGEOM_CYLINDER;
  Face face_a, face_b;
  if (!find_face(m, d, b, shown->normal, -1.0, face_b)) return 0;
  if (!find_face(m, d, a, is_cap ? face_b.normal : shown->normal, is_cap ? -1.0 : 1.0, face_a))
    return 0;
  const Plane plane(face_a);
  Polygon polygon, other, mujocos;
  project(plane, face_a, is_cap ? polygon : other);
  project(plane, face_b, is_cap ? other : polygon);
  const bool wide = std::min(area_of(other) / extent_of(other),
                             area_of(polygon) / extent_of(polygon)) > kWide * narrow;
  intersect(other, polygon);
  straighten(polygon);
  thin_out(polygon, is_cap ? kCapCorners : kMostCorners);
  mujocos.count = count;
  for (int i = 0; i < count; ++i) mujocos.at[i] = plane.coordinates(shown[i].pos);
  const double area = polygon.count < 3 ? 0.0 : area_of(polygon);
  if (narrow > 0.0 && area <= narrow * extent_of(polygon) && wide) return kEdgeAlone;
  if (!(area > 0.0) || area < 0.99 * area_of(hull_of(mujocos))) return 0;
  const double slope = mju_dot3(face_b.normal, plane.normal);
  int contacts = 0;
  for (int i = 0; i < polygon.count; ++i) {
    double on_a[3], way[3];
    plane.point(polygon.at[i], on_a);
    mju_sub3(way, face_b.corners[0], on_a);
    const double dist = mju_dot3(face_b.normal, way) / slope;
    if (dist < -kDeep * std::sqrt(area)) return 0;
    if (dist <= margin) set_contact(on_a, plane.normal, dist, found[contacts++]);
  }
  return contacts;
}

}  // namespace stickslip::mujoco
