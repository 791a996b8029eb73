// Numbers with which a step means nothing.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// Whether there is a NaN or a number beyond MuJoCo's limit of 1e10.
bool any_bad(const mjtNum* x, mjtSize n);

/// Whether qpos, qvel, act (or, `accelerations`, qacc) hold a NaN or a number beyond MuJoCo's
/// limit of 1e10.
bool bad_state(const mjModel* m, const mjData* d);
/// The same for what the caller sets: ctrl (for a bad number, MuJoCo sets all controls of the
/// environment to zero), poses of mocap bodies, and time.
bool bad_inputs(const mjModel* m, const mjData* d);
bool bad_acceleration(const mjModel* m, const mjData* d);
/// The same for the one that leads to the velocities v_end.
bool bad_acceleration_to(const mjModel* m, const mjData* d, const double* v_end);

}  // namespace stickslip::mujoco
