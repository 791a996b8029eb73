// From MuJoCo's constraints to a problem of this library, and back (docs/mathematics.md §1).
//
// Acceleration level (law convex), MuJoCo's own soft problem, r in N:
//     W = J M⁻¹ Jᵀ       b = J qacc_smooth - aref                       R = efc_R
// Velocity level (exact laws), r in N s, with M̂ and a_free of integrator.hpp, v_free = v + h
// a_free:
//     W = J M̂⁻¹ Jᵀ       contacts: b = J v_free + gap and impact        R = 0, or the compliance
//                        others:   b = J v_free - J v - h aref          R = efc_R
#pragma once
#include <mujoco/mujoco.h>

#include "src/mujoco/integrator.hpp"
#include "stickslip/contact_model.hpp"
#include "stickslip/types.hpp"

namespace stickslip::mujoco {

enum class Level { acceleration, velocity };

/// One environment's part of the batch: nefc rows in the order of row_map.hpp.
struct EnvSlot {
  EnvShape* shape;
  int* dims;                     // [n_contacts]
  double *b, *mu, *R, *lo, *hi;  // [rows], mu [sum(dims - 1)], lo, hi [n_box]
  int *J_row, *J_col;            // J in compressed rows (stickslip/sparse_mechanism.hpp)
  double* J;
  double* M;           // [nC] (M̂ at velocity level)
  MassFactor* factor;  // of it
  double* a_free;      // [nv]
  double* start;       // [nv] acceleration level: MuJoCo's warm start less a_free
  int* efc_of;         // [rows] MuJoCo's row of each of ours
};

/// Writes all of `slot` (but W) from the stage before the solver. False where the integrator's
/// matrix is not positive definite.
bool gather(const mjModel* m, mjData* d, Level level, const ContactModel& contact,
            const EnvSlot& slot);

/// Writes the solution back: efc_force.
void scatter(const mjModel* m, mjData* d, Level level, const int* efc_of, const double* impulse);

/// qfrc_constraint = Jᵀ efc_force and qacc = M⁻¹ (qfrc_smooth + qfrc_constraint).
void apply_forces(const mjModel* m, mjData* d);

}  // namespace stickslip::mujoco
