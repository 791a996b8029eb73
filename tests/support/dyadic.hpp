// Random problems made of small dyadic numbers: every sum and product that forms them is exact in
// float and double, so their bits are the same for every machine, compiler and instruction set.
#pragma once
#include <cstdint>
#include <vector>

#include "stickslip/batch.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

/// A batch in plain vectors (needs only the public headers): rows of every kind, contacts of
/// dimension 3, 4 and 6, compliance, rank-deficient W. For the law `pyramid`, whose solvers accept
/// nothing else: contacts of dimension 3.
template <class Scalar>
class DyadicBatch {
 public:
  static constexpr int kMaxContacts = 5;
  static constexpr int kMaxRows = 6 + 6 * kMaxContacts;

  explicit DyadicBatch(int num_envs, Law law = Law::coulomb)
      : contacts_alone_(law == Law::pyramid), num_envs_(num_envs), counts_(std::size_t(num_envs)) {
    dims_.assign(std::size_t(num_envs) * kMaxContacts, 3);
    W_.resize(std::size_t(num_envs) * kMaxRows * kMaxRows);
    for (auto* v : {&b_, &mu_, &R_, &lo_, &hi_}) v->resize(std::size_t(num_envs) * kMaxRows);
    for (int env = 0; env < num_envs; ++env) {
      Random random(1000003 + std::uint64_t(env));
      fill(env, random);
    }
  }

  ProblemBatch<Scalar> view() const {
    ProblemBatch<Scalar> p;
    p.num_envs = num_envs_;
    p.max_rows = kMaxRows;
    p.max_contacts = kMaxContacts;
    p.counts = {counts_.data(), 1};
    p.dims = {dims_.data(), kMaxContacts};
    p.W = {W_.data(), kMaxRows * kMaxRows};
    p.b = {b_.data(), kMaxRows};
    p.mu = {mu_.data(), kMaxRows};
    p.R = {R_.data(), kMaxRows};
    p.lo = {lo_.data(), kMaxRows};
    p.hi = {hi_.data(), kMaxRows};
    return p;
  }
  int rows(int env) const {
    const RowCounts& s = counts_[std::size_t(env)];
    int n = s.n_free + s.n_nonneg + s.n_box;
    for (int k = 0; k < s.n_contacts; ++k) n += dims_[std::size_t(env * kMaxContacts + k)];
    return n;
  }

 private:
  void fill(int env, Random& random) {
    RowCounts& s = counts_[std::size_t(env)];
    s = {random.integer(3), random.integer(3), random.integer(3), 1 + random.integer(kMaxContacts)};
    if (contacts_alone_) s.n_free = s.n_nonneg = s.n_box = 0;
    const std::size_t first = std::size_t(env) * kMaxRows;
    Scalar* mu = &mu_[first];
    for (int k = 0; k < s.n_contacts; ++k) {
      const int choices[] = {3, 3, 4, 6};
      const int drawn = choices[random.integer(4)], dim = contacts_alone_ ? 3 : drawn;
      dims_[std::size_t(env * kMaxContacts + k)] = dim;
      const bool isotropic = random.chance(0.5);
      const double slide = random.chance(0.1) ? 0.0 : random.dyadic(0, 1);
      for (int j = 1; j < dim; ++j)
        *mu++ = Scalar(j < 3 && isotropic ? slide : random.dyadic(0, 1));
    }
    for (int i = 0; i < s.n_box; ++i) {
      hi_[first + std::size_t(i)] = Scalar(random.dyadic(0, 1));
      lo_[first + std::size_t(i)] = Scalar(-random.dyadic(0, 1));
    }
    form(env, rows(env), random);
  }

  void form(int env, int n, Random& random) {
    const int nv = 3 + random.integer(n);
    std::vector<double> J(std::size_t(n) * nv), v(static_cast<std::size_t>(nv));
    for (double& x : J) x = random.dyadic(-2, 2);
    for (double& x : v) x = random.dyadic(-1, 1);
    const std::size_t first = std::size_t(env) * kMaxRows;
    for (int i = 0; i < n; ++i) {
      double free_velocity = 0.0;
      for (int k = 0; k < nv; ++k) free_velocity += J[std::size_t(i * nv + k)] * v[std::size_t(k)];
      b_[first + std::size_t(i)] = Scalar(free_velocity + random.dyadic(0, 1) / 4.0);
      R_[first + std::size_t(i)] = Scalar(random.chance(0.3) ? random.dyadic(0, 1) : 0.0);
      for (int j = 0; j < n; ++j) {
        double w = 0.0;
        for (int k = 0; k < nv; ++k) w += J[std::size_t(i * nv + k)] * J[std::size_t(j * nv + k)];
        W_[(first + std::size_t(i)) * kMaxRows + std::size_t(j)] = Scalar(w);
      }
    }
  }

  bool contacts_alone_;
  int num_envs_;
  std::vector<RowCounts> counts_;
  std::vector<std::int32_t> dims_;
  std::vector<Scalar> W_, b_, mu_, R_, lo_, hi_;
};

}  // namespace stickslip::support
