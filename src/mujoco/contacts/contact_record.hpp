// A contact as users see it.
#pragma once
#include <array>

namespace stickslip::mujoco {

/// One contact of the latest step, in MuJoCo's frame: rows normal, tangent 1, tangent 2; the
/// normal points from geom[0] to geom[1].
struct ContactRecord {
  std::array<double, 3> position;  ///< m, where it acts: of an open one, where and when it closes
  std::array<double, 9> frame;
  std::array<double, 6> force;  ///< N and N m, in `frame`; the impulse is the time step times it
  double gap;                   ///< m, negative in penetration; rigid: minus the model's margin
  bool active;                  ///< it touches, or has a force; else it only might have closed
  int dim;
  std::array<int, 2> geom;
  std::array<double, 5> friction;  ///< of the first tangent, the second, ... (dim - 1)
};

}  // namespace stickslip::mujoco
