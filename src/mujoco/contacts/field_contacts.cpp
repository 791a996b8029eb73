#include "src/mujoco/contacts/field_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/face_polygons.hpp"
#include "src/mujoco/contacts/faces.hpp"
#include "src/mujoco/contacts/height_field.hpp"
#include "src/mujoco/contacts/polyhedron.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kDeep = 0.1;     // of the size: overlap that has no one direction
constexpr double kDeeper = 1e-5;  // m
constexpr double kEven = 1e-6;    // of the size: corners of one height

bool is_lower(const mjPreContact& a, const mjPreContact& b) { return a.dist < b.dist; }

// Contacts in the frame of the field; of too many, the deepest.
struct Contacts {
  mjPreContact* at;
  double least, margin;  // gaps, m
  int count = 0;

  // `on_field`: the point on the surface of the field.
  void add(const double* on_field, const double* normal, double gap) {
    if (gap > margin || gap < least) return;
    const bool full = count == mjMAXCONPAIR;
    mjPreContact* const to = full ? std::max_element(at, at + count, is_lower) : at + count;
    if (full && to->dist <= gap) return;
    count += full ? 0 : 1;
    to->dist = gap;
    mju_addScl3(to->pos, on_field, normal, 0.5 * gap);
    mju_copy3(to->normal, normal);
    mju_zero3(to->tangent);
  }
};

// Of more than kMostCorners contacts on a plane since `begin`: the lowest, or of those the ones
// that reach farthest in as many directions.
void thin_out(Contacts& contacts, int begin, double even) {
  mjPreContact *const first = contacts.at + begin, *end = contacts.at + contacts.count;
  if (end - first <= kMostCorners) return;
  std::sort(first, end, is_lower);
  const double highest = std::max(first[kMostCorners - 1].dist, first->dist + even);
  while (end[-1].dist > highest) --end;
  mjPreContact* kept = first;
  for (int k = 0; k < kMostCorners; ++k) {
    const double angle = 2 * mjPI * k / kMostCorners, x = std::cos(angle), y = std::sin(angle);
    const auto is_nearer = [&](const mjPreContact& a, const mjPreContact& b) {
      return x * a.pos[0] + y * a.pos[1] < x * b.pos[0] + y * b.pos[1];
    };
    if (kept == end) break;
    std::iter_swap(kept, std::max_element(kept, end, is_nearer));
    ++kept;
  }
  contacts.count = int(kept - contacts.at);
}

// Corners of the polyhedron on planes of the field.
void add_corners(const HeightField& field, const Polyhedron& body, Contacts& contacts) {
  const double reach = contacts.margin, even = kEven * mju_dist3(body.low, body.high);
  const auto cells = field.cells(body.low, body.high, reach);
  field.for_planes(cells, body.low[2] - reach, [&](const Triangle& t) {
    const int begin = contacts.count;
    for (int i = 0; i < body.num_vertices; ++i) {
      const double gap = t.height(body.vertex[i]);
      if (gap > contacts.margin || gap < contacts.least) continue;
      double foot[3];
      mju_addScl3(foot, body.vertex[i], t.normal, -gap);
      if (field.carries(t, foot, reach)) contacts.add(foot, t.normal, gap);
    }
    thin_out(contacts, begin, even);
  });
}

// The face of the polyhedron above which a point lies, or to which it is nearest inside; -1: none.
int face_at(const Polyhedron& body, const double* x) {
  constexpr double kRounding = 1e-9;  // m
  int face = 0;
  for (int f = 1; f < body.num_faces; ++f)
    if (body.height(f, x) > body.height(face, x)) face = f;
  double foot[3];
  mju_addScl3(foot, x, body.normal[face], -body.height(face, x));
  for (int f = 0; f < body.num_faces; ++f)
    if (body.height(f, foot) > kRounding) return -1;
  return face;
}

