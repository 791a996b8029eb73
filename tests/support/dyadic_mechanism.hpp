// Random mechanisms made of small dyadic numbers (dyadic.hpp): the problems of solve_mechanism,
// with the same bits on every machine.
#pragma once
#include <cstdint>
#include <vector>

#include "stickslip/delassus.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

/// Mass matrices, Jacobians and problems without W, in plain vectors: rows of every kind (law
/// `pyramid`: contacts of dimension 3); fewer degrees of freedom than rows as often as more.
template <class Scalar>
class DyadicMechanisms {
 public:
  static constexpr int kMaxContacts = 4;
  static constexpr int kMaxRows = 4 + 6 * kMaxContacts;
  static constexpr int kDofs = 14;

  explicit DyadicMechanisms(int num_envs, Law law = Law::coulomb)
      : contacts_alone_(law == Law::pyramid), num_envs_(num_envs), counts(std::size_t(num_envs)) {
    const auto envs = std::size_t(num_envs);
    dims.assign(envs * kMaxContacts, 3);
    for (auto* v : {&b, &mu, &R, &lo, &hi}) v->resize(envs * kMaxRows);
    M.resize(envs * kDofs * kDofs);
    J.resize(envs * kMaxRows * kDofs);
    v_free.resize(envs * kDofs);
    v_next.resize(envs * kDofs);
    for (int env = 0; env < num_envs; ++env) {
      Random random(7000003 + std::uint64_t(env));
      fill_problem(env, random);
      fill_mechanism(env, random);
    }
  }

  ProblemBatch<Scalar> problem() const {
    ProblemBatch<Scalar> p;
    p.num_envs = num_envs_;
    p.max_rows = kMaxRows;
    p.max_contacts = kMaxContacts;
    p.counts = {counts.data(), 1};
    p.dims = {dims.data(), kMaxContacts};
    p.b = {b.data(), kMaxRows};
    p.mu = {mu.data(), kMaxRows};
    p.R = {R.data(), kMaxRows};
    p.lo = {lo.data(), kMaxRows};
    p.hi = {hi.data(), kMaxRows};
    return p;
  }
  MechanismStep<Scalar> step() {
    MechanismStep<Scalar> s;
    s.mechanism.num_envs = num_envs_;
    s.mechanism.nv = kDofs;
    s.mechanism.max_rows = kMaxRows;
    s.mechanism.M = {M.data(), kDofs * kDofs};
    s.mechanism.J = {J.data(), kMaxRows * kDofs};
    s.v_free = {v_free.data(), kDofs};
    s.v_next = {v_next.data(), kDofs};
    return s;
  }
  int rows(int env) const {
    const RowCounts& s = counts[std::size_t(env)];
    int n = s.n_free + s.n_nonneg + s.n_box;
    for (int k = 0; k < s.n_contacts; ++k) n += dims[std::size_t(env * kMaxContacts + k)];
    return n;
  }

 private:
  void fill_problem(int env, Random& random) {
    RowCounts& s = counts[std::size_t(env)];
    s = {random.integer(2), random.integer(3), random.integer(2), random.integer(kMaxContacts + 1)};
    if (contacts_alone_) s.n_free = s.n_nonneg = s.n_box = 0;
    Scalar* friction = &mu[std::size_t(env) * kMaxRows];
    for (int k = 0; k < s.n_contacts; ++k) {
      const int choices[] = {3, 3, 4, 6};
      const int drawn = choices[random.integer(4)], dim = contacts_alone_ ? 3 : drawn;
      dims[std::size_t(env * kMaxContacts + k)] = dim;
      const double slide = random.dyadic(0, 1);
      for (int j = 1; j < dim; ++j) *friction++ = Scalar(j < 3 ? slide : random.dyadic(0, 1));
    }
    for (std::size_t i = 0; i < std::size_t(s.n_box); ++i) {
      hi[std::size_t(env) * kMaxRows + i] = Scalar(random.dyadic(0, 1));
      lo[std::size_t(env) * kMaxRows + i] = Scalar(-random.dyadic(0, 1));
    }
  }

  /// M = A A^T + I; b = J v_free, plus a gap on rows that may open.
  void fill_mechanism(int env, Random& random) {
    const auto e = std::size_t(env);
    const int used = 4 + random.integer(kDofs - 3);  // degrees of freedom in the rows
    std::vector<double> A(kDofs * kDofs);
    for (double& a : A) a = random.chance(0.4) ? random.dyadic(-1, 1) : 0.0;
    for (int i = 0; i < kDofs; ++i) {
      for (int j = 0; j < kDofs; ++j) {
        double sum = i == j ? 1.0 : 0.0;
        for (int k = 0; k < kDofs; ++k)
          sum += A[std::size_t(i * kDofs + k)] * A[std::size_t(j * kDofs + k)];
        M[(e * kDofs + std::size_t(i)) * kDofs + std::size_t(j)] = Scalar(sum);
      }
    }
    for (int k = 0; k < kDofs; ++k)
      v_free[e * kDofs + std::size_t(k)] = Scalar(random.dyadic(-1, 1));
    for (int i = 0; i < rows(env); ++i) {
      const std::size_t row = e * kMaxRows + std::size_t(i);
      double velocity = random.dyadic(0, 1) / 4.0;
      for (int k = 0; k < used; ++k) {
        const double entry = random.chance(0.7) ? random.dyadic(-2, 2) : 0.0;
        J[row * kDofs + std::size_t(k)] = Scalar(entry);
        velocity += entry * double(v_free[e * kDofs + std::size_t(k)]);
      }
      b[row] = Scalar(velocity);
      R[row] = Scalar(random.chance(0.3) ? random.dyadic(0, 1) : 0.0);
    }
  }

  bool contacts_alone_;
  int num_envs_;

 public:
  std::vector<RowCounts> counts;
  std::vector<std::int32_t> dims;
  std::vector<Scalar> b, mu, R, lo, hi, M, J, v_free, v_next;
};

}  // namespace stickslip::support
