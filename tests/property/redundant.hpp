// Problems of redundant contacts, and their solution of least norm.
#pragma once
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support/judging.hpp"
#include "tests/support/random.hpp"

namespace stickslip::property {

using reference::Matrix;
using reference::Problem;
using reference::Vector;

/// Friction of the sliding, torsion and rolling rows.
using Frictions = std::array<double, 3>;

/// The problem of contacts of one dimension.
inline Problem problem_of(const Matrix& J, const Vector& inverse_mass, const Vector& v, int dim,
                          const Frictions& friction) {
  constexpr std::array<std::size_t, 5> kKind{0, 0, 1, 2, 2};  // of the rows after the normal
  const Eigen::Index contacts = J.rows() / dim;
  Problem p;
  p.counts.n_contacts = std::int32_t(contacts);
  p.dims.assign(std::size_t(contacts), dim);
  p.W = J * inverse_mass.asDiagonal() * J.transpose();
  p.W = (0.5 * (p.W + p.W.transpose())).eval();
  p.b = J * v;
  p.mu.resize(contacts * (dim - 1));
  for (Eigen::Index i = 0; i < p.mu.size(); ++i)
    p.mu[i] = friction[kKind[std::size_t(i % (dim - 1))]];
  p.R = Vector::Zero(J.rows());
  p.lo = p.hi = Vector::Zero(0);
  return p;
}

inline Problem problem_of(const Matrix& J, const Vector& inverse_mass, const Vector& v, double mu) {
  return problem_of(J, inverse_mass, v, 3, {mu, 0.0, 0.0});
}

/// Boxes of these masses on each other and on the floor, at rest after a time step h without
/// contacts; four contacts each, at the corners.
inline Problem tower(const std::vector<double>& masses, double h, double mu) {
  constexpr double kHalf = 0.1;
  const auto bodies = Eigen::Index(masses.size());
  Matrix J = Matrix::Zero(12 * bodies, 6 * bodies);
  Vector inverse_mass(6 * bodies), v = Vector::Zero(6 * bodies);
  for (Eigen::Index i = 0; i < bodies; ++i) {
    const double mass = masses[std::size_t(i)], inertia = mass * 8.0 * kHalf * kHalf / 12.0;
    inverse_mass.segment<6>(6 * i) << Vector::Constant(3, 1.0 / mass),
        Vector::Constant(3, 1.0 / inertia);
    v[6 * i + 2] = -9.81 * h;
    for (int corner = 0; corner < 4; ++corner) {
      const double x = (corner & 1) != 0 ? kHalf : -kHalf, y = (corner & 2) != 0 ? kHalf : -kHalf;
      for (const Eigen::Index body : {i, i - 1}) {
        if (body < 0) continue;
        const double sign = body == i ? 1.0 : -1.0;
        const Eigen::Vector3d at(x, y, -sign * kHalf);
        for (int d = 0; d < 3; ++d) {
          const Eigen::Vector3d direction = Eigen::Vector3d::Unit((d + 2) % 3);
          const Eigen::Index row = 12 * i + 3 * corner + d;
          J.block<1, 3>(row, 6 * body) += sign * direction.transpose();
          J.block<1, 3>(row, 6 * body + 3) += sign * at.cross(direction).transpose();
        }
      }
    }
  }
  return problem_of(J, inverse_mass, v, mu);
}

/// A box of 1 kg that falls on `count` points of its bottom, the corners first, pushed at random.
inline Problem box_on_points(int count, int dim, const Frictions& friction, double push,
                             support::Random& random) {
  const Eigen::Vector3d half =
      Eigen::Vector3d::NullaryExpr([&] { return random.uniform(.03, .1); });
  const Eigen::Vector3d squares = half.cwiseAbs2();
  Vector inverse_mass(6), v(6);
  inverse_mass << Vector::Ones(3), 3.0 / (squares[1] + squares[2]), 3.0 / (squares[0] + squares[2]),
      3.0 / (squares[0] + squares[1]);
  const double fall = 0.02;
  for (Eigen::Index i = 0; i < 6; ++i)
    v[i] = push * fall * random.normal() * (i < 3 ? 1.0 : half.mean() * inverse_mass[i]);
  v[2] -= fall;
  const Eigen::Vector2d center(half[0] * random.uniform(-0.3, 0.3),
                               half[1] * random.uniform(-0.3, 0.3));
  Matrix J = Matrix::Zero(count * dim, 6);
  for (int k = 0; k < count; ++k) {
    const double x = k < 4 ? (k % 2 == 0 ? -1.0 : 1.0) : random.uniform(-1.0, 1.0);
    const double y = k < 4 ? (k / 2 == 0 ? -1.0 : 1.0) : random.uniform(-1.0, 1.0);
    const Eigen::Vector3d at(half[0] * x - center[0], half[1] * y - center[1], -half[2]);
    for (int j = 0; j < dim; ++j) {
      const Eigen::Vector3d axis = Eigen::Vector3d::Unit((j + 2) % 3);
      if (j < 3)
        J.row(k * dim + j) << axis.transpose(), at.cross(axis).transpose();
      else
        J.row(k * dim + j).tail<3>() = axis;
    }
  }
  return problem_of(J, inverse_mass, v, dim, friction);
}

/// A body of 1 kg on `count` feet in a circle, with the velocity v before the impulses.
inline Problem feet(int count, const Vector& v, double mu) {
  Matrix J(3 * count, 6);
  for (int k = 0; k < count; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / count;
    const Eigen::Vector3d at(0.3 * std::cos(angle), 0.3 * std::sin(angle), -0.2);
    for (int d = 0; d < 3; ++d) {
      const Eigen::Vector3d direction = Eigen::Vector3d::Unit((d + 2) % 3);
      J.row(3 * k + d) << direction.transpose(), at.cross(direction).transpose();
    }
  }
  Vector inverse_mass(6);
  inverse_mass << Vector::Ones(3), Vector::Constant(3, 1.0 / (0.08 / 3.0));
  return problem_of(J, inverse_mass, v, mu);
}

/// The same falling, shoved and turned.
inline Problem feet(int count, support::Random& random) {
  const double shove = std::array{0.1, 1.0, 3.0}[std::size_t(random.integer(3))];
  const double turn = std::array{0.0, 1.0, 5.0}[std::size_t(random.integer(3))];
  Vector v(6);
  v[1] = shove * random.normal();
  v[0] = shove * random.normal();
  v[2] = -1.0;
  v[4] = turn * random.normal();
  v[3] = turn * random.normal();
  v[5] = 0.5 * turn;
  const double mu = random.uniform(0.2, 1.2);
  return feet(count, v, mu);
}

inline Vector solve_one(const Problem& p, const SolveOptions& options, const Vector& start = {},
                        double* residual = nullptr) {
  auto batch = support::to_batch<double>(std::vector{p});
  for (Eigen::Index i = 0; i < start.size(); ++i) batch.warm_start(0)[i] = start[i];
  const auto results = support::solve_batch(batch, options);
  if (residual != nullptr) {
    *residual = results.residual(0);
  } else {
    EXPECT_EQ(results.status(0), EnvStatus::solved);
  }
  return support::impulse_of(results, 0, reference::rows(p));
}

inline double difference(const Vector& a, const Vector& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / b.lpNorm<Eigen::Infinity>();
}

/// The solution of least norm in D of all rows with u = 0; D is W_nn in all rows of a contact, in
/// circular coordinates.
inline Vector least_norm(const Problem& p) {
  Vector root(p.b.size());
  Eigen::Index a = 0, friction = 0;
  for (const int dim : p.dims) {
    root[a] = std::sqrt(p.W(a, a));
    for (int j = 1; j < dim; ++j) root[a + j] = root[a] * p.mu[friction] / p.mu[friction + j - 1];
    a += dim;
    friction += dim - 1;
  }
  const Vector inverse = root.cwiseInverse();
  Eigen::CompleteOrthogonalDecomposition<Matrix> scaled(inverse.asDiagonal() * p.W *
                                                        inverse.asDiagonal());
  scaled.setThreshold(1e-9);
  return inverse.asDiagonal() * scaled.solve(inverse.asDiagonal() * -p.b);
}

}  // namespace stickslip::property
