// Siconos Numerics (INRIA, Apache 2.0; Debian's libsiconos-numerics-dev): NSGS and the semismooth
// Newton method of Alart and Curnier for exact Coulomb friction, Lemke's method for the pyramid's
// LCP. Contacts of dimension 3 only, rows (n, t1, t2) like ours, matrices column-major.
#include <SiconosConfig.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <algorithm>
#include <cmath>

#include "bench/compare/peers/adapter.hpp"

namespace stickslip::bench {
namespace {

using Vector = std::vector<double>;

struct Options {
  SolverOptions* data;
  Options(int id, double tolerance, int iterations) : data(solver_options_create(id)) {
    data->dparam[SICONOS_DPARAM_TOL] = tolerance;
    data->iparam[SICONOS_IPARAM_MAX_ITER] = iterations;
  }
  ~Options() { solver_options_delete(data); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
};

Vector transposed(const Vector& A, std::size_t n) {
  Vector out(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) out[j * n + i] = A[i * n + j];
  }
  return out;
}

/// Siconos measures errors relative to |q|_2, if it is not zero.
double relative(const Vector& q, double tolerance) {
  double square = 0;
  for (const double x : q) square += x * x;
  return square > 0 ? tolerance / std::sqrt(square) : tolerance;
}

class Friction : public Loaded {
 public:
  Friction(const PeerProblem& p, int id, int iterations)
      : M_(transposed(with_compliance(p), std::size_t(p.rows))),
        q_(p.b, p.b + p.rows),
        velocity_(q_.size()),
        tolerance_(relative(q_, p.tolerance)),
        options_(id, tolerance_, iterations) {
    for (int c = 0; c < p.counts.n_contacts; ++c) mu_.push_back(p.mu[2 * c]);
    matrix_ = NM_create_from_data(NM_DENSE, p.rows, p.rows, M_.data());
    problem_ = {3, p.counts.n_contacts, matrix_, q_.data(), mu_.data()};
  }
  ~Friction() override {
    matrix_->matrix0 = nullptr;  // it belongs to us
    NM_clear(matrix_);
    std::free(matrix_);
  }

  bool solve(double* impulse) override {
    std::fill_n(impulse, q_.size(), 0.0);
    std::fill(velocity_.begin(), velocity_.end(), 0.0);
    options_.data->dparam[SICONOS_DPARAM_TOL] = tolerance_;
    return fc3d_driver(&problem_, impulse, velocity_.data(), options_.data) == 0;
  }

 private:
  Vector M_, q_, mu_, velocity_;
  double tolerance_;
  Options options_;
  NumericsMatrix* matrix_;
  FrictionContactProblem problem_;
};

/// Stewart and Trinkle's LCP, z = (r_n, beta, lambda), with the directions +t1, -t1, +t2, -t2.
class Pyramid : public Loaded {
 public:
  explicit Pyramid(const PeerProblem& p)
      : contacts_(std::size_t(p.counts.n_contacts)),
        M_(36 * contacts_ * contacts_),
        q_(6 * contacts_),
        z_(q_.size()),
        w_(q_.size()),
        options_(SICONOS_LCP_LEMKE, p.tolerance, 1000 + 100 * p.rows) {
    fill(p, with_compliance(p));
    matrix_ = NM_create_from_data(NM_DENSE, int(q_.size()), int(q_.size()), M_.data());
    problem_ = {int(q_.size()), matrix_, q_.data()};
  }
  ~Pyramid() override {
    matrix_->matrix0 = nullptr;
    NM_clear(matrix_);
    std::free(matrix_);
  }

  bool solve(double* impulse) override {
    std::fill(z_.begin(), z_.end(), 0.0);
    std::fill(w_.begin(), w_.end(), 0.0);
    const int info = linearComplementarity_driver(&problem_, z_.data(), w_.data(), options_.data);
    for (std::size_t c = 0; c < contacts_; ++c) {
      const double* beta = &z_[contacts_ + 4 * c];
      impulse[3 * c] = z_[c];
      impulse[3 * c + 1] = beta[0] - beta[1];
      impulse[3 * c + 2] = beta[2] - beta[3];
    }
    return info == 0;
  }

 private:
  void fill(const PeerProblem& p, const Vector& W) {
    const std::size_t N = q_.size(), n = 3 * contacts_;
    // Impulse rows of the LCP: the row of W, and the sign.
    std::vector<std::size_t> row;
    Vector sign;
    for (std::size_t c = 0; c < contacts_; ++c) row.push_back(3 * c), sign.push_back(1.0);
    for (std::size_t c = 0; c < contacts_; ++c) {
      for (std::size_t k = 0; k < 4; ++k) {
        row.push_back(3 * c + 1 + k / 2);
        sign.push_back(k % 2 == 0 ? 1.0 : -1.0);
      }
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      q_[i] = sign[i] * p.b[row[i]];
      for (std::size_t j = 0; j < row.size(); ++j)
        M_[j * N + i] = sign[i] * sign[j] * W[row[i] * n + row[j]];
    }
    for (std::size_t c = 0; c < contacts_; ++c) {
      const std::size_t lambda = 5 * contacts_ + c;
      M_[c * N + lambda] = p.mu[2 * c];
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t beta = contacts_ + 4 * c + k;
        M_[beta * N + lambda] = -1.0;
        M_[lambda * N + beta] = 1.0;
      }
    }
  }

  std::size_t contacts_;
  Vector M_, q_, z_, w_;
  Options options_;
  NumericsMatrix* matrix_;
  LinearComplementarityProblem problem_;
};

class Siconos : public Peer {
 public:
  Siconos(const char* name, const char* method, int id, int iterations)
      : name_(name), method_(method), id_(id), iterations_(iterations) {}
  std::string name() const override { return name_; }
  std::string about() const override {
    return std::string("Siconos Numerics (library ") + SICONOS_LIBRARY_VERSION + "), " + method_;
  }
  std::unique_ptr<Loaded> load(const PeerProblem& p) const override {
    if (!only_isotropic_contacts(p) || p.rows == 0) return nullptr;
    if (id_ == SICONOS_LCP_LEMKE) {
      if (p.law != Law::pyramid) return nullptr;
      return std::make_unique<Pyramid>(p);
    }
    if (p.law != Law::coulomb) return nullptr;
    return std::make_unique<Friction>(p, id_, iterations_);
  }

 private:
  const char *name_, *method_;
  int id_, iterations_;
};

}  // namespace
}  // namespace stickslip::bench

extern "C" void stickslip_peers(stickslip::compare::Peers* out) {
  using stickslip::bench::Siconos;
  out->push_back(std::make_unique<Siconos>("siconos_nsgs", "NSGS, at most 10,000 sweeps",
                                           SICONOS_FRICTION_3D_NSGS, 10000));
  out->push_back(std::make_unique<Siconos>("siconos_nsn_ac",
                                           "semismooth Newton (Alart-Curnier), at most 1,000 steps",
                                           SICONOS_FRICTION_3D_NSN_AC, 1000));
  out->push_back(
      std::make_unique<Siconos>("siconos_lemke", "lexicographic Lemke", SICONOS_LCP_LEMKE, 0));
}
