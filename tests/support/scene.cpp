#include "tests/support/scene.hpp"

#include <array>
#include <cmath>

namespace stickslip::support {

void form_problem(Scene& scene) {
  const auto n = scene.J.rows();
  const auto nv = scene.J.cols();
  Problem& p = scene.problem;
  p.W.resize(n, n);
  p.b.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (Eigen::Index k = 0; k < nv; ++k) {
        sum += scene.J(i, k) * scene.inverse_mass[k] * scene.J(j, k);
      }
      p.W(i, j) = sum;
      p.W(j, i) = sum;
    }
    double sum = 0.0;
    for (Eigen::Index k = 0; k < nv; ++k) sum += scene.J(i, k) * scene.v_free[k];
    p.b[i] = sum;
  }
}

void add_row(Scene& scene, int k, int body, const Eigen::Vector3d& direction,
             const Eigen::Vector3d& arm, double sign) {
  scene.J.block<1, 3>(k, 6 * body) = sign * direction.transpose();
  scene.J.block<1, 3>(k, 6 * body + 3) = sign * arm.cross(direction).transpose();
}

void add_contact(Scene& scene, int k, const Eigen::Vector3d& normal, int body_1,
                 const Eigen::Vector3d& arm_1, int body_2, const Eigen::Vector3d& arm_2) {
  const Eigen::Vector3d aside =
      std::abs(normal.x()) > 0.9 ? Eigen::Vector3d::UnitY() : Eigen::Vector3d::UnitX();
  const Eigen::Vector3d t1 = normal.cross(aside) / std::sqrt(normal.cross(aside).squaredNorm());
  const std::array<Eigen::Vector3d, 3> axes = {normal, t1, normal.cross(t1)};
  for (int i = 0; i < 3; ++i) {
    add_row(scene, 3 * k + i, body_1, axes[std::size_t(i)], arm_1, 1.0);
    if (body_2 >= 0) add_row(scene, 3 * k + i, body_2, axes[std::size_t(i)], arm_2, -1.0);
  }
}

Scene empty_scene(int bodies, int contacts) {
  Scene scene;
  scene.inverse_mass = Vector::Zero(6 * bodies);
  scene.v_free = Vector::Zero(6 * bodies);
  scene.J = Matrix::Zero(3 * contacts, 6 * bodies);
  Problem& p = scene.problem;
  p.counts.n_contacts = contacts;
  p.dims.assign(std::size_t(contacts), 3);
  p.mu = Vector::Zero(2 * contacts);
  p.R = Vector::Zero(3 * contacts);
  p.lo = p.hi = Vector::Zero(0);
  return scene;
}

}  // namespace stickslip::support
