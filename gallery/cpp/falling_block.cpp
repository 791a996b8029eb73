// A block falls onto the ground: one standard LCP per time step. Document 003 "LCP Notes", section
// 1; docs/gallery/falling_block.md.
//
// Implicit Euler, x_{k+1} = x_k + xdot_{k+1} dt and xdot_{k+1} = xdot_k + (-g + lambda_{k+1} / m)
// dt, makes the contact force a linear function of the separation:
//   lambda_{k+1} = M x_{k+1} + q,   M = m / dt^2,   q = -m / dt^2 (x_k + dt xdot_k - g dt^2),
//   0 <= lambda_{k+1} ⟂ x_{k+1} >= 0.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;

constexpr double g = 9.81, kTime = 1.;  // m/s², s: the longest fall takes 0.88 s
constexpr double kHeight[] = {0.1, 2.}, kSpeed[] = {-2., 2.};   // m, m/s
constexpr double kStep[] = {1e-3, 2e-2}, kMass[] = {0.1, 10.};  // s, kg
constexpr double kAtol = 1e-15, kRtol = 1e-14;                  // N; of q: its rounding

struct Block {
  double m, x, xdot, dt;  // initial x and xdot
  double energy(double x_now, double xdot_now) const {
    return m * (0.5 * xdot_now * xdot_now + g * x_now);
  }
};

Block vary_block(int i) {
  return {.m = vary_log(i, 0, kMass[0], kMass[1]),
          .x = vary(i, 1, kHeight[0], kHeight[1]),
          .xdot = vary(i, 2, kSpeed[0], kSpeed[1]),
          .dt = vary_log(i, 3, kStep[0], kStep[1])};
}

/// Rows are blocks, columns times.
struct Fall {
  MatrixXd x, xdot, lambda;  // m, m/s, N of the step to this time
  double unsolved = 0.;
};

Fall fall(const std::vector<Block>& blocks, int steps) {
  const int n = int(blocks.size());
  const MatrixXd zero = MatrixXd::Zero(n, steps + 1);
  Fall f{.x = zero, .xdot = zero, .lambda = zero};
  HostLcp lcp(n, 1);
  HostLcpResults results(n, 1);
  LcpWorkspace workspace({.max_rows = 1, .threads = 1});
  for (int i = 0; i < n; ++i) {
    f.x(i, 0) = blocks[i].x;
    f.xdot(i, 0) = blocks[i].xdot;
    lcp.M(i)[0] = blocks[i].m / (blocks[i].dt * blocks[i].dt);
  }
  for (int k = 0; k < steps; ++k) {
    for (int i = 0; i < n; ++i) {
      const double dt = blocks[i].dt;
      *lcp.q(i) = -*lcp.M(i) * (f.x(i, k) + dt * f.xdot(i, k) - g * dt * dt);
    }
    solve_lcp(lcp.view(), results.view(), {.atol = kAtol, .rtol = kRtol}, workspace);
    for (int i = 0; i < n; ++i) {
      f.x(i, k + 1) = *results.z(i);
      f.lambda(i, k + 1) = *results.w(i);
      f.xdot(i, k + 1) = f.xdot(i, k) + (-g + f.lambda(i, k + 1) / blocks[i].m) * blocks[i].dt;
      f.unsolved += results.status(i) != EnvStatus::solved;
    }
  }
  return f;
}

/// The motion in closed form: x_k = x_0 + k dt xdot_0 - k (k + 1) / 2 g dt^2 until that is
/// negative; then a step that ends on the ground, one that reduces its speed to zero, and rest.
struct Motion {
  double x, xdot, lambda;
};

Motion closed_form(const Block& b, int k) {
  const auto flight = [&](int j) { return b.x + j * b.dt * (b.xdot - 0.5 * (j + 1) * g * b.dt); };
  // The first step whose end would be below the ground: of the roots of flight(j), the larger one.
  const double v = b.xdot / (g * b.dt) - 0.5;
  const double root = v + std::sqrt(v * v + 2. * b.x / (g * b.dt * b.dt));
  const int touch = int(std::floor(root)) + 1;
  if (k < touch) return {flight(k), b.xdot - k * g * b.dt, 0.};
  const double before = flight(touch - 1), step = b.m / (b.dt * b.dt);
  if (k == touch) return {0., -before / b.dt, -step * flight(touch)};
  return {0., 0., b.m * g + (k == touch + 1 ? step * before : 0.)};
}

}  // namespace

Record falling_block(int variations) {
  std::vector<Block> blocks;
  MatrixXd parameters(variations, 4);
  for (int i = 0; i < variations; ++i) {
    blocks.push_back(vary_block(i));
    parameters.row(i) << blocks[i].m, blocks[i].x, blocks[i].xdot, blocks[i].dt;
  }
  const int steps = int(kTime / kStep[0]);
  const Fall f = fall(blocks, steps);
  Largest x, xdot, lambda, both, below, pull, growth, balance;  // x to pull: m
  for (int i = 0; i < variations; ++i) {
    const Block& b = blocks[i];
    const double unit = b.dt * b.dt / b.m;
    double impulse = 0.;
    for (int k = 1; k <= steps; ++k) {
      const Motion exact = closed_form(b, k);
      x(std::abs(f.x(i, k) - exact.x));
      xdot(std::abs(f.xdot(i, k) - exact.xdot) * b.dt);
      lambda(std::abs(f.lambda(i, k) - exact.lambda) * unit);
      both(std::min(f.x(i, k), f.lambda(i, k) * unit));
      below(std::max(0., -f.x(i, k)));
      pull(-f.lambda(i, k) * unit);
      growth((b.energy(f.x(i, k), f.xdot(i, k)) - b.energy(f.x(i, k - 1), f.xdot(i, k - 1))) /
             b.energy(b.x, b.xdot));
      impulse += f.lambda(i, k) * b.dt / b.m;
    }
    balance(std::abs(impulse + b.xdot - g * steps * b.dt));
  }
  Record record;
  record.checks = {{"steps not solved", f.unsolved, 0.},
                   {"height against the closed form, m", x, 1e-9},
                   {"speed times dt against the closed form, m", xdot, 1e-9},
                   {"force times dt^2/m against the closed form, m", lambda, 1e-9},
                   {"lesser of height and force times dt^2/m, m", both, 3e-15},
                   {"depth below the ground, m", below, 0.},
                   {"pull of the ground times dt^2/m, m", pull, 3e-15},
                   {"energy won in a step, of the first", growth, 1e-15},
                   {"impulses per mass against momentum, m/s", balance, 3e-11}};
  record.series = {series("m, x, xdot, dt", parameters), series("x", f.x), series("xdot", f.xdot),
                   series("lambda", f.lambda)};
  return record;
}

}  // namespace stickslip::gallery
