#include "tests/support/mechanism.hpp"

#include <array>
#include <cmath>

namespace stickslip::support {
namespace {

double dot(const Vector3d& a, const Vector3d& b) {
  return a.x() * b.x() + a.y() * b.y() + a.z() * b.z();
}

/// L^-1 J^T with M = L L^T. Plain loops: the bits do not depend on how a library vectorises.
Matrix solve_lower(Matrix M, const Matrix& J) {
  const auto nv = M.rows();
  for (Eigen::Index k = 0; k < nv; ++k) {
    for (Eigen::Index j = 0; j < k; ++j) M(k, k) -= M(k, j) * M(k, j);
    M(k, k) = std::sqrt(M(k, k));
    for (Eigen::Index i = k + 1; i < nv; ++i) {
      for (Eigen::Index j = 0; j < k; ++j) M(i, k) -= M(i, j) * M(k, j);
      M(i, k) /= M(k, k);
    }
  }
  Matrix Y = J.transpose();
  for (Eigen::Index col = 0; col < Y.cols(); ++col) {
    for (Eigen::Index i = 0; i < nv; ++i) {
      for (Eigen::Index j = 0; j < i; ++j) Y(i, col) -= M(i, j) * Y(j, col);
      Y(i, col) /= M(i, i);
    }
  }
  return Y;
}

double sum_of_products(const auto& a, const auto& b) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

int Mechanism::add_body(int parent, double mass, const Vector3d& centre, const Vector3d& inertia,
                        const Eigen::Matrix3d& axes) {
  const auto moved = parent < 0 ? std::vector<int>() : bodies_[std::size_t(parent)].dofs;
  bodies_.push_back({mass, centre, inertia, axes, moved});
  return int(bodies_.size()) - 1;
}

int Mechanism::add_dof(int body, const Dof& dof) {
  dofs_.push_back(dof);
  bodies_[std::size_t(body)].dofs.push_back(dofs() - 1);
  return dofs() - 1;
}

int Mechanism::add_hinge(int body, const Vector3d& axis, const Vector3d& through, double armature) {
  return add_dof(body, {true, axis / std::sqrt(dot(axis, axis)), through, armature});
}

int Mechanism::add_slider(int body, const Vector3d& axis) {
  return add_dof(body, {false, axis / std::sqrt(dot(axis, axis)), Vector3d::Zero(), 0.0});
}

void Mechanism::set_free(int body) {
  for (int i = 0; i < 3; ++i) add_slider(body, Vector3d::Unit(i));
  for (int i = 0; i < 3; ++i) add_hinge(body, Vector3d::Unit(i), centre(body));
}

Vector Mechanism::row(int body, const Vector3d& point, const Vector3d& direction) const {
  Vector out = Vector::Zero(dofs());
  for (int j : bodies_[std::size_t(body)].dofs) {
    const Dof& dof = dofs_[std::size_t(j)];
    out[j] = dot(direction, dof.turns ? dof.axis.cross(point - dof.through) : dof.axis);
  }
  return out;
}

void Mechanism::constrain_box(const Vector& row, double limit) {
  box_.push_back({row, 0.0});
  limits_.push_back(limit);
}

void Mechanism::add_contact(int body_1, int body_2, const Vector3d& point, const Vector3d& normal,
                            double mu, double gap) {
  const Vector3d n = normal / std::sqrt(dot(normal, normal));
  const Vector3d aside = std::abs(n.x()) > 0.9 ? Vector3d::UnitY() : Vector3d::UnitX();
  const Vector3d t1 = n.cross(aside) / std::sqrt(dot(n.cross(aside), n.cross(aside)));
  for (const Vector3d& axis : {n, t1, Vector3d(n.cross(t1))}) {
    Vector entries = row(body_1, point, axis);
    if (body_2 >= 0) entries -= row(body_2, point, axis);
    contact_.push_back({entries, gap});
    gap = 0.0;
  }
  mu_.push_back(mu);
}

Matrix Mechanism::mass_matrix() const {
  Matrix M = Matrix::Zero(dofs(), dofs());
  for (int j = 0; j < dofs(); ++j) M(j, j) = dofs_[std::size_t(j)].armature;
  for (int body = 0; body < int(bodies_.size()); ++body) {
    const Body& b = bodies_[std::size_t(body)];
    std::array<Vector, 6> rows;  // velocity of the centre, angular velocity along the body's axes
    for (int i = 0; i < 3; ++i) rows[std::size_t(i)] = row(body, b.centre, Vector3d::Unit(i));
    for (int i = 0; i < 3; ++i) {
      Vector& turn = rows[std::size_t(3 + i)] = Vector::Zero(dofs());
      for (int j : b.dofs) {
        const Dof& dof = dofs_[std::size_t(j)];
        if (dof.turns) turn[j] = dot(b.axes.col(i), dof.axis);
      }
    }
    for (int i = 0; i < 6; ++i) {
      const double weight = i < 3 ? b.mass : b.inertia[i - 3];
      const Vector& r = rows[std::size_t(i)];
      for (int j : b.dofs) {
        for (int k : b.dofs) M(j, k) += weight * r[j] * r[k];
      }
    }
  }
  return M;
}

MechanismScene Mechanism::scene(const Vector& v_free) const {
  MechanismScene s;
  Problem& p = s.problem;
  p.counts = {int(free_.size()), int(nonneg_.size()), int(box_.size()), int(mu_.size())};
  p.dims.assign(mu_.size(), 3);
  std::vector<Row> all;
  for (const auto* kind : {&free_, &nonneg_, &box_, &contact_}) {
    all.insert(all.end(), kind->begin(), kind->end());
  }
  const auto n = Eigen::Index(all.size());
  s.M = mass_matrix();
  s.v_free = v_free;
  s.J.resize(n, dofs());
  s.gap.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    s.J.row(i) = all[std::size_t(i)].entries.transpose();
    s.gap[i] = all[std::size_t(i)].gap;
  }
  const Matrix Y = solve_lower(s.M, s.J);
  p.W.resize(n, n);
  p.b.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      p.W(i, j) = p.W(j, i) = sum_of_products(Y.col(i), Y.col(j));
    }
    p.b[i] = sum_of_products(s.J.row(i), v_free) + s.gap[i];
  }
  p.mu.resize(2 * Eigen::Index(mu_.size()));
  for (Eigen::Index k = 0; k < p.mu.size(); ++k) p.mu[k] = mu_[std::size_t(k / 2)];
  p.R = Vector::Zero(n);
  p.hi = Eigen::Map<const Vector>(limits_.data(), Eigen::Index(limits_.size()));
  p.lo = -p.hi;
  return s;
}

