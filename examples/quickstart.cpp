// Eight boxes of mass 1 kg hit a floor at 1 m/s while sliding at 0, 0.1, ... 0.7 m/s.
#include <cstdio>

#include "stickslip/stickslip.hpp"

int main() {
  stickslip::HostProblems<double> problems(/*num_envs=*/8, /*max_rows=*/3, /*max_contacts=*/1);
  for (int env = 0; env < 8; ++env) {
    problems.counts(env).n_contacts = 1;
    for (int i = 0; i < 3; ++i) problems.W(env)[4 * i] = 1.0;  // W = J M^-1 J^T = I, 1/kg
    problems.b(env)[0] = -1.0;                                 // free velocity (n, t1, t2), m/s
    problems.b(env)[1] = 0.1 * env;
    problems.mu(env)[0] = problems.mu(env)[1] = 0.5;
  }
  stickslip::HostResults<double> results(8, 3);
  stickslip::solve(problems.view(), results.view());  // exact Coulomb friction, double

  for (int env = 0; env < 8; ++env) {
    const double* r = results.impulse(env);
    std::printf("%d: %s, residual %.1e m/s, impulse (%.2f, %.2f, %.2f) N s\n", env,
                stickslip::name(results.status(env)), results.residual(env), r[0], r[1], r[2]);
    if (results.status(env) != stickslip::EnvStatus::solved) return 1;
  }
}
