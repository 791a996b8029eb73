// The velocity with which the second surface of a contact moves along the first (geom_surfacevel):
// along both tangents, and the spin. Contacts of MuJoCo 4.0 have it; before, rows alone had.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// Of a contact as MuJoCo or `set_surface_velocity` left it.
void surface_velocity(const mjModel* m, const mjData* d, const mjContact& c, double velocity[3]);

/// For a contact of two geoms that has been moved.
void set_surface_velocity(const mjModel* m, const mjData* d, mjContact& c);

}  // namespace stickslip::mujoco
