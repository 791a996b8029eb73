// Velocities of mocap bodies, which the caller moves. MuJoCo takes them for bodies at rest in a new
// place; here they move during the step, from the pose at its beginning to the one that was set,
// and contacts and the search for contacts know how, or as the caller says.
//
// What is remembered is at the end of mjData's userdata, and so a part of MuJoCo's state: a restart
// from a saved state has the same bits, and a reset clears it.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// Speeds above these, m/s and rad/s, are those of a jump to a new place: the velocity is 0.
inline constexpr double kFastestShift = 20.0, kFastestTurn = 100.0;

inline constexpr int kTwist = 6;  ///< numbers of a velocity: linear, angular, in the world's frame

/// Makes room in the model, before it has any mjData, and after all others that do.
void remember_mocap(mjModel& m);

/// Offset of the velocities [nmocap][kTwist] in the userdata.
int offset_of_mocap_velocity(const mjModel* m);

/// Begins a step: finds the velocities with which the bodies reach the poses that were set before
/// the call, and puts them where they are now. `first_of`: the number of steps of a call, if this
/// is its first; else 0. A single step that is made again needs no number.
void begin_mocap(const mjModel* m, mjData* d, int first_of);

/// Ends it: the bodies are where they have moved.
void end_mocap(const mjModel* m, mjData* d);

/// Whether a velocity is a NaN or beyond MuJoCo's limit.
bool bad_mocap_velocity(const mjModel* m, const mjData* d);

/// Adds the motion of mocap bodies to `cvel` of the bodies that are attached to them. (The smooth
/// forces on their joints do not know it, as in MuJoCo.)
void move_mocap_bodies(const mjModel* m, mjData* d);

/// Velocity of the second side of a contact relative to the first that mocap bodies cause, in the
/// contact's frame: linear, angular. False: none.
bool carried_apart(const mjModel* m, const mjData* d, const mjContact& c, mjtNum* local);

/// Adds it to `efc_vel` and `efc_aref` of contacts.
void move_mocap_contacts(const mjModel* m, mjData* d);

/// Puts the bodies where the step began, or where it ends.
void return_mocap(const mjModel* m, mjData* d);
void advance_mocap(const mjModel* m, mjData* d);

}  // namespace stickslip::mujoco
