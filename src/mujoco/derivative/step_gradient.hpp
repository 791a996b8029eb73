// Derivatives of time steps: of (qpos, qvel) after a step by what it starts from.
//
// With r(b, ...) the solution of the step's contact problem, and v⁺(x, r), s(x, r) of
// step_values.hpp, a loss with the derivatives g by v⁺ has
//
//     dL/dx = g · ∂v⁺/∂x + β · ∂s/∂x + dL/dmu · ∂mu/∂x + ...,     β = dL/db of the loss (∂v⁺/∂r)ᵀ g
//
// β comes from one linear system (solve_vjp; for a step solved in velocities, solve_convex_vjp).
// ∂/∂x at fixed r need no solves: they come from MuJoCo's derivatives of the smooth forces
// (step_forces.hpp), or are differences of its stages, which are smooth (step_differences.hpp).
#pragma once
#include <string>
#include <vector>

#include "stickslip/gradient.hpp"

namespace stickslip::mujoco {

struct SimBatch;

/// A field of mjModel: geom_friction, body_mass, body_inertia.
template <class T>
struct FieldArray {
  std::string field;
  T* values = nullptr;  ///< [num_envs][size]
};

/// What a step starts from; null: absent.
template <class T>
struct StepInputs {
  T* ctrl = nullptr;  ///< [num_envs][nu]
  T* qvel = nullptr;  ///< [num_envs][nv]
  T* qpos = nullptr;  ///< [num_envs][nv] in the tangent space, as mj_integratePos moves positions
  std::vector<FieldArray<T>> fields;
};

/// [num_envs][nv], qpos in its tangent space after the step; null: absent.
template <class T>
struct NextState {
  T *qpos = nullptr, *qvel = nullptr;
};

/// [num_envs] each, as in GradientReport; qpos_status is that of the derivatives by qpos.
struct StepReport {
  GradientStatus* status = nullptr;
  double *kink_distance = nullptr, *inconsistency = nullptr;
  GradientStatus* qpos_status = nullptr;
};

/// The next state's derivatives, row by row, as mjd_transitionFD orders states without activations:
/// qpos, in its tangent spaces, then qvel.
struct Transition {
  double* A = nullptr;  ///< [num_envs][2 nv][2 nv], by the state
  double* B = nullptr;  ///< [num_envs][2 nv][nu], by the controls
};

/// BatchSim::step_vjp, step_jvp and step_transition.
void step_vjp(SimBatch& sim, const double* state, const NextState<const double>& loss,
              const StepInputs<double>& gradient, const StepReport& report);
void step_jvp(SimBatch& sim, const double* state, const StepInputs<const double>& change,
              const NextState<double>& result, const StepReport& report);
void step_transition(SimBatch& sim, const double* state, const Transition& result,
                     const StepReport& report);

}  // namespace stickslip::mujoco
