// How far convex geoms reach, and the graph of a mesh's convex hull as MuJoCo keeps it.
#pragma once
#include <mujoco/mujoco.h>

#include <algorithm>

namespace stickslip::mujoco {

/// The graph of a mesh's convex hull; without one, no vertices.
class HullGraph {
 public:
  HullGraph(const mjModel* m, int mesh);

  int num_vertices() const { return count_; }
  /// Position of vertex i in the frame of the mesh, m.
  const float* vertex(int i) const { return positions_ + 3 * ids_[i]; }
  /// The number of vertex i in the mesh.
  int id(int i) const { return ids_[i]; }
  /// The vertex farthest along a direction in that frame; the search begins at vertex `first`,
  /// or, if that is negative, at one that is far out.
  int farthest(const double* direction, int first = -1) const;
  /// Writes the vertices that are `in`, connected with vertex `first`, which is. Of a convex body,
  /// these are all that a plane cuts off. Returns their number; 0: there are more than `most`.
  template <class Scalar>
  int connected(int first, int most, int* vertices, const Scalar& in) const {
    int count = 1;
    vertices[0] = first;
    for (int k = 0; k < count && count <= most; ++k)
      for_neighbours(vertices[k], [&](int i) {
        if (count > most || !in(i)) return;
        if (std::find(vertices, vertices + count, i) != vertices + count) return;
        if (count < most) vertices[count] = i;
        ++count;
      });
    return count > most ? 0 : count;
  }

 private:
  /// Calls `visit` for each neighbour of vertex i.
  template <class Visit>
  void for_neighbours(int i, const Visit& visit) const {
    for (const int* edge = edges_ + first_edge_[i]; *edge >= 0; ++edge) visit(*edge);
  }

  int count_ = 0;
  const int *first_edge_ = nullptr, *ids_ = nullptr, *edges_ = nullptr;
  const int* extremes_ = nullptr;  // vertices far out in 27 directions
  const float* positions_ = nullptr;
};

/// The point of a convex geom that is farthest along a direction of length 1, both in its frame; of
/// a mesh, `vertex` is that of the last search or -1, and becomes that of this one. For geoms of
/// other types, the point of a sphere around them.
void farthest_point(const mjModel* m, int geom, const double* direction, int& vertex,
                    double* point);

/// The face of a mesh's convex hull whose outward normal is nearest to a direction of length 1,
/// among those that meet where the mesh reaches farthest; -1: none has a cosine of `least` to it.
int face_towards(const mjModel* m, int mesh, const double* direction, double least);

}  // namespace stickslip::mujoco
