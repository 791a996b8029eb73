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
  /// The vertex farthest along a direction in that frame.
  int farthest(const double* direction) const;
  /// Writes the vertices that are `in`, connected with vertex `first`, which is. Of a convex body,
  /// these are all that a plane cuts off. Returns their number; 0: there are more than `most`.
  template <class In>
  int connected(int first, int most, int* vertices, const In& in) const {
    int count = 1;
    vertices[0] = first;
    for (int k = 0; k < count && count <= most; ++k)
      for_neighbours(vertices[k], [&](int i) {
        if (count > most || std::find(vertices, vertices + count, i) != vertices + count) return;
        if (!in(i)) return;
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

/// How far a convex geom reaches from its origin along a direction of length 1 in its frame, m. An
/// upper bound for geoms of other types.
double reach_along(const mjModel* m, int geom, const double* direction);

}  // namespace stickslip::mujoco
