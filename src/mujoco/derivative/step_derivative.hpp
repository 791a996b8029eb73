// The derivatives of one environment's step (step_gradient.hpp).
#pragma once
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "src/mujoco/derivative/step_forces.hpp"
#include "src/mujoco/derivative/step_gradient.hpp"

namespace stickslip::mujoco {

/// A call: step_vjp has a loss and writes the gradient, step_jvp has a change and writes the
/// result, step_transition writes the matrices; `gradient` says of which inputs.
struct DerivativeJob {
  SimBatch* sim;
  const double* state;  ///< [num_envs][nstate]
  NextState<const double> loss;
  StepInputs<double> gradient;
  StepInputs<const double> change;
  NextState<double> result;
  Transition matrices;
  StepReport report;              ///< `unsolved` before the call
  std::vector<StepPoint> points;  ///< one for each slot
};

// Functions of MuJoCo's pool; arg is a DerivativeJob. If the problem needs more room, `misfit` is
// set and nothing is done.
void vjp_environment(const mjModel* m, mjData* d, int env, void* arg);
void jvp_environment(const mjModel* m, mjData* d, int env, void* arg);
void transition_environment(const mjModel* m, mjData* d, int env, void* arg);

/// How far the derivatives can be trusted: those by qpos, and the others.
struct Validity {
  GradientStatus status = GradientStatus::valid, qpos_status = GradientStatus::valid;
  double kink_distance = std::numeric_limits<double>::infinity(), inconsistency = 0;

  void note(Smoothness smoothness, Input::Kind input);
  void note(GradientStatus solve, double its_kink_distance, double its_inconsistency);
  void write(const StepReport& to, int env) const;
};

/// Repeats the step up to its solution. False if it has no derivatives.
bool open_step(const DerivativeJob& job, StepContext& step, StepPoint& point, Validity& validity);

/// Puts the problem and the solution of one of the step's solves into the step's slot.
void enter_solve(const StepContext& step, const StepPoint& point, const SolveDerivative& solve);

template <class T>
T* row_of(T* array, int env, std::int64_t size) {
  return array ? array + env * size : nullptr;
}

inline bool finite(const double* values, std::int64_t size) {
  for (std::int64_t i = 0; values && i < size; ++i)
    if (!std::isfinite(values[i])) return false;
  return true;
}

/// Calls visit(value, input, told) for every number of the inputs: `change` was written by
/// differences, unless it is `told` by the forces. `begin()` is called before, at the point. A
/// change of nothing is passed over.
template <class T, class Begin, class F>
void for_inputs(StepContext& step, StepPoint& point, const StepInputs<T>& inputs,
                Validity& validity, Begin&& begin, F&& visit) {
  const auto go_through = [&](Input input, T* values, int size) {
    values = row_of(values, step.env, size);
    for (input.i = 0; values && input.i < size; ++input.i) {
      if (std::is_const_v<T> && values[input.i] == 0) continue;
      const bool told = forces_tell(step, point, input);
      if (!told) validity.note(difference(step, point, input), input.kind);
      visit(values[input.i], input, told);
    }
  };
  const int nu = int(step.m->nu), nv = int(step.m->nv);
  point.forces.exact = false;
  if (inputs.ctrl || inputs.qvel) find_forces(step, point);
  if (point.forces.exact) begin();
  go_through({Input::ctrl, 0}, inputs.ctrl, nu);
  go_through({Input::qvel, 0}, inputs.qvel, nv);
  go_through({Input::qpos, 0}, inputs.qpos, nv);
  for (const FieldArray<T>& given : inputs.fields) {
    const ModelField& field = find_field(given.field);
    point.changed.copy(step.sim->model, step.m);
    go_through({Input::field, 0, &field}, given.values, field.size(step.m));
  }
}

}  // namespace stickslip::mujoco
