// A box, or the convex hull of a mesh, in the frame of another geom.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

struct Polyhedron {
  int num_vertices, num_faces;
  double (*vertex)[3];
  double (*normal)[3];  ///< of each face, outwards
  const int *face_begin, *face_size, *of_faces;
  double low[3], high[3];

  /// The vertices of a face, counter-clockwise.
  const int* face(int f) const { return of_faces + face_begin[f]; }
  /// Of a point above the plane of a face.
  double height(int f, const double* x) const {
    double offset[3];
    mju_sub3(offset, x, vertex[face(f)[0]]);
    return mju_dot3(offset, normal[f]);
  }
};

inline bool has_faces(const mjModel* m, int geom) {
  return geom >= 0 && (m->geom_type[geom] == mjGEOM_BOX || m->geom_type[geom] == mjGEOM_MESH);
}

/// That of a geom with faces, in the frame of another. Its arrays are on the stack of d.
Polyhedron polyhedron_of(const mjModel* m, mjData* d, int geom, int frame);

}  // namespace stickslip::mujoco
