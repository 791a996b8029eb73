// mj_RungeKutta(m, d, 4) recomposed, so that each of its four accelerations comes from one of our
// solves:
//     X_i = X_0 ⊕ h A_i (v, a)_(i-1)      A = 1/2, 1/2, 1
//     X'  = X_0 ⊕ h Σ B_i (v, a)_i        B = 1/6, 1/3, 1/3, 1/6
// where a state is X = (qpos, qvel, act). The angular velocities ω of ball and free joints are
// transported to X_0 before they are weighted (Runge-Kutta-Munthe-Kaas): with the rotation vector θ
// from X_0 to X_i, stage i contributes dexp⁻¹(θ) ω, which makes the orientations fourth-order
// accurate.
#pragma once
#include <mujoco/mujoco.h>

#include <cstddef>
#include <vector>

namespace stickslip::mujoco {

inline constexpr int kRk4Stages = 4;

/// The stages of one environment.
struct Rk4Slot {
  double* X0;                    ///< [nq + nv + na]
  double* velocity[kRk4Stages];  ///< [nv] of each stage, transported to X_0
  double* rate[kRk4Stages];      ///< [nv + na] qacc and act_dot of each stage
  double* time;                  ///< at the beginning of the step
};

class Rk4Memory {
 public:
  Rk4Memory(const mjModel* m, int num_envs);
  Rk4Slot slot(int env);

 private:
  std::size_t state_, velocity_, rate_, stride_;
  std::vector<double> memory_;
};

/// Stores the state at the beginning of the step.
void rk4_begin(const mjModel* m, const mjData* d, const Rk4Slot& slot);
/// Restores the state at the beginning of the step.
void rk4_restore(const mjModel* m, mjData* d, const Rk4Slot& slot);
/// Stores the accelerations of stage `i`, which are in d.
void rk4_record(const mjModel* m, const mjData* d, const Rk4Slot& slot, int i);
/// Writes the state of stage `i` >= 1 to d.
void rk4_enter(const mjModel* m, mjData* d, const Rk4Slot& slot, int i);
/// Advances d from X_0 by the weighted stages.
void rk4_advance(const mjModel* m, mjData* d, const Rk4Slot& slot);

}  // namespace stickslip::mujoco
