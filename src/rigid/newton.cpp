// Hotz et al., section 2.1: the impulses f of a step as unknowns of a nonlinear system in the gaps
// at its end,
//   sigma(f) = s + dt S (u + M^-1 (J^T f + dt g)),
//   release:  delta(sigma(f)) = 0  for the contacts that are held (eq. 3), Newton-Raphson;
//   fischer:  0 <= f, delta(sigma(f)) >= 0, one of them 0 (eq. 4), Newton on Fischer's function.
// Joints are bilateral rows of both. Impulses are counted in metres, dt W_ii f_i.
#include <algorithm>

#include "src/rigid/environment.hpp"
#include "stickslip/mncp.hpp"

namespace stickslip::rigid {
namespace {

// The rows that are unknowns now: contacts and limits (x) before held ones and joints (w).
struct Unknowns {
  std::vector<int> rows;
  int n_x = 0;
  Matrix step;  // [nv][unknowns] M^-1 J^T of a metre of each

  Unknowns(Environment& env, Method method, double h) {
    const int n_free = env.layout.shape.n_free, n = env.layout.rows;
    if (method == Method::fischer)
      for (int i = n_free; i < n; ++i) rows.push_back(i);
    n_x = int(rows.size());
    for (int i = 0; i < n; ++i)
      if (i < n_free || (method == Method::release && env.touching[i])) rows.push_back(i);
    const Eigen::LDLT<Matrix> mass(env.M);
    step.resize(env.nv(), Eigen::Index(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      step.col(Eigen::Index(k)) =
          mass.solve(env.J.row(rows[k]).transpose()) / (h * env.diagonal(rows[k]));
  }
};

// One solve of the system; `env.next` and the impulses.
bool solve_unknowns(Environment& env, double time, const SimOptions& options,
                    const Unknowns& unknown, Constraints& end) {
  const double h = options.time_step;
  const auto total = Eigen::Index(unknown.rows.size()), n_x = Eigen::Index(unknown.n_x);
  const auto velocity = [&](const Vector& f) -> Vector { return env.free + unknown.step * f; };
  const auto end_of = [&](const Vector& f) {
    return constraints(env.system, env.layout, advanced(env.system.bodies, velocity(f), h),
                       time + h);
  };
  const auto map = [&](const MncpPoint& at) {
    Vector f(total);
    f << Eigen::Map<const Vector>(at.x, n_x), Eigen::Map<const Vector>(at.w, total - n_x);
    const Constraints now = end_of(f);
    for (Eigen::Index k = 0; k < total; ++k) {
      const int row = unknown.rows[std::size_t(k)];
      (k < n_x ? at.y[k] : at.z[k - n_x]) = now.rows[row].C;
      if (!at.jacobian) continue;
      Eigen::Map<Vector> derivative(at.jacobian + k * total, total);
      const auto [a, b] = now.bodies[row];
      const auto add = [&](int body, const Wrench& share) {
        if (body != kWorld)
          derivative += h * unknown.step.middleRows<6>(6 * body).transpose() * share;
      };
      add(a, now.rows[row].Ja);
      add(b, now.rows[row].Jb);
    }
  };
  Vector f = Vector::Zero(total);
  const std::int32_t w = std::int32_t(total - n_x);
  std::int32_t steps = 0;
  MncpBatch problem;
  problem.num_envs = 1;
  problem.max_x = unknown.n_x;
  problem.max_w = w;
  problem.map = map;
  MncpResult result;
  result.x = {f.data(), n_x};
  result.w = {f.data() + n_x, w};
  result.residual = &env.residual;
  result.status = &env.status;
  result.iterations = &steps;
  // Half of the tolerance: positions are rounded once more.
  solve_mncp(
      problem, result,
      {.atol = 0.5 * options.gap_tolerance, .rtol = 1e-16, .max_newton = options.max_rounds});
  if (env.status == EnvStatus::bad_input) return false;
  env.rounds += steps;
  env.residual /= h;
  env.next = velocity(f);
  end = end_of(f);
  double* const impulse = env.result.view().impulse.data;
  std::fill_n(impulse, env.layout.rows, 0.);
  for (Eigen::Index k = 0; k < total; ++k) {
    const int row = unknown.rows[std::size_t(k)];
    impulse[row] = f[k] / (h * env.diagonal(row));
  }
  return env.next.allFinite();
}

}  // namespace

bool solve_by_newton(Environment& env, double time, const SimOptions& options) {
  env.rounds = 0;
  Constraints end;
  // A contact is held from the step in which it would penetrate to the one in which it pulls.
  for (int i = env.layout.shape.n_free; i < env.layout.rows; ++i)
    if (env.touching[i] && env.impulse()[i] < 0.) env.touching[i] = 0;
  for (bool again = true; again;) {
    if (!solve_unknowns(env, time, options, {env, options.method, options.time_step}, end))
      return false;
    again = false;
    for (int i = env.layout.shape.n_free; i < env.layout.rows && options.method == Method::release;
         ++i) {
      if (env.touching[i] || !(end.rows[i].C < -options.gap_tolerance)) continue;
      env.touching[i] = 1;
      again = true;
    }
  }
  const Vector rate = env.J * env.next;
  for (int i = 0; i < env.layout.rows; ++i)
    env.bias[i] = end.rows[i].C / options.time_step - rate[i];
  return true;
}

}  // namespace stickslip::rigid
