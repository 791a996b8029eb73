// Constraints at acceleration level (La Barbera): M u' = g + J^T f with J u' + k = 0, where k holds
// the second derivatives, here with Baumgarte's terms 2 alpha C' + alpha^2 C against drift;
// integrated with the classical Runge-Kutta method of order 4.
#include <algorithm>

#include "gallery/rigid/environment.hpp"

namespace stickslip::gallery::rigid {
namespace {

// s' = S u and u' of the bodies, per body 7 + 6 numbers.
struct Rate {
  std::vector<Eigen::Matrix<double, 7, 1>> pose;
  Vector velocity;
};

std::vector<Body> moved(const std::vector<Body>& bodies, const Rate& rate, double dt) {
  std::vector<Body> next = bodies;
  for (std::size_t i = 0; i < next.size(); ++i) {
    Body& b = next[i];
    const Eigen::Index at = 6 * Eigen::Index(i);
    b.pose.position = array(vec(b.pose.position) + dt * rate.pose[i].head<3>());
    Eigen::Map<Eigen::Vector4d>(b.pose.rotation.data()) += dt * rate.pose[i].tail<4>();
    b.velocity = array(vec(b.velocity) + dt * rate.velocity.segment<3>(at));
    b.spin = array(vec(b.spin) + dt * rate.velocity.segment<3>(at + 3));
  }
  return next;
}

bool rate_of(Environment& env, double time, const SimOptions& options, Workspace& workspace,
             Rate& rate) {
  const auto& bodies = env.system.bodies;
  env.start = constraints(env.system, env.layout, bodies, time);
  env.assemble_mechanism();
  env.free = free_acceleration(env.system, bodies);
  const Vector C_rate = env.J * env.u;
  const double alpha = options.stabilisation;
  for (int i = 0; i < env.layout.rows; ++i) {
    const Row& row = env.start.rows[i];
    env.bias[i] = row.k + alpha * (2. * (C_rate[i] + row.rate) + alpha * row.C);
  }
  const EnvStatus before = env.status;
  const double residual = env.residual;
  if (!is_finite(bodies) || !env.bias.allFinite() || !env.form_delassus(workspace) ||
      !env.solve(options.solve, workspace))
    return false;
  env.status = std::max(before, env.status);
  env.residual = std::max(residual, env.residual);
  rate.velocity = env.next;
  rate.pose.resize(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto G = quaternion_map(bodies[i].pose.rotation);
    rate.pose[i] << vec(bodies[i].velocity),
        Eigen::Map<const Eigen::Matrix<double, 4, 3, Eigen::RowMajor>>(G.data()) *
            vec(bodies[i].spin);
  }
  return true;
}

}  // namespace

void step_acceleration(Environment& env, double time, const SimOptions& options,
                       Workspace& workspace) {
  const double h = options.time_step;
  const std::vector<Body> begin = env.system.bodies;
  env.status = EnvStatus::solved;
  env.residual = 0.;
  env.rounds = 4;
  // Nodes and weights of the stages; stage i starts at the end of stage i - 1, after `node` h.
  constexpr double node[] = {0., 0.5, 0.5, 1.}, weight[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  Rate rate;
  std::vector<Body> end = begin;
  for (int stage = 0; stage < 4; ++stage) {
    if (stage > 0) env.system.bodies = moved(begin, rate, node[stage] * h);
    if (!rate_of(env, time + node[stage] * h, options, workspace, rate)) {
      env.system.bodies = begin;
      return env.fail();
    }
    end = moved(end, rate, weight[stage] * h);
  }
  for (Body& b : end) {
    Eigen::Map<Eigen::Vector4d> Q(b.pose.rotation.data());
    Q.normalize();
  }
  env.system.bodies = end;
  env.measure(time + h);
}

}  // namespace stickslip::gallery::rigid