// Vertices of the field on faces of the polyhedron.
void add_peaks(const HeightField& field, const Polyhedron& body, Contacts& contacts) {
  const auto [rows, columns] = field.cells(body.low, body.high, contacts.margin);
  for (int r = rows[0]; r <= rows[1]; ++r)
    for (int c = columns[0]; c <= columns[1]; ++c) {
      double x[3], normal[3];
      field.vertex(r, c, x);
      if (x[2] < body.low[2] - contacts.margin || field.is_flat(x)) continue;
      const int face = face_at(body, x);
      if (face < 0) continue;
      mju_scl3(normal, body.normal[face], -1);
      if (field.lies_below(x, normal)) contacts.add(x, normal, body.height(face, x));
    }
}

bool lies_above(const Polyhedron& body, const double* x, const double* normal) {
  return std::all_of(body.vertex, body.vertex + body.num_vertices, [&](const double* vertex) {
    double offset[3];
    mju_sub3(offset, vertex, x);
    return mju_dot3(offset, normal) >= -kTilt * mju_norm3(offset);
  });
}

// Where the edge from a to b of the polyhedron crosses that from p to q of the field.
void add_crossing(const HeightField& field, const Polyhedron& body, const double* p,
                  const double* q, const double* a, const double* b, Contacts& contacts) {
  double along_field[3], along_body[3], offset[3], normal[3], part[3], x[3], y[3];
  mju_sub3(along_field, q, p);
  mju_sub3(along_body, b, a);
  mju_sub3(offset, a, p);
  mju_cross(normal, along_field, along_body);
  const double area = normal[2] < 0 ? -mju_norm3(normal) : mju_norm3(normal);
  if (std::abs(area) < kTilt * mju_norm3(along_field) * mju_norm3(along_body)) return;
  mju_scl3(normal, normal, 1 / area);  // upwards
  const double gap = mju_dot3(offset, normal);
  if (gap > contacts.margin || gap < contacts.least) return;
  mju_cross(part, offset, along_body);  // p + s (q - p) + gap n = a + t (b - a)
  const double s = mju_dot3(part, normal) / area;
  mju_cross(part, offset, along_field);
  const double t = mju_dot3(part, normal) / area;
  if (s < 0 || s > 1 || t < 0 || t > 1) return;
  mju_addScl3(x, p, along_field, s);
  mju_addScl3(y, a, along_body, t);
  if (!field.is_flat(x) && field.lies_below(x, normal) && lies_above(body, y, normal))
    contacts.add(x, normal, gap);
}

// Where edges of the field cross the edge from a to b of the polyhedron.
void cross_edge(const HeightField& field, const Polyhedron& body, const double* a, const double* b,
                Contacts& contacts) {
  constexpr int kNext[3][2] = {{0, 1}, {1, 0}, {1, 1}};
  const double low[2] = {std::min(a[0], b[0]), std::min(a[1], b[1])};
  const double high[2] = {std::max(a[0], b[0]), std::max(a[1], b[1])};
  const double bottom = std::min(a[2], b[2]) - contacts.margin;
  const auto [rows, columns] = field.cells(low, high, contacts.margin);
  for (int r = rows[0]; r <= rows[1]; ++r)
    for (int c = columns[0]; c <= columns[1]; ++c)
      for (const auto& [row, column] : kNext) {
        if (!field.has(r + row, c + column)) continue;
        double p[3], q[3];
        field.vertex(r, c, p);
        field.vertex(r + row, c + column, q);
        if (std::max(p[2], q[2]) < bottom) continue;
        add_crossing(field, body, p, q, a, b, contacts);
      }
}

void add_crossings(const HeightField& field, const Polyhedron& body, Contacts& contacts) {
  for (int f = 0; f < body.num_faces; ++f)
    for (int k = 0; k < body.face_size[f]; ++k) {
      const int from = body.face(f)[k], to = body.face(f)[(k + 1) % body.face_size[f]];
      if (from < to)  // each edge is of two faces
        cross_edge(field, body, body.vertex[from], body.vertex[to], contacts);
    }
}

void add_polyhedron(const mjModel* m, mjData* d, int a, int b, const HeightField& field,
                    Contacts& contacts) {
  mj_markStack(d);
  const Polyhedron body = polyhedron_of(m, d, b, a);
  add_corners(field, body, contacts);
  add_peaks(field, body, contacts);
  add_crossings(field, body, contacts);
  mj_freeStack(d);
}

