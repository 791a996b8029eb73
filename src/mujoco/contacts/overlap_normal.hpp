// Normals of convex geoms that overlap. MuJoCo's search (EPA) looks for the direction in which they
// overlap least. In overlaps of some micrometres, about its tolerance, it may miss it: a mesh that
// slides on level tiles, and has just entered the next one, gets the depth by which it has entered,
// and would be stopped there, though it only touches the tile's upper face. And with a margin, with
// which it searches larger geoms, it may find directions along which they overlap far more than it
// tells.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// Corrects the contacts `found` of geoms a and b, if MuJoCo has found them by that search, where
/// the geoms overlap less along the normal of one of their faces, or without the margin, or where
/// the side of a cylinder touches. Returns whether it does. `count`: how many there are; room for
/// mjMAXCONPAIR.
bool correct_normal(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found,
                    int& count);

/// Whether geoms a and b meet at an edge alone: they are apart, or overlap by no more than `width`,
/// m, along the normal of a contact, and along that of one of their faces in another direction.
bool meet_at_edge(const mjModel* m, const mjData* d, int a, int b, const double* normal,
                  double width);

}  // namespace stickslip::mujoco
