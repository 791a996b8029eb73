#include <cmath>
#include <random>

#include "tests/reference/blocks.hpp"

namespace stickslip::reference {
namespace {

constexpr double kEnough = 1e-13;  ///< times max|b|: as exact as the residual itself

/// Natural map with unknowns and equations scaled so that W has a unit diagonal:
/// z = r_hat / sqrt(rho) -> F / sqrt(rho).
class ScaledMap {
 public:
  ScaledMap(const Problem& problem, Law law) : problem_(problem), law_(law) {
    const int n = rows(problem);
    const Vector rho = natural_map(problem, Vector::Zero(n), law).rho;
    root_rho_ = rho.cwiseSqrt();
    unit_ = root_rho_;
    for (const Block& block : blocks(problem)) {
      unit_.segment(block.row, block.size).array() *=
          circular<double>(problem, block, law).scale.array();
    }
  }
  Vector impulse(const Vector& z) const { return unit_.cwiseProduct(z); }
  Vector value(const Vector& z) const {
    return natural_map(problem_, impulse(z), law_).value.cwiseQuotient(root_rho_);
  }
  /// Central differences of this piecewise smooth map. The map itself is exact, so errors of the
  /// Jacobian affect speed, not accuracy; at a kink they average both sides, as Clarke's does.
  Matrix jacobian(const Vector& z, double step) const {
    Matrix J(z.size(), z.size());
    Vector moved = z;
    for (int j = 0; j < z.size(); ++j) {
      moved[j] = z[j] + step;
      J.col(j) = value(moved);
      moved[j] = z[j] - step;
      J.col(j) = (J.col(j) - value(moved)) / (2.0 * step);
      moved[j] = z[j];
    }
    return J;
  }
  Vector scaled(const Vector& r) const {
    return (unit_.array() == 0.0).select(0.0, r.array() / unit_.array());
  }
  double size() const { return problem_.b.cwiseProduct(root_rho_).lpNorm<Eigen::Infinity>(); }

 private:
  const Problem& problem_;
  Law law_;
  Vector root_rho_, unit_;
};

/// Levenberg-Marquardt on the natural map from `start`; keeps every improvement.
Vector newton(const Problem& problem, Law law, const Vector& start) {
  const ScaledMap map(problem, law);
  Vector z = map.scaled(start);
  Vector F = map.value(z);
  const double step = 1e-7 * (map.size() + z.lpNorm<Eigen::Infinity>());
  double damping = 1e-4;
  for (int iteration = 0; iteration < 200 && damping < 1e4; ++iteration) {
    if (F.norm() <= 1e-15 * map.size()) break;
    const int n = int(z.size());
    Matrix A(2 * n, n);
    A << map.jacobian(z, step), std::sqrt(damping) * Matrix::Identity(n, n);
    Vector right = Vector::Zero(2 * n);
    right.head(n) = -F;
    const Vector trial = z + A.householderQr().solve(right);
    const Vector trial_F = map.value(trial);
    if (trial_F.norm() < F.norm()) {
      z = trial;
      F = trial_F;
      damping = std::max(0.1 * damping, 1e-15);
    } else {
      damping = std::max(10.0 * damping, 1e-12);
    }
  }
  return map.impulse(z);
}

/// Gauss-Seidel on the natural map: each block in turn takes its own projected step of size 1/trace
/// of the block, which is stable for any spectrum.
Vector relax(const Problem& problem, Law law, Vector r, int sweeps) {
  const std::vector<Block> all = blocks(problem);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const Block& block : all) {
      const NaturalMap map = natural_map(problem, r, law);
      const Vector scale = circular<double>(problem, block, law).scale;
      r.segment(block.row, block.size) -=
          scale.cwiseProduct(map.value.segment(block.row, block.size)) / block.size;
    }
  }
  return r;
}

/// Remembers the best candidate.
class Best {
 public:
  Best(const Problem& problem, Law law)
      : problem_(problem), law_(law), best_{Vector::Zero(rows(problem)), 0.0} {
    best_.residual = residual(problem, best_.impulse, law);
    enough_ = kEnough * std::max(1.0, problem.b.lpNorm<Eigen::Infinity>());
  }
  bool offer(const Vector& r) {
    const double value = residual(problem_, r, law_);
    if (value < best_.residual) best_ = {r, value};
    return best_.residual <= enough_;
  }
  const Solution& get() const { return best_; }

 private:
  const Problem& problem_;
  Law law_;
  Solution best_;
  double enough_;
};

/// Follows the solution from a problem with large compliance to the original one.
Vector homotopy(const Problem& problem, Law law) {
  const Vector diagonal = problem.W.diagonal();
  Vector r = Vector::Zero(rows(problem));
  for (double softness = 1.0; softness > 1e-12; softness *= 0.3) {
    Problem soft = problem;
    soft.R += softness * diagonal;
    r = newton(soft, law, r);
  }
  return newton(problem, law, r);
}

}  // namespace

Solution solve(const Problem& problem, Law law) {
  Best best(problem, law);
  const int n = rows(problem);
  if (n == 0 || best.offer(best.get().impulse)) return best.get();
  Vector r = Vector::Zero(n);
  for (int sweeps : {20, 200, 2000}) {
    r = relax(problem, law, r, sweeps);
    if (best.offer(r) || best.offer(newton(problem, law, r))) return best.get();
  }
  if (best.offer(homotopy(problem, law))) return best.get();
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const double size = problem.b.lpNorm<Eigen::Infinity>();
  for (int start = 0; start < 50; ++start) {
    for (int i = 0; i < n; ++i) {
      const double diagonal = problem.W(i, i) + problem.R[i];
      r[i] = diagonal > 0.0 ? 3.0 * uniform(random) * size / diagonal : 0.0;
    }
    if (best.offer(newton(problem, law, relax(problem, law, r, 5)))) break;
  }
  return best.get();
}

}  // namespace stickslip::reference
