// Whole faces. Where a gap near 0 meets any tilt, MuJoCo's collider of two boxes returns one point
// on two edges in place of the corners of the faces that meet (mujoco#2471), and rigid contacts
// rest at gap 0: bodies at rest would lose their support. Such pairs are collided once more with
// boxes a little larger, which overlap there, and their gaps corrected.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

namespace stickslip::mujoco {

/// MuJoCo's collision function of geoms a and b, with whole faces. `found`: room for
/// mjMAXCONPAIR. Returns their number.
int collide_geoms(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found);

/// Completes the faces in the contacts that mj_collision has found; these remain in the order of
/// their pairs. `contacts`: scratch.
void complete_faces(const mjModel* m, mjData* d, std::vector<mjContact>& contacts);

}  // namespace stickslip::mujoco
