// Bodies with more contacts than freedoms, and how they change with a parameter.
#pragma once
#include "tests/support/scene.hpp"

namespace stickslip::support {

/// What a parameter t changes; at t = 0 all give the same problem.
enum class Changing { mass, friction, push, places };

/// Sets inverse mass and inertia of a box with these half sides.
inline void set_box(Scene& scene, int body, double mass, const Eigen::Vector3d& half) {
  const Eigen::Vector3d square = half.cwiseProduct(half);
  scene.inverse_mass.segment<3>(6 * body).setConstant(1.0 / mass);
  scene.inverse_mass.segment<3>(6 * body + 3) =
      (mass / 3.0 * (Eigen::Vector3d::Constant(square.sum()) - square)).cwiseInverse();
}

/// A block of 1 kg between two fingers that are pushed together, nine contacts on each.
inline Problem gripper(Changing what, double t) {
  Scene scene = empty_scene(3, 18);
  set_box(scene, 0, 0.5, {0.05, 0.05, 0.05});
  set_box(scene, 1, 2.0 / (1.0 + (what == Changing::mass ? t : 0.0)), {0.02, 0.06, 0.06});
  set_box(scene, 2, 5.0, {0.02, 0.06, 0.06});
  int k = 0;
  for (const int finger : {1, 2}) {
    const double side = finger == 1 ? -1.0 : 1.0;
    for (const double y : {-0.04, 0.0, 0.04}) {
      for (const double z : {-0.04, 0.0, 0.04}) {
        const double moved = what == Changing::places ? t * std::sin(7.0 * k) : 0.0;
        const Eigen::Vector3d at(0.05 * side, y + moved, z - 2.0 * moved);
        const Eigen::Vector3d from(-0.02 * side, at.y(), at.z());
        add_contact(scene, k++, {-side, 0.0, 0.0}, 0, at, finger, from);
      }
    }
  }
  scene.v_free[6] = 1.0;
  scene.v_free[12] = -1.0;
  scene.v_free.segment<3>(3) << 0.1, 0.2, 0.3;
  scene.v_free.segment<3>(9) << 0.2, -0.5, 0.4;
  if (what == Changing::push) scene.v_free.segment<3>(14) += t * Eigen::Vector3d(0.1, 0.3, 0.2);
  scene.problem.mu.setConstant(0.5 + (what == Changing::friction ? t : 0.0));
  form_problem(scene);
  return scene.problem;
}

/// A box in a groove, which it slides along and in which it turns a little: four contacts on each
/// side, with directions that differ in mobility.
inline Problem groove(Changing what, double t) {
  Scene scene = empty_scene(1, 8);
  set_box(scene, 0, 1.0, {0.5, 0.3, 0.4});
  if (what == Changing::mass) scene.inverse_mass[1] *= 1.0 + t;
  if (what == Changing::mass) scene.inverse_mass[5] *= 1.0 + 2.0 * t;
  int k = 0;
  for (const double side : {-1.0, 1.0}) {
    const Eigen::Vector3d normal(-0.6 * side, 0.0, 0.8), along(0.8 * side, 0.0, 0.6);
    for (const double y : {-0.4, 0.35}) {
      for (const double up : {-0.05, 0.07}) {
        Eigen::Vector3d at = Eigen::Vector3d(0.35 * side, y, -0.35) + up * along;
        if (what == Changing::places) at.y() += t * std::sin(7.0 * k);
        add_contact(scene, k++, normal, 0, at, -1, {});
      }
    }
  }
  scene.v_free << 0.02, 0.8, -1.0, 0.05, 0.01, 0.02;
  if (what == Changing::push)
    scene.v_free += t * (Vector(6) << 0.1, 1, 0.3, 0.2, 0.1, 1).finished();
  scene.problem.mu.setConstant(0.2 + (what == Changing::friction ? t : 0.0));
  form_problem(scene);
  return scene.problem;
}

}  // namespace stickslip::support
