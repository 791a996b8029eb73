// A block on a rough table is pushed at random in both directions, 30,000 steps, in two
// formulations: document 003 "LCP Notes", section 2.2, and the traditional one that it leaves open,
// which is the LCP of document 000 in one dimension; docs/gallery/bidirectional_sliding.md.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <random>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd;

constexpr double g = 9.81;                                      // m/s²
constexpr int kSteps = 30'000, kShown = 300;                    // all, and those plotted
constexpr double kMu[] = {0.2, 0.8}, kPush[] = {0.5, 6.};       // 1; largest |u|, in mu m g
constexpr double kAtol = 1e-11, kRtol = 1e-14;                  // N or m/s; of q
constexpr double kStep[] = {5e-3, 5e-2}, kMass[] = {0.1, 10.};  // s, kg

struct Block {
  int i;
  double m = vary_log(i, 0, kMass[0], kMass[1]), mu = vary(i, 1, kMu[0], kMu[1]);
  double dt = vary_log(i, 2, kStep[0], kStep[1]), push = vary(i, 3, kPush[0], kPush[1]);
  std::mt19937_64 random{std::uint64_t(i)};
  double most() const { return mu * m * g; }
  double next_u() { return push * most() * (2. * double(random() >> 11) * 0x1p-53 - 1.); }
};

/// A batch of LCPs that is solved repeatedly.
struct Stepper {
  HostLcp lcp;
  HostLcpResults results{lcp.num_envs(), lcp.max_rows()};
  LcpWorkspace workspace{{.max_rows = lcp.max_rows(), .threads = 1}};
  double unsolved = 0.;
  void solve() {
    solve_lcp(lcp.view(), results.view(), {.atol = kAtol, .rtol = kRtol}, workspace);
    for (int i = 0; i < lcp.num_envs(); ++i) unsolved += results.status(i) != EnvStatus::solved;
  }
};

/// Document 003: z = (xdot+, xdot-), w = (lambda-', lambda+'), M = m / dt 1.
Stepper slack_form(const std::vector<Block>& blocks) {
  HostLcp lcp(int(blocks.size()), 2);
  for (int i = 0; i < lcp.num_envs(); ++i) lcp.M(i)[0] = lcp.M(i)[3] = blocks[i].m / blocks[i].dt;
  return {lcp};
}

/// Document 000, eq. 14: z = (f_n, f_d+, f_d-, lambda), for q = (x, height), N = e_height,
/// B = (e_x, -e_x). Its matrix does not change.
Stepper traditional_form(const std::vector<Block>& blocks) {
  const double N[] = {0., 1.}, B[] = {1., -1., 0., 0.}, tau[] = {0., 0.};
  HostLcp lcp(int(blocks.size()), 4);
  for (int i = 0; i < lcp.num_envs(); ++i) {
    const double M[] = {blocks[i].m, 0., 0., blocks[i].m};
    ContactSystems s{.num_envs = 1, .nv = 2, .max_contacts = 1, .directions = 2};
    s.dt = blocks[i].dt;
    s.M.data = M, s.tau.data = tau, s.N.data = N, s.B.data = B, s.mu.data = &blocks[i].mu;
    std::copy_n(StandardForm(stewart_trinkle(s).view(), 1).problem().M(0), 16, lcp.M(i));
  }
  return {lcp};
}

/// All blocks, in both formulations and in closed form.
struct Table {
  std::vector<Block> blocks;
  Stepper slack = slack_form(blocks), traditional = traditional_form(blocks);
  ArrayXd plus = ArrayXd::Zero(Eigen::Index(blocks.size())), minus = plus, v = plus, exact = plus,
          u = plus, fictitious = plus, rests = plus;  // m/s; N; largest force, mu m g; steps
  /// Largest violations, m/s; of the energy, m²/s².
  Largest apart{}, lemma{}, slack_exact{}, other_exact{}, motion{}, other{}, sum{}, speed{},
      energy{};