bool proves_solvable(const MechanismScene& scene, const Vector& v) {
  const RowCounts& counts = scene.problem.counts;
  const Vector u = scene.J * v + scene.gap;
  const double zero = 1e-9 * (1.0 + u.lpNorm<Eigen::Infinity>());
  int row = 0;
  for (; row < counts.n_free; ++row) {
    if (!(std::abs(u[row]) <= zero)) return false;
  }
  for (; row < counts.n_free + counts.n_nonneg; ++row) {
    if (!(u[row] > zero)) return false;
  }
  row += counts.n_box;
  for (int k = 0; k < counts.n_contacts; ++k, row += 3) {
    if (!(u[row] > scene.problem.mu[2 * k] * u.segment<2>(row + 1).norm() + zero)) return false;
  }
  return true;
}

bool proves_unsolvable(const MechanismScene& scene, const Vector& weights) {
  const RowCounts& counts = scene.problem.counts;
  const int first = counts.n_free + counts.n_nonneg + counts.n_box;
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    const bool normal = i >= first && (i - first) % 3 == 0;
    if (weights[i] < 0.0 || (weights[i] > 0.0 && !normal)) return false;
  }
  const double size = weights.lpNorm<1>() * scene.J.lpNorm<Eigen::Infinity>();
  return (scene.J.transpose() * weights).lpNorm<Eigen::Infinity>() <= 1e-13 * size &&
         weights.dot(scene.gap) < -1e-3 * weights.lpNorm<1>();
}

}  // namespace stickslip::support
