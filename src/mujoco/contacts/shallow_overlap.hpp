// Geoms that hardly overlap. MuJoCo's search for convex shapes (EPA) looks for the direction in
// which they overlap least. In overlaps of some micrometres, about its tolerance, it may miss it:
// a mesh that slides on level tiles, and has just entered the next one, gets the depth by which it
// has entered, and would be stopped there, though it only touches the tile's upper face.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// Whether geoms a and b, which that search has found to overlap by a little, overlap less along
/// the normal of one of their faces. Then `found` becomes their contact along it.
bool overlap_less(const mjModel* m, const mjData* d, int a, int b, mjPreContact& found);

}  // namespace stickslip::mujoco
