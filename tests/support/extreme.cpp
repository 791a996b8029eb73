#include "tests/support/extreme.hpp"

#include <array>
#include <vector>

namespace stickslip::support {

using reference::Matrix;
using reference::Problem;
using reference::Vector;

const char* name(Extreme family) {
  constexpr std::array names = {"redundant", "mass_1e6", "mass_1e12", "friction", "zero_normal",
                                "zero_rows", "opposed",  "dims",      "scales",   "steep"};
  return names[std::size_t(family)];
}

namespace {

/// 10^x for any x.
double decades(double x) { return x < 0.0 ? 1.0 / power_of_ten(-x) : power_of_ten(x); }

Vector direction(Random& random, int size) {
  Vector d(size);
  for (double& x : d) x = random.normal();
  return d / std::max(d.norm(), 1e-3);
}

class Maker {
 public:
  Maker(Extreme family, Law law, bool solvable, int index)
      : family_(family),
        law_(law),
        random_(std::uint64_t(index) * 64 + std::uint64_t(family) * 5 + std::uint64_t(law)) {
    count_contacts(solvable);
    make_mechanism();
    if (solvable) {
      solve_by_choice();
    } else {
      contradict_by_choice();
    }
    if (family == Extreme::scales) rescale(solvable);
  }

  ExtremeProblem made;

 private:
  Problem& p() { return made.problem; }
  int normal(int k) const { return first_[std::size_t(k)]; }

  void count_contacts(bool solvable) {
    const int contacts = (solvable ? 1 : 2) + random_.integer(solvable ? 8 : 7);
    p().counts.n_contacts = contacts;
    for (int k = 0; k < contacts; ++k) {
      const int choice = family_ == Extreme::dims ? random_.integer(3) : 0;
      p().dims.push_back(choice == 0 ? 3 : choice == 1 ? 4 : 6);
      first_.push_back(n_);
      n_ += p().dims.back();
    }
  }

  void make_mechanism() {
    const bool few = family_ == Extreme::redundant || family_ == Extreme::steep;
    const int nv = few ? 2 + random_.integer(std::max(1, n_ - 2)) : 2 + random_.integer(n_ + 1);
    J_ = Matrix(n_, nv);
    for (double& x : J_.reshaped()) x = random_.normal();
    const double spread = family_ == Extreme::mass_1e6 ? 3 : family_ == Extreme::mass_1e12 ? 6 : 0;
    inverse_mass_ = Vector(nv);
    for (double& x : inverse_mass_) x = decades(random_.uniform(-spread, spread));
    if (family_ == Extreme::zero_normal) J_.row(0).setZero();
    if (family_ == Extreme::zero_rows) {
      for (int i = 0; i < n_; ++i) {
        if (random_.chance(0.25)) J_.row(i).setZero();
      }
    }
    if (family_ == Extreme::opposed) {
      for (int k = 1; k < p().counts.n_contacts; ++k) {
        const double factor = random_.chance(0.5) ? 1.0 : random_.uniform(0.5, 2.0);
        if (random_.chance(0.5)) J_.middleRows(normal(k), 3) = -factor * J_.middleRows(0, 3);
      }
    }
    p().mu = Vector(n_ - p().counts.n_contacts);
    int at = 0;
    for (const int dim : p().dims) {
      const double mu = family_ == Extreme::friction ? decades(random_.uniform(-3, 3))
                        : family_ == Extreme::steep  ? random_.uniform(2.0, 10.0)
                                                     : random_.uniform(0.1, 1.2);
      for (int j = 1; j < dim; ++j) p().mu[at++] = mu;
    }
    p().R = Vector::Zero(n_);
    p().lo = p().hi = Vector::Zero(0);
  }

  void form_W() {
    const Matrix half = J_ * inverse_mass_.cwiseSqrt().asDiagonal();
    p().W = half * half.transpose();
    p().W = (0.5 * (p().W + p().W.transpose())).eval();
  }

  double mu(int k) const { return made.problem.mu[normal(k) - k]; }

  /// The friction of a unit normal impulse and mu = 1 that opposes sliding along d most.
  Vector against(const Vector& d) const {
    if (law_ == Law::box) return -d.cwiseSign();
    if (law_ != Law::pyramid) return -d;
    Eigen::Index axis = 0;
    d.cwiseAbs().maxCoeff(&axis);
    Vector corner = Vector::Zero(d.size());
    corner[axis] = d[axis] > 0.0 ? -1.0 : 1.0;
    return corner;
  }

