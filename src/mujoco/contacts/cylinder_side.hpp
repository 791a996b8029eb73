// Contacts of the round side of a cylinder or capsule. Near gap 0, MuJoCo's search may find a
// normal that is wrong by degrees where the side touches an edge, and one point where it touches
// along a line; for a capsule parallel to an edge of a mesh, it finds the normal of a face. The
// axis is far from what touches the side: the same search of the capsule around the cylinder, which
// MuJoCo shrinks to its axis, finds the direction to rounding.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// The contacts of geoms a, a cylinder or capsule, and b, one too, or a box or mesh, within the
/// margin, with capsules in place of cylinders. `on_side`: whether they are those of the cylinders.
/// Where an end of an axis is nearest, a rim or a cap touches, and only the direction may be of
/// use. `found`: room for mjMAXCONPAIR. Returns their number, 0 for other geoms.
int meet_side(const mjModel* m, mjData* d, int a, int b, double margin, mjPreContact* found,
              bool& on_side);

/// The contacts at the ends of the line where the side of a cylinder or capsule meets an edge of b,
/// which has faces, parallel to the axis to 2 mrad, within the margin. `shown`: their contact.
/// `found`: room for 2. Returns their number; 0 where there is no such edge, or it is not the side
/// that touches.
int lie_on_edge(const mjModel* m, const mjData* d, int cylinder, int b, double margin,
                const mjPreContact& shown, mjPreContact* found);

/// The contacts at the ends of the line along which two cylinders or capsules lie side by side,
/// whose axes are parallel to 2 mrad, within the margin; where they are exactly parallel, MuJoCo
/// has both. With one alone, what has sunk in rocks about it and sinks on. `shown` and `found`: as
/// above. Returns their number; 0 where they do not lie so, or are nearest between the ends, and
/// for other geoms.
int lie_along(const mjModel* m, const mjData* d, int a, int b, double margin,
              const mjPreContact& shown, mjPreContact* found);

}  // namespace stickslip::mujoco
