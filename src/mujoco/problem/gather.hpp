// From MuJoCo's constraints to a problem of this library, and back (docs/mathematics.md §1).
//
// Acceleration level (law convex), MuJoCo's own soft problem, r in N:
//     W = J M⁻¹ Jᵀ       b = J qacc_smooth - aref                       R = efc_R
// Velocity level (exact laws), r in N s, with M̂ and a_free of integrator.hpp, v_free = v + h
// a_free:
//     W = J M̂⁻¹ Jᵀ       contacts: b = J v_free + gap and impact        R = 0, or the compliance
//                        others:   b = J v_free - J v - h aref          R = efc_R
//
// With MuJoCo's softness, the normals of contacts are treated like the other rows.
#pragma once
#include <mujoco/mujoco.h>

#include "src/mujoco/contacts/step_contacts.hpp"
#include "src/mujoco/problem/integrator.hpp"
#include "stickslip/contact_model.hpp"
#include "stickslip/types.hpp"

namespace stickslip::mujoco {

enum class Level { acceleration, velocity };

/// How rows are formed.
struct Formulation {
  Level level = Level::velocity;
  bool model_softness = false;  ///< of contacts, at velocity level
};

/// The coefficient of friction of an axis 1 ... dim - 1 of a contact. At velocity level it is 0
/// where it is MuJoCo's mjMINMU, which stands for 0, or less than a thousandth of that of the other
/// sliding direction: circular coordinates have the first one as their unit, in which others would
/// be thousands of times too large. But for frictionless contacts, which have mjMINMU along all
/// axes.
double friction_of(const mjContact& contact, int axis, Level level);

/// One environment's part of the batch: nefc rows in the order of row_map.hpp.
struct EnvSlot {
  RowCounts* counts;
  int* dims;                     // [n_contacts]
  double *b, *mu, *R, *lo, *hi;  // [rows], mu [sum(dims - 1)], lo, hi [n_box]
  double* free_velocity;         // [rows] of contacts: J v_free, m/s (velocity level)
  int *J_row, *J_col;            // J in compressed rows (stickslip/sparse_mechanism.hpp)
  double* J;
  double* M;           // [nC] (M̂ at velocity level)
  MassFactor* factor;  // of it
  double* a_free;      // [nv]
  double* start;       // [nv] acceleration level: MuJoCo's warm start minus a_free
  int* efc_of;         // [rows] MuJoCo's row of each of ours
};

/// The part of `slot` that does not depend on rows, from the stage before the solver; at velocity
/// level also qacc_smooth = a_free. False if the integrator's matrix is not positive definite.
bool gather_motion(const mjModel* m, mjData* d, Level level, const EnvSlot& slot);

/// The rows (without W); at velocity level, those of `contacts` that are included. Returns
/// their number. `write_biases` writes the biases of rigid contacts.
int gather_rows(const mjModel* m, const mjData* d, const Formulation& formulation,
                const StepContacts* contacts, const EnvSlot& slot);

/// b of the contacts' normals, with a fraction of their restitution.
void write_biases(const mjModel* m, const mjData* d, const StepContacts& contacts, double share,
                  const EnvSlot& slot);

/// v <- v_free + M̂⁻¹ Jᵀ r, the velocity after the impulses r [rows].
void velocity_after(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows,
                    const double* r, double* v);

/// Writes the solution back: efc_force, zero for rows of MuJoCo that are not in the problem.
void scatter(const mjModel* m, mjData* d, Level level, const int* efc_of, int rows,
             const double* impulse);

/// qfrc_constraint = Jᵀ efc_force, and the acceleration with it:
///     acceleration level:  qacc = M⁻¹ (qfrc_smooth + qfrc_constraint)
///     velocity level:      qacc = a_free + M̂⁻¹ qfrc_constraint = (v⁺ - v) / h
void apply_forces(const mjModel* m, mjData* d, Level level);

}  // namespace stickslip::mujoco
