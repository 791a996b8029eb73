// Derivatives of a step by controls and velocities from those of its smooth forces: MuJoCo's own,
// qDeriv, and those of the actuators. While neither A nor M̂ (integrator.hpp) depends on them,
//
//     ∂v⁺ = dv + h A⁻¹ ∂qfrc_smooth,     ∂s as in step_values.hpp, with ∂aref = -B J dv
//
// MuJoCo leaves some forces out of qDeriv, and a velocity may be in A: the derivative of the step
// in one direction, by differences, shows whether this holds.
#pragma once
#include "src/mujoco/derivative/step_differences.hpp"

namespace stickslip::mujoco {

/// Writes point.forces. Needs the state of the point in d, and leaves it there.
void find_forces(StepContext& step, StepPoint& point);

/// Writes `change` of all solves: by the forces where they tell it, else by differences. As for
/// `difference`, all of ctrl come first, then qvel.
Smoothness differentiate(StepContext& step, StepPoint& point, const Input& input);

}  // namespace stickslip::mujoco
