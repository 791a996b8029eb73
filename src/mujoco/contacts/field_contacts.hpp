// What lies on a height field. MuJoCo collides a geom with each prism of the field on its own, and
// returns one point of each: of an edge or a face that lies on a triangle any point, another one in
// each step; and at the seams of triangles normals that are not those of the surface. So the places
// where surface and geom may carry each other are found anew.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// The contacts of the height field a and the geom b within the margin, where MuJoCo has found the
/// `count` contacts `shown`. Of boxes and meshes: their corners on the planes of the surface,
/// vertices of the field on their faces, and edges that cross. Of round geoms: those with the
/// planes, and what MuJoCo has found at ridges and peaks, and on planes without another contact.
/// `found`: room for mjMAXCONPAIR. Returns their number; 0 where MuJoCo has found a deeper one.
int lie_on_field(const mjModel* m, mjData* d, int a, int b, double margin,
                 const mjPreContact* shown, int count, mjPreContact* found);

}  // namespace stickslip::mujoco
