// How the values of a known step (step_values.hpp) change with its inputs, by central differences
// of MuJoCo's stages. No solve is repeated.
#pragma once
#include <array>
#include <vector>

#include "src/mujoco/derivative/step_fields.hpp"
#include "src/mujoco/derivative/step_values.hpp"

namespace stickslip::mujoco {

struct Input {
  enum Kind { ctrl, qvel, qpos, field } kind;
  int i;                              ///< which number of it
  const ModelField* which = nullptr;  ///< of the kind `field`
};

/// A solve of the step and its derivatives.
struct SolveDerivative {
  KnownSolution known;
  StepValues base, plus, minus;                ///< at the point, and on both sides of it
  StepValues change;                           ///< the latest derivative, per unit of the input
  std::vector<double> loss, beta, mu, lo, hi;  ///< step_vjp: dL/dv⁺; dL/db and so on
  std::vector<double> velocity, rows;          ///< step_jvp: dv⁺; the change of the rows
  std::int32_t redundant;                      ///< step_vjp: rows depend on each other
};

/// Derivatives of the smooth forces (step_forces.hpp).
struct SmoothForces {
  bool exact;                   ///< they tell the derivatives of the step
  std::vector<double> by_ctrl;  ///< [nu] of each actuator's force
  std::vector<double> by_qvel;  ///< [nv][nv] of qfrc_smooth, by one velocity after the other
  std::vector<double> force, dv, ctrl, qvel;  ///< memory
};

/// A step that is differentiated, and the memory of one thread for it.
struct StepPoint {
  const double* state;
  std::vector<RowKey> keys;
  /// The second one exists if the step recovers penetration: then it moves the positions.
  SolveDerivative velocities, positions;
  bool recovers;
  int left_out;  ///< limits and contacts outside the problem that would act
  SmoothForces forces;
  ValueScratch scratch;
  ChangedModel changed;
  std::vector<double> ctrl, qvel, qpos, direction;
  std::vector<std::array<StepValues, 2>> columns;  ///< step_transition: of both solves, by input

  template <class F>
  void for_solves(F&& f) {
    f(velocities);
    if (recovers) f(positions);
  }
  /// The solve whose velocities move the positions.
  SolveDerivative& mover() { return recovers ? positions : velocities; }
};

/// Whether the values are smooth at a point.
enum class Smoothness {
  smooth,
  kink,    ///< a kink or a jump, as of a limited force: a one-sided or mean derivative
  unknown  ///< a row of the problem is missing on both sides
};

/// Writes `change` of all solves. Call it for all of ctrl first, then qvel, qpos, fields: stages of
/// MuJoCo are computed again only if they depend on the input.
Smoothness difference(StepContext& step, StepPoint& point, const Input& input);

/// Whether a control stays in its range when it moves by `by` from the point. It has no effect
/// beyond.
bool may_move(const mjModel* m, const StepPoint& point, int i, double by);

/// Takes the state of d, which has all stages of MuJoCo.
void take_point(const mjModel* m, const mjData* d, StepPoint& point);

/// Back to it, with all stages and the integrator's matrix.
void return_to_point(StepContext& step, StepPoint& point);

}  // namespace stickslip::mujoco
