// How the values of a known step (step_values.hpp) change with its inputs, by central differences
// of MuJoCo's stages. No solve is repeated.
#pragma once
#include <vector>

#include "src/mujoco/step_values.hpp"

namespace stickslip::mujoco {

enum class Input { ctrl, qvel, qpos };

/// A step that is differentiated, and the memory of one thread for it.
struct StepPoint {
  KnownStep step;
  StepValues base, plus, minus;
  StepValues change;  ///< the latest derivative, per unit of the input
  ValueScratch scratch;
  std::vector<double> ctrl, qvel, qpos, direction;
  // For the derivatives of the contact problem:
  std::vector<double> loss, beta, mu, lo, hi, velocity, rows;
};

/// Takes the state of d, and the values there.
bool open_point(BatchSim::Impl& sim, const mjModel* m, mjData* d, const Passage& p,
                StepPoint& point);

enum class Smoothness {
  smooth,
  kink,    ///< the values have a kink or a jump here: a one-sided or mean derivative
  unknown  ///< a row of the problem is missing on both sides
};

/// Writes `point.change` by number i of an input. Call it for all of ctrl before qvel, and qvel
/// before qpos: a stage of MuJoCo is computed again only if it depends on the input.
Smoothness difference(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p,
                      StepPoint& point, Input input, int i);

/// Back to the state of `open_point`, with all stages of MuJoCo and the integrator's matrix.
void return_to_point(BatchSim::Impl& sim, const mjModel* m, mjData* d, Passage& p,
                     StepPoint& point);

}  // namespace stickslip::mujoco
