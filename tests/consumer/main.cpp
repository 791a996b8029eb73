// A program outside this repository: solves one box that hits the ground.
#include <stickslip/stickslip.hpp>

#include <cmath>
#include <cstdio>

int main() {
  using namespace stickslip;
  const RowCounts counts{.n_contacts = 1};
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double b[3] = {-1, 0.25, 0};
  const double mu[2] = {0.5, 0.5};
  ProblemBatch<double> problem;
  problem.num_envs = 1;
  problem.max_rows = 3;
  problem.max_contacts = 1;
  problem.counts = {&counts, 1};
  problem.W = {W, 9};
  problem.b = {b, 3};
  problem.mu = {mu, 2};
  HostResults<double> results(1, 3);
  solve(problem, results.view());
  const double* r = results.impulse(0);  // it sticks: u = 0, so r = -b
  std::printf("%s: %g %g %g\n", name(results.status(0)), r[0], r[1], r[2]);
  const double error = std::fabs(r[0] - 1) + std::fabs(r[1] + 0.25) + std::fabs(r[2]);
  return results.status(0) == EnvStatus::solved && error < 1e-8 ? 0 : 1;
}
