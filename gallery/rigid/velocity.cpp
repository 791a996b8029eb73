// A semi-implicit Euler step with constraints at velocity level:
//   M (u+ - u) = dt g(q, u) + J^T r,   J u+ + bias in the rows' cones with r,   s+ = s + dt S u+.
// bias = C(s, t + dt) / dt makes gaps and joints first-order accurate (Signorini with phi / dt).
// The fixed-point iteration of Hotz et al. (eq. 6, 7) makes them exact at the end of the step:
//   nu = -delta(s+) + dt J u+,   bias = -nu / dt,   until delta(s+) >= 0.
#include <algorithm>
#include <cmath>

#include "gallery/rigid/environment.hpp"

namespace stickslip::gallery::rigid {
namespace {

bool is_friction(const Layout& layout, int row) {
  const int unilateral = layout.counts.n_free + layout.counts.n_nonneg;
  const int blocks = unilateral + layout.counts.n_box;
  return row >= unilateral && (row < blocks || (row - blocks) % 3 != 0);
}

void set_bias(Environment& env, const SimOptions& options) {
  const double h = options.time_step;
  env.rate = env.J * env.u;
  for (int i = 0; i < env.layout.rows; ++i) {
    const Row& row = env.start.rows[i];
    env.rate[i] += row.rate;
    env.bias[i] = 0.;
    if (i < env.layout.counts.n_free) {
      env.bias[i] = row.rate + options.correction * (row.C / h - row.rate);
    } else if (!is_friction(env.layout, i)) {
      env.bias[i] = contact_bias(options.contact, row.C, env.rate[i], h);
      env.problem.R(0)[i] = options.contact.compliance;
    }
  }
  int box = 0;
  for (std::size_t j = 0; j < env.system.joints.size(); ++j) {
    if (env.layout.friction[j] < 0) continue;
    env.problem.hi(0)[box] = h * env.system.joints[j].friction;
    env.problem.lo(0)[box] = -env.problem.hi(0)[box];
    ++box;
  }
}

// Whether gaps and joints are correct at the end of the step, and only contacts that touch (or
// bounce) carry an impulse.
bool meets(Environment& env, const Constraints& end, const SimOptions& options) {
  const double h = options.time_step;
  for (int i = 0; i < env.layout.rows; ++i) {
    if (is_friction(env.layout, i)) continue;
    double off = end.rows[i].C;
    if (i >= env.layout.counts.n_free) {
      const double C = env.start.rows[i].C;
      off -= least_end_gap(options.contact, C, h);
      // An impulse in metres: the distance by which it alone would move its own row in the step.
      const bool bounces = bounce(options.contact, C, env.rate[i]) < 0.;
      off = std::min(off, bounces ? 0. : h * env.diagonal(i) * env.impulse()[i]);
    }
    if (!(std::abs(off) <= options.gap_tolerance)) return false;
  }
  return true;
}

// Solves with reduced gaps where a gap is too wide to close in this step: a wide gap would only
// enlarge the tolerance, which grows with max|b|. A row that then presses gets its width back.
bool solve_rows(Environment& env, const SimOptions& options, Workspace& workspace) {
  const Vector bias = env.bias;
  const double fastest = 2. * (env.J * env.free).lpNorm<Eigen::Infinity>();
  for (int i = env.layout.counts.n_free; i < env.layout.rows; ++i)
    env.bias[i] = std::min(env.bias[i], fastest);
  const bool good = env.solve(options.solve, workspace);
  const Vector narrowed = env.bias;
  env.bias = bias;
  for (int i = env.layout.counts.n_free; good && i < env.layout.rows; ++i)
    if (narrowed[i] != bias[i] && env.impulse()[i] > 0.) return env.solve(options.solve, workspace);
  return good;
}

// The next round's bias, from gaps at the end of the step (eq. 6).
void correct_bias(Environment& env, const Constraints& end, const SimOptions& options) {
  const double h = options.time_step;
  const Vector after = env.J * env.next;
  for (int i = 0; i < env.layout.rows; ++i) {
    if (i < env.layout.counts.n_free) {
      env.bias[i] = end.rows[i].C / h - after[i];
    } else if (!is_friction(env.layout, i)) {
      env.bias[i] = corrected_bias(options.contact, env.start.rows[i].C, env.rate[i], h,
                                   end.rows[i].C, after[i]);
    }
  }
}

// For steps in which normals turn so much that the iteration alternates or is slow: the fraction of
// each correction for which the last two would cancel (Aitken's; Irons & Tuck 1969).
class Relaxation {
 public:
  double operator()(const Vector& correction) {
    if (before_.size() > 0) {
      const Vector change = correction - before_;
      const double share = -share_ * before_.dot(change) / change.squaredNorm();
      if (std::isfinite(share) && share != 0.) share_ = share;
    }
    before_ = correction;
    return share_;
  }

 private:
  Vector before_;
  double share_ = 1.;
};

// Solves, and repeats with the gaps at the end of the step if the method requires it.
bool solve_step(Environment& env, double time, const SimOptions& options, Workspace& workspace) {
  const double h = options.time_step;
  Relaxation relaxation;
  for (env.rounds = 1;; ++env.rounds) {
    if (!solve_rows(env, options, workspace)) return false;
    if (options.method == Method::linearised) return true;
    const Constraints end =
        constraints(env.system, env.layout, advanced(env.system.bodies, env.next, h), time + h);
    if (meets(env, end, options)) return true;
    if (env.rounds >= options.max_rounds) break;
    const Vector bias = env.bias;
    correct_bias(env, end, options);
    const Vector correction = env.bias - bias;
    env.bias = bias + relaxation(correction) * correction;
  }
  env.status = std::max(env.status, EnvStatus::not_converged);
  return true;
}

}  // namespace

void step_velocity(Environment& env, double time, const SimOptions& options, Workspace& workspace) {
  const double h = options.time_step;
  auto& bodies = env.system.bodies;
  env.start = constraints(env.system, env.layout, bodies, time + h);
  env.assemble_mechanism();
  env.free = env.u + h * free_acceleration(env.system, bodies);
  set_bias(env, options);
  const bool newton = options.method == Method::release || options.method == Method::fischer;
  const bool good =
      is_finite(bodies) && env.bias.allFinite() && env.form_delassus(workspace) &&
      (newton ? solve_by_newton(env, time, options) : solve_step(env, time, options, workspace));
  if (!good) return env.fail();
  for (int i = 0; i < env.layout.rows; ++i)
    if (!is_friction(env.layout, i)) env.correction -= env.impulse()[i] * env.bias[i];
  bodies = advanced(bodies, env.next, h);
  env.measure(time + h);
}

}  // namespace stickslip::gallery::rigid
