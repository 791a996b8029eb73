// Ghost contacts: they act across a gap, although their geoms would not touch without them. MuJoCo
// reports the nearest points of two geoms at the beginning, and a rigid contact prevents them from
// closing along that normal: a ball that passes an edge, or a box that slides over two level tiles,
// would be stopped by a wall that does not exist. So the geoms are moved along the paths that they
// take without those contacts; if they never touch, the contacts were ghosts.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

namespace stickslip::mujoco {

/// Two geoms, and how deep they may overlap during the step, m (negative).
struct GeomPair {
  int geom[2];
  double margin;     ///< of the model: distance at which the gap is zero
  double least_gap;  ///< of the present contacts, or 0
  bool touches;      ///< during the step
  int num_normals;   ///< of the contacts at the first touch
  double normals[4][3];
};

/// Whether a contact has a normal with which the pair touches: a box that slides and sinks touches
/// a level tile from above, not from the side.
bool agrees(const GeomPair& pair, const double* normal);

/// Poses of all geoms. Reused.
struct GeomPoses {
  std::vector<double> xpos, xmat;
};

/// Finds which pairs touch on the path from q, the state of d, to q ⊕ h v, among those that do not
/// yet have `touches`: their geoms get deeper than `least_gap` by more than 10 µm. On the path,
/// each geom's centre moves straight and its frame turns about one axis. Does not change d.
void trace_pairs(const mjModel* m, mjData* d, const double* v, std::vector<GeomPair>& pairs,
                 GeomPoses& start);

}  // namespace stickslip::mujoco
