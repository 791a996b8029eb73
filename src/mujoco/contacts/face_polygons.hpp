// Where flat faces of meshes, boxes and cylinders meet, or a mesh stands on a plane: the whole
// polygon that they share. MuJoCo returns four or five of its points; they may leave out a side,
// and where meshes are apart, all have the gap of one. And the line of a cylinder on a face.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

inline constexpr int kMostCorners = 8;  ///< of a polygon that is returned
inline constexpr int kEdgeAlone = -1;   ///< in place of a number of contacts

/// The contacts at the corners of the polygon that faces of geoms a and b share: along the normal
/// of the face of a, with the gaps of their planes, within the margin; of more than kMostCorners,
/// or four if a is a cylinder, the corners that span the most. `found`: room for kMostCorners;
/// `shown`: the contacts that MuJoCo has found, along the normal of the first. Returns their
/// number; 0 where no faces are parallel to 2 mrad there, for other geoms, and where those shown
/// span more; kEdgeAlone where wide faces are parallel and share no strip wider than `narrow`, m.
int share_face(const mjModel* m, const mjData* d, int a, int b, double margin,
               const mjPreContact* shown, int count, mjPreContact* found, double narrow = 0.0);

/// The contacts of a cylinder or capsule whose side lies on a face of b, which has faces, to 2
/// mrad: the ends of their common line, within the margin. Where the line is an edge of the face,
/// as on a seam of two boxes, and the gap near 0, MuJoCo returns one point, whose normal is
/// rounding. `beside`: by which the line may lie beside the face, m. `found`: room for 2. Returns
/// their number; 0 where it does not lie.
int lie_on_face(const mjModel* m, const mjData* d, int cylinder, int b, double margin,
                const mjPreContact* shown, double beside, mjPreContact* found);

/// The contacts of a mesh that stands on a plane: the corners of the hull of its vertices that are
/// no higher than the lowest by 2 mrad of its size, within the margin; of more than kMostCorners
/// the lowest, or those that span the most. `found`: room for kMostCorners. Returns their number; 0
/// where they span no area.
int stand_on_plane(const mjModel* m, const mjData* d, int plane, int mesh, double margin,
                   mjPreContact* found);

}  // namespace stickslip::mujoco
