// Whether geoms meet inside of a face. Then they meet for certain, wherever they move along it; at
// the edge of a face they may pass one another.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// Whether contact i of d is farther than `away` (m) from the edges of a face: the face of a box
/// whose normal it has, or the polygon of all contacts of its geoms that have its normal. Farther
/// still by what faces that only touch at an edge seem to share (faces.hpp).
bool is_inside_face(const mjModel* m, const mjData* d, int i, double away);

}  // namespace stickslip::mujoco
