// A step as a function of its inputs x (state, controls, parameters of the model) while its
// impulses r are fixed. The implicit function theorem needs no more of it:
//
//     v⁺(x, r)    next velocities
//     s(x, r) = (W + diag R) r + b        velocities of the rows (acceleration level:
//     accelerations)
//
// At velocity level, with M̂ and a_free of integrator.hpp and the rows of gather.hpp:
//     v⁺ = v + h a_free + M̂⁻¹ Jᵀ r
//     contacts:  s = J v⁺ + (J v of moving surfaces) + bias of the gap + R r
//     others:    s = J (v⁺ - v) - h aref + R r
// At acceleration level:
//     v⁺ = v + h A⁻¹ (qfrc_smooth + Jᵀ r),    s = J (qacc_smooth + M⁻¹ Jᵀ r) - aref + R r
#pragma once
#include <vector>

#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {

/// What a row of a problem is, so that it can be found among those of a state nearby.
struct RowKey {
  int type, id, part;  ///< part: of the constraints of this type and id; of a contact, its axis
  int geom[2], flex[2], elem[2], vert[2], dim;  ///< of contacts
  double position[3];                           ///< of contacts, m
  bool rigid;                                   ///< a contact at velocity level without softness
  bool normal;
  bool open;  ///< its gap counts, else it overlaps without recovery (contact_model.hpp)
};

struct StepValues {
  std::vector<double> velocity;  ///< [nv] v⁺, m/s
  std::vector<double> rows;      ///< [rows] s
  std::vector<double> mu;        ///< as in the problem
  std::vector<double> hi;        ///< [n_box] the upper bounds; the lower ones are minus these
};

/// A solve of the step whose impulses are known: that of the velocities, or the second one, which
/// recovers penetration and moves the positions (position.hpp).
struct KnownSolution {
  bool recovers = false;
  std::vector<double> impulse;  ///< [rows]
};

/// Memory of one thread for `evaluate`.
struct ValueScratch {
  std::vector<double> M, a_free, acceleration;
  std::vector<int> efc_of;
  std::vector<char> taken, known;
};

/// The rows of the problem in the step's slot, at the state of d.
void name_rows(const StepContext& step, std::vector<RowKey>& keys);

/// Finds the rows among those of d, a state nearby. False if one is missing.
bool find_rows(const mjData* d, const std::vector<RowKey>& keys, ValueScratch& scratch);

/// Needs `find_rows`, and MuJoCo's stages up to mj_fwdAcceleration in d. False if the integrator's
/// matrix is not positive definite.
bool evaluate(const StepContext& step, const std::vector<RowKey>& keys,
              const KnownSolution& solution, ValueScratch& scratch, StepValues& values);

/// How many limits and contacts (pyramids: edges) of d would act although they are no rows of the
/// problem: s < 0 at r = 0, or s_n < |mu s_t| with the law convex, with the velocity v⁺ of the
/// latest `evaluate`.
int count_left_out(const StepContext& step, ValueScratch& scratch, const double* velocity);

/// x += Jᵀ r, with the rows found last.
void add_forces(const mjData* d, const ValueScratch& scratch, const double* r, double* x);

/// x <- dv⁺/d(Jᵀ r) x: M̂⁻¹ x at velocity level, h A⁻¹ x at acceleration level; or `transposed`.
/// Needs `evaluate` at this state.
void velocity_response(const StepContext& step, bool transposed, double* x);

}  // namespace stickslip::mujoco
