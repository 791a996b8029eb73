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

/// Whether the forces tell the derivative by this input.
bool forces_tell(const StepContext& step, const StepPoint& point, const Input& input);

/// Adds to forces.force and forces.dv what `by` of an input that the forces tell changes.
void add_force(const StepContext& step, StepPoint& point, const Input& input, double by);

/// Writes `change` of all solves with forces.force and forces.dv. Needs the state of the point in
/// d.
void change_by_forces(const StepContext& step, StepPoint& point);

/// The transpose of change_by_forces: writes dL/d(force) and dL/d(dv) of the loss and beta of all
/// solves to forces.force and forces.dv. Needs the state of the point in d.
void pull_back_to_forces(const StepContext& step, StepPoint& point);

/// The transpose of add_force: dL/d(input) by what pull_back_to_forces has written.
double pull_back_to_input(const StepContext& step, const StepPoint& point, const Input& input);

}  // namespace stickslip::mujoco
