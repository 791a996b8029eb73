// Rigid bodies in contact, as matrices for a solver.
#pragma once
#include "tests/reference/reference.hpp"

namespace stickslip::support {

using reference::Matrix;
using reference::Problem;
using reference::Vector;

/// A mechanism and the resulting contact problem: W = J M^-1 J^T, b = J v_free.
struct Scene {
  Vector inverse_mass;  ///< [nv], the diagonal of M^-1
  Matrix J;             ///< [rows][nv]
  Vector v_free;        ///< [nv]
  Problem problem;
};

/// Computes W and b of `scene.problem` from the rest. Plain loops: the bits do not depend on how a
/// library vectorises, and W is exactly symmetric.
void form_problem(Scene& scene);

/// Row k of J for an impulse along `direction` at the offset `arm` from the centre of body `body`;
/// `sign` -1 for the body that is pushed back.
void add_row(Scene& scene, int k, int body, const Eigen::Vector3d& direction,
             const Eigen::Vector3d& arm, double sign);

/// Rows 3k, 3k + 1, 3k + 2: a contact of dimension 3 that pushes body_1 along `normal` at arm_1 and
/// body_2 (-1: the world) back at arm_2.
void add_contact(Scene& scene, int k, const Eigen::Vector3d& normal, int body_1,
                 const Eigen::Vector3d& arm_1, int body_2, const Eigen::Vector3d& arm_2);

/// A scene of `bodies` free bodies and `contacts` contacts of dimension 3, all zero.
Scene empty_scene(int bodies, int contacts);

}  // namespace stickslip::support
