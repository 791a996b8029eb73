// mj_step (MuJoCo 4.0, engine_forward.c) cut open at its constraint solver, so that the solver can
// be this library's. Between `forward_to_solver` and `after_solver`, somebody writes qacc,
// qfrc_constraint and efc_force.
#pragma once
#include <mujoco/mujoco.h>

#include "src/mujoco/look_ahead.hpp"
#include "src/mujoco/step_contacts.hpp"

namespace stickslip::mujoco {

/// mj_fwdPosition with contacts that are looked for ahead: their gaps, all marked as solved. Also
/// computes `cvel`, as MuJoCo's velocity stage does again.
void forward_position_ahead(const mjModel* m, mjData* d, const LookAhead& look_ahead,
                            Margins& margins, StepContacts& contacts);

/// mj_forward after mj_fwdPosition, up to mj_fwdAcceleration. `sensors` false leaves out sensors
/// and energies, as MuJoCo does in the later stages of Runge-Kutta.
void forward_velocities(const mjModel* m, mjData* d, bool sensors);

/// What mj_forward and mj_step do after the solver, short of the integrator.
void after_solver(const mjModel* m, mjData* d);

/// Whether qpos, qvel, act (or, `accelerations`, qacc) hold a NaN or a number beyond MuJoCo's
/// limit of 1e10.
bool bad_state(const mjModel* m, const mjData* d);
/// The same for ctrl, whose bad numbers MuJoCo takes for zero, with all others of the environment.
bool bad_controls(const mjModel* m, const mjData* d);
bool bad_acceleration(const mjModel* m, const mjData* d);

}  // namespace stickslip::mujoco
