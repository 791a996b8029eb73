// mj_step (MuJoCo 4.0, engine_forward.c) divided at its constraint solver, so that this library can
// be the solver. Between `forward_to_solver` and `after_solver`, the caller writes qacc,
// qfrc_constraint and efc_force.
#pragma once
#include <mujoco/mujoco.h>

#include "src/mujoco/contacts/contact_models.hpp"
#include "src/mujoco/contacts/look_ahead.hpp"
#include "src/mujoco/contacts/step_contacts.hpp"
#include "src/mujoco/problem/gather.hpp"

namespace stickslip::mujoco {

/// mj_fwdPosition with the look-ahead search for contacts: their gaps, all included. Also
/// computes `cvel`, which MuJoCo's velocity stage computes again, and does not factorise M.
void forward_position_ahead(const mjModel* m, mjData* d, int env, const LookAhead& look_ahead,
                            const ContactModels& models, Separations& separations, Margins& margins,
                            StepContacts& contacts);

/// mj_fwdAcceleration; at velocity level qfrc_smooth alone, because the integrator's matrix, not M,
/// turns it into velocities (problem/integrator.hpp).
void smooth_forces(const mjModel* m, mjData* d, Level level);

/// mj_forward after mj_fwdPosition, up to `smooth_forces`. With `sensors` false, sensors and
/// energies are left out, as MuJoCo does in the later stages of Runge-Kutta.
void forward_velocities(const mjModel* m, mjData* d, Level level, bool sensors);

/// What mj_forward and mj_step do after the solver, except the integrator.
void after_solver(const mjModel* m, mjData* d);

/// The number of islands for which MuJoCo reports its solver's iterations.
int reported_islands(const mjData* d);

/// What MuJoCo reports of its solver's last iterations, the largest of all islands: the gradient of
/// its cost divided by the mean inertia and nv, m/s²; with PGS and noslip the last improvement.
double reported_residual(const mjModel* m, const mjData* d);

}  // namespace stickslip::mujoco
