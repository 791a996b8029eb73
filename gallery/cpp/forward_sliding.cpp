// A block is pushed forwards on a rough table: one standard LCP per time step. Document 003 "LCP
// Notes", section 2.1; docs/gallery/forward_sliding.md.
//
// With the "unused" friction force lambda'_{k+1} = mu m g - lambda_{k+1} the equation of motion
// xdot_{k+1} = xdot_k + (u_{k+1} - lambda_{k+1}) dt / m is the linear function
//   lambda'_{k+1} = M xdot_{k+1} + q,   M = m / dt,   q = -m / dt xdot_k - u_{k+1} + mu m g,
//   0 <= lambda'_{k+1} ⟂ xdot_{k+1} >= 0.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;

constexpr double g = 9.81, kPush = 4., kTime = 5.;              // m/s², s: of the push, of all
constexpr double kMu[] = {0.2, 0.8}, kSpeed[] = {0., 3.};       // 1, m/s
constexpr double kStep[] = {5e-3, 5e-2}, kMass[] = {0.1, 10.};  // s, kg
constexpr double kPeak[] = {0.5, 2.};                           // of u, in mu m g
constexpr double kAtol = 1e-15, kRtol = 1e-14;                  // N; of q: its rounding

struct Block {
  double m, mu, dt, xdot, peak;  // initial xdot
  double most() const { return mu * m * g; }
  /// u_k: increases from 0 to its peak and decreases to 0.
  double push(int k) const {
    const double s = std::sin(M_PI * std::min(k * dt / kPush, 1.));
    return peak * most() * s * s;
  }
};

Block vary_block(int i) {
  return {.m = vary_log(i, 0, kMass[0], kMass[1]),
          .mu = vary(i, 1, kMu[0], kMu[1]),
          .dt = vary_log(i, 2, kStep[0], kStep[1]),
          .xdot = vary(i, 3, kSpeed[0], kSpeed[1]),
          .peak = vary(i, 4, kPeak[0], kPeak[1])};
}

/// Rows are blocks, columns times.
struct Motion {
  MatrixXd xdot, lambda;  // m/s, N of the step to this time
  double unsolved = 0.;
};

Motion slide(const std::vector<Block>& blocks, int steps) {
  const int n = int(blocks.size());
  const MatrixXd zero = MatrixXd::Zero(n, steps + 1);
  Motion s{.xdot = zero, .lambda = zero};
  HostLcp lcp(n, 1);
  HostLcpResults results(n, 1);
  LcpWorkspace workspace({.max_rows = 1, .threads = 1});
  for (int i = 0; i < n; ++i) {
    s.xdot(i, 0) = blocks[i].xdot;
    *lcp.M(i) = blocks[i].m / blocks[i].dt;
  }
  for (int k = 0; k < steps; ++k) {
    for (int i = 0; i < n; ++i)
      *lcp.q(i) = -*lcp.M(i) * s.xdot(i, k) - blocks[i].push(k + 1) + blocks[i].most();
    solve_lcp(lcp.view(), results.view(), {.atol = kAtol, .rtol = kRtol}, workspace);
    for (int i = 0; i < n; ++i) {
      s.xdot(i, k + 1) = *results.z(i);
      s.lambda(i, k + 1) = blocks[i].most() - *results.w(i);
      s.unsolved += results.status(i) != EnvStatus::solved;
    }
  }
  return s;
}

}  // namespace

Record forward_sliding(int variations) {
  std::vector<Block> blocks;
  MatrixXd parameters(variations, 5);
  for (int i = 0; i < variations; ++i) {
    blocks.push_back(vary_block(i));
    const auto& [m, mu, dt, xdot, peak] = blocks[i];
    parameters.row(i) << m, mu, dt, xdot, peak;
  }
  const int steps = int(kTime / kStep[0]);
  const Motion s = slide(blocks, steps);
  Largest xdot, lambda, both, backwards, beyond, growth;  // xdot to beyond: m/s
  double again = 0., starts = 0.;                         // blocks that the push moved
  for (int i = 0; i < variations; ++i) {
    const Block& b = blocks[i];
    const double unit = b.dt / b.m;
    // Skorokhod's reflection: the speed without the limit at zero, S_k, minus its lowest negative
    // value so far.
    double sum = b.xdot, lowest = 0., before = b.xdot;
    bool moves = false;
    for (int k = 1; k <= steps; ++k) {
      const double u = b.push(k), found = s.xdot(i, k), friction = s.lambda(i, k);
      sum += b.dt * (u / b.m - b.mu * g);
      lowest = std::min(lowest, sum);
      const double exact = sum - lowest;
      xdot(std::abs(found - exact));
      const double force = exact > 0. ? b.most() : u + before / unit;
      lambda(std::abs(friction - force) * unit);
      both(std::min(found, (b.most() - friction) * unit));
      backwards(std::max(0., -friction * unit));
      beyond((friction - b.most()) * unit);
      growth(0.5 * (found * found - std::pow(s.xdot(i, k - 1), 2)) - u * unit * found);
      before = exact;
      starts += !moves && s.xdot(i, k - 1) == 0. && found > 0.;
      moves = found > 0.;
    }
    again += moves;
  }
  Record record;
  record.checks = {{"steps not solved", s.unsolved, 0.},
                   {"speed against the closed form, m/s", xdot, 3e-11},
                   {"friction times dt/m against the closed form, m/s", lambda, 3e-11},
                   {"lesser of speed and unused friction times dt/m, m/s", both, 2e-14},
                   {"friction that propels, times dt/m, m/s", backwards, 3e-14},
                   {"friction beyond mu m g, times dt/m, m/s", beyond, 2e-14},
                   {"energy per mass won beyond the work of u, m²/s²", growth, 1e-13},
                   {"blocks that still slide in the end", again, 0.}};
  record.numbers = {{"blocks set in motion by the push, share", starts / variations}};
  record.series = {series("m, mu, dt, xdot, peak", parameters), series("xdot", s.xdot),
                   series("lambda", s.lambda)};
  return record;
}

}  // namespace stickslip::gallery
