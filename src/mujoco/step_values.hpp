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

#include "src/mujoco/batch_impl.hpp"

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

/// A step whose impulses are known.
struct KnownStep {
  std::vector<RowKey> keys;     ///< [rows]
  std::vector<double> impulse;  ///< [rows]
};

struct StepValues {
  std::vector<double> velocity;  ///< [nv] v⁺, m/s
  std::vector<double> rows;      ///< [rows] s
  std::vector<double> mu;        ///< as in the problem
  std::vector<double> hi;        ///< [n_box] the upper bounds; the lower ones are minus these
};

/// Memory of one thread for `evaluate`.
struct ValueScratch {
  std::vector<double> M, a_free, force, acceleration;
  std::vector<int> efc_of;
  std::vector<char> taken;
};

/// The step whose problem and solution are in p's slot, at the state of d.
void know_step(BatchSim::Impl& sim, const mjData* d, const Passage& p, KnownStep& step);

/// Finds the step's rows among those of d, a state nearby. False if one is missing.
bool find_rows(const mjData* d, const KnownStep& step, ValueScratch& scratch);

/// Needs `find_rows`, and MuJoCo's stages up to mj_fwdAcceleration in d. False if the integrator's
/// matrix is not positive definite.
bool evaluate(BatchSim::Impl& sim, const mjModel* m, mjData* d, const Passage& p,
              const KnownStep& step, ValueScratch& scratch, StepValues& values);

/// x <- dv⁺/d(Jᵀ r) x: M̂⁻¹ x at velocity level, h A⁻¹ x at acceleration level; or `transposed`.
/// Needs `evaluate` at this state.
void respond(const BatchSim::Impl& sim, const mjModel* m, mjData* d, bool transposed, double* x);

}  // namespace stickslip::mujoco
