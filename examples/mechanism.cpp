// Balls of 0.2 kg fall on a floor: a simulator of 8 environments that has the matrices M and J.
#include <cmath>
#include <cstdio>
#include <vector>

#include "stickslip/stickslip.hpp"

int main() {
  using namespace stickslip;
  const int num_envs = 8, nv = 3, rows = 3;
  const double h = 0.01;  // s
  // What a simulator has: mass matrix, contact Jacobian (normal, tangents), positions, velocities.
  const double M[9] = {0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2};
  const double J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  const double mu[2] = {0.5, 0.5};
  const RowCounts counts{.n_contacts = 1};
  std::vector<double> height(num_envs), v(num_envs * nv), v_free(v), b(num_envs * rows);
  for (int env = 0; env < num_envs; ++env) {
    height[env] = 0.1 * env;
    v[env * nv] = 1.0;
  }

  // Views: pointer, and distance from one environment to the next; 0 shares one among all.
  ProblemBatch<double> problem;
  problem.num_envs = num_envs;
  problem.max_rows = rows;
  problem.max_contacts = 1;
  problem.counts = {&counts, 0};
  problem.mu = {mu, 0};
  problem.b = {b.data(), rows};
  MechanismStep<double> step;
  step.mechanism.num_envs = num_envs;
  step.mechanism.nv = nv;
  step.mechanism.max_rows = rows;
  step.mechanism.M = {M, 0};
  step.mechanism.J = {J, 0};
  step.v_free = {v_free.data(), nv};
  step.v_next = {v.data(), nv};
  HostResults<double> results(num_envs, rows);
  Workspace workspace(rows, /*max_contacts=*/1);  // memory and threads, for all steps
  const ContactModel contact{.restitution = 0.0};

  for (int k = 0; k < 100; ++k) {
    for (int env = 0; env < num_envs; ++env) {
      const double v_n = v[env * nv + 2];
      for (int i = 0; i < nv; ++i) v_free[env * nv + i] = v[env * nv + i] - (i == 2 ? h * 9.81 : 0);
      double* bias = &b[env * rows];
      bias[0] = v_free[env * nv + 2] + contact_bias(contact, height[env], v_n, h);
      bias[1] = v_free[env * nv];
      bias[2] = v_free[env * nv + 1];
    }
    solve_mechanism(step, problem, results.view(), {}, workspace);  // W, solve, v_next
    for (int env = 0; env < num_envs; ++env) {
      if (results.status(env) != EnvStatus::solved) return 1;
      height[env] += h * v[env * nv + 2];
    }
  }
  for (int env = 0; env < num_envs; ++env) {
    const double speed = std::fabs(v[env * nv]);  // friction has stopped the balls
    std::printf("%d: height %.3f m, speed %.3f m/s\n", env, std::fabs(height[env]), speed);
    if (std::fabs(height[env]) > 1e-6 || speed > 1e-6) return 1;
  }
}
