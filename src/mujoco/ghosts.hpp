// Ghosts: contacts that act from afar, although their geoms would not touch without them. MuJoCo
// reports the nearest points of two geoms now, and a rigid contact keeps them from closing along
// that normal: a ball that flies past an edge, or a box that slides over two level tiles, would be
// stopped by a wall that is not there. So the geoms are carried along the way that they take
// without those contacts: where they never touch, the contacts were ghosts.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

namespace stickslip::mujoco {

/// Two geoms, and how deep they may be in each other on their way, m (negative).
struct GeomPair {
  int geom[2];
  double margin;     ///< of the model: where the gap is zero
  double least_gap;  ///< of the present contacts, or 0
  bool touches;      ///< on the way
  int num_normals;   ///< of the contacts where it first does
  double normals[4][3];
};

/// Whether a contact with this normal is one of those by which the pair touches: a box that slides
/// and sinks touches a level tile from above, not from the side.
bool agrees(const GeomPair& pair, const double* normal);

/// Poses of all geoms. Reused.
struct GeomPoses {
  std::vector<double> xpos, xmat;
};

/// Sees which pairs touch on the way from q, where d is, to q ⊕ h v, among those that have not yet
/// `touches`: whose geoms get deeper than `least_gap` by more than 10 µm. On the way, each geom's
/// centre moves straight and its frame turns about one axis. Leaves d as it is.
void trace_pairs(const mjModel* m, mjData* d, const double* v, std::vector<GeomPair>& pairs,
                 GeomPoses& start);

}  // namespace stickslip::mujoco