  void push(int i) {
    const Block& b = blocks[i];
    u[i] = blocks[i].next_u();
    double* q = slack.lcp.q(i);
    q[0] = b.m / b.dt * (minus[i] - plus[i]) - u[i] + b.most();
    q[1] = b.m / b.dt * (plus[i] - minus[i]) + u[i] + b.most();
    q = traditional.lcp.q(i);  // eq. 15, tau* = (m v + dt u, -m g dt)
    q[0] = -g * b.dt, q[1] = v[i] + b.dt / b.m * u[i], q[2] = -q[1];
  }

  void slide(int i) {
    const Block& b = blocks[i];
    const double unit = b.dt / b.m, was = plus[i] - minus[i], v_was = v[i];
    const double *w = slack.results.w(i), *z = traditional.results.z(i);
    const double lambda_minus = b.most() - w[0], lambda_plus = b.most() - w[1];
    plus[i] = slack.results.z(i)[0], minus[i] = slack.results.z(i)[1];
    v[i] += unit * (u[i] + z[1] - z[2]);  // inserted in the equation of motion
    exact[i] += unit * u[i];
    exact[i] -= std::clamp(exact[i], -b.mu * g * b.dt, b.mu * g * b.dt);
    const double now = plus[i] - minus[i], least = std::min(lambda_plus, lambda_minus);
    const double friction = std::max(lambda_plus, 0.) - std::max(lambda_minus, 0.);
    apart(std::abs(v[i] - now));
    lemma(std::min(plus[i], minus[i]));
    slack_exact(std::abs(now - exact[i]));
    other_exact(std::abs(v[i] - exact[i]));
    motion(std::abs(now - was - unit * (u[i] + friction)));
    other(std::abs(unit * least + std::abs(was + unit * u[i])));
    sum(std::abs(now - 2. * (was + unit * u[i]) - unit * (lambda_plus - lambda_minus)));
    speed(std::abs(z[3] - std::abs(v[i])));
    energy(0.5 * (v[i] * v[i] - v_was * v_was) - unit * u[i] * v[i]);
    fictitious[i] = std::max(fictitious[i], -least / b.most());
    rests[i] += now == 0.;
  }
};

}  // namespace

Record bidirectional_sliding(int variations) {
  const int n = variations;
  MatrixXd parameters(n, 6), xdot(n, kShown), u(n, kShown), apart(1, kSteps);
  std::vector<Block> blocks;
  for (int i = 0; i < n; ++i) blocks.push_back({i});
  Table t{blocks};
  for (int k = 0; k < kSteps; ++k) {
    for (int i = 0; i < n; ++i) t.push(i);
    t.slack.solve();
    t.traditional.solve();
    t.apart = {};
    for (int i = 0; i < n; ++i) t.slide(i);
    apart(0, k) = t.apart;
    if (k < kShown) xdot.col(k) = t.plus - t.minus, u.col(k) = t.u;
  }
  for (const Block& b : blocks)
    parameters.row(b.i) << b.m, b.mu, b.dt, b.push, t.fictitious[b.i], t.rests[b.i] / kSteps;
  Record record;
  record.checks = {{"document's form: steps not solved", t.slack.unsolved, 0.},
                   {"traditional form: steps not solved", t.traditional.unsolved, 0.},
                   {"lemma 2.1: lesser of xdot+ and xdot-, m/s", t.lemma, 0.},
                   {"document's form against the closed form, m/s", t.slack_exact, 3e-9},
                   {"traditional form against the closed form, m/s", t.other_exact, 6e-9},
                   {"the two forms against each other, m/s", apart.maxCoeff(), 9e-9},
                   {"equation of motion with the positive force, m/s", t.motion, 1e-13},
                   {"fictitious force against m xdot/dt + u, times dt/m, m/s", t.other, 1e-13},
                   {"equation (2), m/s", t.sum, 1e-13},
                   {"traditional form: lambda against the speed, m/s", t.speed, 3e-13},
                   {"energy per mass won beyond the work of u, m²/s²", t.energy, 1e-11}};
  record.numbers = {{"largest fictitious force, in mu m g", t.fictitious.maxCoeff()},
                    {"steps that end at rest, share", t.rests.mean() / kSteps}};
  record.series = {series("m, mu, dt, push, fictitious, rests", parameters), series("xdot", xdot),
                   series("u", u), series("apart", apart)};
  return record;
}

}  // namespace stickslip::gallery
