// The poses in which a step begins, for excursions to its end: kinematics are the most expensive
// part of an excursion, so the way back copies what they wrote.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

namespace stickslip::mujoco {

/// Reused from step to step.
class BeginPoses {
 public:
  /// Keeps the positions of d and all poses that mj_kinematics computes from them.
  void keep(const mjModel* m, mjData* d);

  /// Puts them back into d; mocap bodies return to where the step began.
  void restore(const mjModel* m, mjData* d) const;

  const mjtNum* qpos() const { return numbers_.data(); }  ///< [nq]
  const mjtNum* geom_xpos(int geom) const { return &numbers_[geom_xpos_ + 3 * geom]; }
  const mjtNum* geom_xmat(int geom) const { return &numbers_[geom_xmat_ + 9 * geom]; }

 private:
  std::vector<mjtNum> numbers_;
  std::size_t geom_xpos_ = 0, geom_xmat_ = 0;
};

/// Moves d from the positions that are kept, q, to q ⊕ h v (mj_integratePos), and the mocap bodies
/// to the end of the step; with mj_kinematics.
void go_to_end_of_step(const mjModel* m, mjData* d, const BeginPoses& begin, const mjtNum* v);

}  // namespace stickslip::mujoco
