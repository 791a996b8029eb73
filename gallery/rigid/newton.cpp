// Hotz et al., section 2.1: the impulses f of a step are the unknowns of a nonlinear system in the
// gaps at the end of the step,
//   sigma(f) = s + dt S (u + M^-1 (J^T f + dt g)),
//   release:  delta(sigma(f)) = 0  for the contacts that are held (eq. 3), Newton-Raphson;
//   fischer:  0 <= f, delta(sigma(f)) >= 0, one of them 0 (eq. 4), Newton on Fischer's function.
// Both include joints as bilateral rows. The unknowns are impulses in metres, dt W_ii f_i.
#include <algorithm>
#include <limits>

#include "gallery/rigid/environment.hpp"
#include "stickslip/mncp.hpp"

namespace stickslip::gallery::rigid {
namespace {

/// The impulses f of some rows, and the end of the step that results from them.
class Unknowns {
 public:
  Unknowns(Environment& env, std::vector<int> rows, double time, double h)
      : env_(env), rows_(std::move(rows)), time_(time), h_(h), step_(env.nv(), size()) {
    const Eigen::LDLT<Matrix> mass(env.M);
    for (Eigen::Index k = 0; k < size(); ++k)
      step_.col(k) = mass.solve(env.J.row(row(k)).transpose()) / metres(k);
  }
  Eigen::Index size() const { return Eigen::Index(rows_.size()); }
  int row(Eigen::Index k) const { return rows_[std::size_t(k)]; }

  /// delta (for joints C) of these rows at sigma(f); `end()` has all rows there.
  Vector gaps(const Vector& f) {
    end_ = constraints(env_.system, env_.layout,
                       advanced(env_.system.bodies, env_.free + step_ * f, h_), time_ + h_);
    Vector C(size());
    for (Eigen::Index k = 0; k < size(); ++k) C[k] = end_.rows[row(k)].C;
    return C;
  }
  const Constraints& end() const { return end_; }

  /// Derivative of the gaps at the f of the last call of `gaps`.
  Matrix jacobian() const {
    Matrix D = Matrix::Zero(size(), size());
    for (Eigen::Index k = 0; k < size(); ++k) {
      const auto [a, b] = end_.bodies[row(k)];
      const auto add = [&](int body, const Wrench& share) {
        if (body != kWorld) D.row(k) += h_ * share.transpose() * step_.middleRows<6>(6 * body);
      };
      add(a, end_.rows[row(k)].Ja);
      add(b, end_.rows[row(k)].Jb);
    }
    return D;
  }

  /// The latest impulses of the step as a start.
  Vector latest() const {
    Vector f(size());
    for (Eigen::Index k = 0; k < size(); ++k) f[k] = env_.impulse()[row(k)] * metres(k);
    return f;
  }
  /// Sets the step's impulses to f; false if it is not finite.
  bool accept(const Vector& f) {
    env_.next = env_.free + step_ * f;
    double* const impulse = env_.result.view().impulse.data;
    std::fill_n(impulse, env_.layout.rows, 0.);
    for (Eigen::Index k = 0; k < size(); ++k) impulse[row(k)] = f[k] / metres(k);
    return env_.next.allFinite();
  }

 private:
  double metres(Eigen::Index k) const { return h_ * env_.diagonal(row(k)); }  // of 1 N s