// Sets geom a to the plane of a triangle.
void set_plane(const HeightField& field, const Triangle& t, mjData* d, int a) {
  double first[3], second[3], local[9];
  mju_sub3(first, t.at[1], t.at[0]);
  mju_normalize3(first);
  mju_cross(second, t.normal, first);
  for (int i = 0; i < 3; ++i) {
    local[3 * i] = first[i];
    local[3 * i + 1] = second[i];
    local[3 * i + 2] = t.normal[i];
  }
  mju_mulMatMat(d->geom_xmat + 9 * a, field.mat(), local, 3, 3, 3);
  field.to_world(t.at[0], d->geom_xpos + 3 * a);
}

// Contacts of a round geom with planes of the field.
void add_planes(const mjModel* m, mjData* d, int a, int b, const HeightField& field,
                Contacts& contacts) {
  mj_markStack(d);
  mjModel planes = *m;  // shallow: the other arrays belong to m
  planes.geom_type = mj_stackAllocInt(d, m->ngeom);
  std::copy_n(m->geom_type, m->ngeom, planes.geom_type);
  planes.geom_type[a] = mjGEOM_PLANE;
  const double reach = contacts.margin, radius = m->geom_rbound[b];
  const double round[3] = {radius, radius, radius};
  double center[3], low[3], high[3];
  field.to_local(d->geom_xpos + 3 * b, center);
  mju_sub3(low, center, round);
  mju_add3(high, center, round);
  field.for_planes(field.cells(low, high, reach), low[2] - reach, [&](const Triangle& t) {
    if (t.height(center) > radius + reach) return;
    mjPreContact found[mjMAXCONPAIR];
    set_plane(field, t, d, a);
    const int count = collide_geoms(&planes, d, a, b, reach, found);
    for (int i = 0; i < count; ++i) {
      field.to_local(found[i]);
      double foot[3];
      mju_addScl3(foot, found[i].pos, t.normal, -0.5 * found[i].dist);
      if (field.carries(t, foot, reach)) contacts.add(foot, t.normal, found[i].dist);
    }
  });
  mju_copy3(d->geom_xpos + 3 * a, field.pos());
  mju_copy(d->geom_xmat + 9 * a, field.mat(), 9);
  mj_freeStack(d);
}

// Those of MuJoCo's that are at ridges and peaks, and those that may close on planes of which there
// is no contact yet.
void add_edges(const HeightField& field, const mjPreContact* shown, int count, Contacts& contacts) {
  const int on_planes = contacts.count;
  for (int i = 0; i < count; ++i) {
    mjPreContact contact = shown[i];
    field.to_local(contact);
    double x[3];
    mju_addScl3(x, contact.pos, contact.normal, -0.5 * contact.dist);
    const bool on_edge = !field.is_flat(x) && field.lies_below(x, contact.normal);
    const bool is_known =
        std::any_of(contacts.at, contacts.at + on_planes, [&](const mjPreContact& c) {
          double offset[3];
          mju_sub3(offset, x, c.pos);
          return std::abs(mju_dot3(offset, c.normal) + 0.5 * c.dist) < kDeeper;
        });
    if (on_edge || !is_known) contacts.add(x, contact.normal, contact.dist);
  }
}

}  // namespace

int lie_on_field(const mjModel* m, mjData* d, int a, int b, double margin,
                 const mjPreContact* shown, int count, mjPreContact* found) {
  const HeightField field(m, d, a);
  Contacts contacts{found, -kDeep * m->geom_rbound[b], margin};
  if (has_faces(m, b)) {
    add_polyhedron(m, d, a, b, field, contacts);
  } else {
    add_planes(m, d, a, b, field, contacts);
    add_edges(field, shown, count, contacts);
  }
  double deepest = 0;
  for (int i = 0; i < contacts.count; ++i) {
    deepest = std::min(deepest, found[i].dist);
    field.to_world(found[i]);
  }
  const auto is_deeper = [&](const mjPreContact& c) { return c.dist < deepest - kDeeper; };
  return std::any_of(shown, shown + count, is_deeper) ? 0 : contacts.count;
}

}  // namespace stickslip::mujoco