  /// Impulses and velocities of contacts that are open, sticking or sliding, as chosen.
  void solve_by_choice() {
    Vector r = Vector::Zero(n_), u = Vector::Zero(n_);
    const bool slides = law_ != Law::frictionless;
    for (int k = 0; k < p().counts.n_contacts; ++k) {
      const int a = normal(k), t = p().dims[std::size_t(k)] - 1;
      const int state = random_.integer(slides ? 3 : 2);
      const Vector d = direction(random_, t);
      const double r_n = random_.uniform(), share = random_.uniform(), speed = random_.uniform();
      const double inside = law_ == Law::pyramid ? 1.0 / std::sqrt(double(t)) : 1.0;
      const bool moves = state != 1 || law_ == Law::frictionless;
      if (state > 0) r[a] = r_n;
      if (state == 1 && law_ != Law::frictionless)
        r.segment(a + 1, t) = share * inside * mu(k) * r_n * d;
      if (state == 2) r.segment(a + 1, t) = mu(k) * r_n * against(d);
      if (moves) u.segment(a + 1, t) = speed * d;
      if (state == 0) u[a] = speed;
      if (law_ == Law::convex && moves) u[a] += mu(k) * u.segment(a + 1, t).norm();
    }
    form_W();
    p().b = u - p().W * r;
    made.solution = r;
  }

  /// The normal of contact 0 pushes against those of others, and all of them must open.
  void contradict_by_choice() {
    Vector y = Vector::Zero(n_);
    y[0] = 1.0;
    if (J_.row(0).squaredNorm() > 0.0 || family_ != Extreme::zero_normal) {
      J_.row(0).setZero();
      for (int k = 1; k < p().counts.n_contacts; ++k) {
        if (k > 1 && random_.chance(0.5)) continue;
        y[normal(k)] = random_.uniform(0.2, 2.0);
        J_.row(0) -= y[normal(k)] * J_.row(normal(k));
      }
    }
    form_W();
    p().b = direction(random_, n_);
    const double power = random_.uniform(0.05, 1.0) * y.lpNorm<1>();
    p().b -= y * ((p().b.dot(y) + power) / y.squaredNorm());
    made.certificate = y;
  }

  /// Other units of mass (W) and speed (b): impulses are b / W.
  void rescale(bool solvable) {
    const double w = decades(random_.uniform(-12, 12));
    const double b = decades(solvable ? random_.uniform(-12, 12) : random_.uniform(0, 12));
    p().W *= w;
    p().b *= b;
    if (solvable) made.solution *= b / w;
  }

  Extreme family_;
  Law law_;
  Random random_;
  std::vector<int> first_;
  int n_ = 0;
  Matrix J_;
  Vector inverse_mass_;
};

}  // namespace

ExtremeProblem make_extreme(Extreme family, Law law, bool solvable, int index) {
  return Maker(family, law, solvable, index).made;
}

bool proves_infeasible(const Problem& problem, Law law, const Vector& y, double tolerance) {
  using Long = Eigen::VectorX<long double>;
  using LongMatrix = Eigen::MatrixX<long double>;
  if (!y.allFinite() || (y.array() < 0.0).any()) return false;
  const Long exact = y.cast<long double>();
  const LongMatrix W = problem.W.cast<long double>();
  const Long g = W.transpose() * exact;
  const Long stiff = W.diagonal() + problem.R.cast<long double>();
  const auto friction = [&](Eigen::Index row, int k) {
    return law == Law::frictionless ? 0.0L : (long double)problem.mu[row - k - 1];
  };
  long double steepest = 0.0, most = 0.0, stiffest = 0.0;
  std::vector<std::array<long double, 2>> contacts;  // the largest g . r for r_n = 1, and 1 / rho
  Eigen::Index row = 0;
  for (int k = 0; k < problem.counts.n_contacts; ++k) {
    const Eigen::Index normal = row++, end = normal + problem.dims[std::size_t(k)];
    if (y[normal] != 0.0 && problem.R[normal] > 0.0) return false;
    long double mu_1 = 0.0, product = g[normal], inverse_rho = stiff[normal];
    for (; row < end; ++row) {
      const long double mu = friction(row, k);
      if (y[row] != 0.0) return false;
      if (mu_1 == 0.0L) mu_1 = mu;
      product += mu * std::abs(g[row]);
      if (mu > 0.0L) inverse_rho = std::max(inverse_rho, mu / mu_1 * mu / mu_1 * stiff[row]);
    }
    steepest = std::max(steepest, mu_1);
    stiffest = std::max(stiffest, inverse_rho);
    contacts.push_back({std::max(product, 0.0L), inverse_rho});
  }
  if (stiffest == 0.0L) stiffest = 1.0L;
  for (const auto& [product, inverse_rho] : contacts) {
    most += product / (inverse_rho > 0.0L ? inverse_rho : stiffest);
  }
  most *= 1e12L * problem.b.lpNorm<Eigen::Infinity>();
  const long double power = exact.dot(problem.b.cast<long double>());
  // Half of the gap that the library allows, so that its proofs hold here and their reverse does
  // not.
  return power + most < -2.0L * tolerance * (1.0L + steepest) * exact.lpNorm<1>();
}

}  // namespace stickslip::support
