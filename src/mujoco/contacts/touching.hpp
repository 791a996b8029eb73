// Contacts found ahead, across a gap. They are part of the solve, because they may close within the
// step, but nothing touches yet: MuJoCo's adhesion, transmissions and sensors must not see them
// until there is an impulse. Where one closes, it acts on the surfaces of both geoms, which are
// then in one place; MuJoCo's point is in the middle of the gap.
#pragma once
#include <mujoco/mujoco.h>

#include "src/mujoco/contacts/step_contacts.hpp"

namespace stickslip::mujoco {

/// Between mj_collision and mj_makeConstraint: contacts within the model's own `gap` adhere without
/// friction, as in MuJoCo; others that do not touch do not adhere.
void limit_adhesion(mjData* d, const StepContacts& contacts);

/// After mj_makeConstraint, before mj_transmission: hides contacts that do not touch from actuators
/// that adhere.
void hide_ahead(mjData* d, const StepContacts& contacts);

/// Moves the tangential rows of open contacts of the solve to the surfaces of their geoms, and
/// `efc_vel` with them, if they are not there yet.
void act_on_surfaces(const mjModel* m, mjData* d, StepContacts& contacts);

/// The point on the surface of either geom (side 0, 1) of a contact with its point in the middle.
void surface_point(double* point, const double* middle, const double* normal, double gap, int side);

/// After the solve: its contacts that touch, or have an impulse, come first in d and in `contacts`,
/// and d->ncon is their number; the others follow in memory. Finds their `place`.
void sort_touching(const mjModel* m, mjData* d, StepContacts& contacts);

/// Moves the contacts of d to where MuJoCo's sensors look for them: to their place, or to the
/// surface of a geom whose body has touch sensors. Those that MuJoCo computed before the solver,
/// when it was not known which contacts touch, are computed again.
void show_to_sensors(const mjModel* m, mjData* d, StepContacts& contacts);

/// Moves them back. Adds contacts whose bodies both have touch sensors to those of the second.
void hide_from_sensors(const mjModel* m, mjData* d, const StepContacts& contacts);

}  // namespace stickslip::mujoco