  Environment& env_;
  std::vector<int> rows_;
  double time_, h_;
  Matrix step_;  // [nv][unknowns] M^-1 J^T for one metre of each
  Constraints end_;
};

bool solve_fischer(Environment& env, double time, const SimOptions& options) {
  const int n_w = env.layout.counts.n_free, n = env.layout.rows, n_x = n - n_w;
  std::vector<int> rows;  // contacts and limits (x) before joints (w)
  for (int i = 0; i < n; ++i) rows.push_back(i < n_x ? n_w + i : i - n_x);
  Unknowns unknown(env, rows, time, options.time_step);
  const Vector start = unknown.latest();
  MncpBatch problem;
  problem.num_envs = 1;
  problem.max_x = n_x;
  problem.max_w = n_w;
  problem.start_x = {start.data(), n_x};
  problem.start_w = {start.data() + n_x, n_w};
  problem.map = [&](const MncpPoint& at) {
    Vector point(n);
    point << Eigen::Map<const Vector>(at.x, n_x), Eigen::Map<const Vector>(at.w, n_w);
    const Vector C = unknown.gaps(point);
    std::copy_n(C.data(), n_x, at.y);
    std::copy_n(C.data() + n_x, n_w, at.z);
    if (at.jacobian) Eigen::Map<Matrix>(at.jacobian, n, n) = unknown.jacobian();
  };
  Vector f(n);
  std::int32_t steps = 0;
  MncpResult result;
  result.x = {f.data(), n_x};
  result.w = {f.data() + n_x, n_w};
  result.residual = &env.residual;
  result.status = &env.status;
  result.iterations = &steps;
  MncpWorkspace workspace(n, 1);
  // Half of the tolerance, because positions are rounded once more.
  solve_mncp(problem, result,
             {.atol = 0.5 * options.gap_tolerance, .rtol = 1e-16, .max_newton = options.max_rounds},
             workspace);
  env.rounds = steps;
  env.residual /= options.time_step;
  return env.status != EnvStatus::bad_input && unknown.accept(f);
}

// Newton-Raphson for gaps(f) = 0 from f = 0. Dependent contacts are common: each step is the
// shortest of the best ones. Rows that agree to a part in a thousand count as dependent, because
// separating them needs impulses a thousand times as large. Without a solution the iteration ends
// between the gaps; returns the largest remaining gap.
double newton_raphson(Unknowns& unknown, const SimOptions& options, int& rounds, Vector& f) {
  f = Vector::Zero(unknown.size());
  for (double before = std::numeric_limits<double>::infinity();; ++rounds) {
    const Vector C = unknown.gaps(f);
    const double left = f.size() > 0 ? C.lpNorm<Eigen::Infinity>() : 0.;
    const bool progress = left < 0.5 * before;
    if (left <= 0.5 * options.gap_tolerance || !progress || rounds >= options.max_rounds)
      return left;
    before = left;
    Eigen::CompleteOrthogonalDecomposition<Matrix> dependent(f.size(), f.size());
    dependent.setThreshold(1e-3);
    f -= dependent.compute(unknown.jacobian()).solve(C);
  }
}

// The contact to hold or release next. If the gaps are met, the one that penetrates most; else the
// held one that pulls most or is farthest from its surface, because the others keep it away, but
// not `newest`. -1: none by more than the tolerance; `most`: by how much.
int next_change(const Environment& env, const Unknowns& unknown, const Vector& f, bool met,
                int newest, double& most) {
  Vector pull = Vector::Zero(env.layout.rows);
  for (Eigen::Index k = 0; k < f.size(); ++k) pull[unknown.row(k)] = -f[k];
  int change = -1;
  for (int i = env.layout.counts.n_free; i < env.layout.rows; ++i) {
    if (bool(env.touching[i]) == met || i == newest) continue;
    const double gap = unknown.end().rows[i].C, off = met ? -gap : std::max(gap, pull[i]);
    if (!(off > most)) continue;
    change = i;
    most = off;
  }
  return change;
}

// A contact is held from the step in which it would penetrate to the one in which it pulls; one
// step later it is released, or at once if the held ones have no solution. Without a solution the
// step is the last one that met its gaps.
bool solve_release(Environment& env, double time, const SimOptions& options) {
  const int n_free = env.layout.counts.n_free, n = env.layout.rows;
  for (int i = n_free; i < n; ++i)
    if (env.impulse()[i] < 0.) env.touching[i] = 0;
  env.next = env.free;
  env.residual = std::numeric_limits<double>::infinity();
  std::fill_n(env.result.view().impulse.data, n, 0.);
  env.rounds = 0;
  for (int newest = -1;;) {
    std::vector<int> rows;
    for (int i = 0; i < n; ++i)
      if (i < n_free || env.touching[i]) rows.push_back(i);
    Unknowns unknown(env, rows, time, options.time_step);
    Vector f;
    const double left = newton_raphson(unknown, options, env.rounds, f);
    const bool met = left <= options.gap_tolerance;
    double most = options.gap_tolerance;
    const int change = next_change(env, unknown, f, met, met ? -1 : newest, most);
    if (met && !unknown.accept(f)) return false;
    if (met) env.residual = (change < 0 ? left : most) / options.time_step;
    env.status = met && change < 0 ? EnvStatus::solved : EnvStatus::not_converged;
    if (change < 0 || env.rounds >= options.max_rounds) return true;
    env.touching[change] = met;
    if (met) newest = change;
  }
}

}  // namespace

bool solve_by_newton(Environment& env, double time, const SimOptions& options) {
  const double h = options.time_step;
  const auto solve = options.method == Method::fischer ? &solve_fischer : &solve_release;
  if (!solve(env, time, options)) return false;
  const Constraints end =
      constraints(env.system, env.layout, advanced(env.system.bodies, env.next, h), time + h);
  const Vector rate = env.J * env.next;
  for (int i = 0; i < env.layout.rows; ++i) env.bias[i] = end.rows[i].C / h - rate[i];
  return true;
}

}  // namespace stickslip::gallery::rigid
