// Contacts that wedge: |W_nt| mu > W_nn together with active limits (Painleve's side), where an
// impulse of friction presses the bodies together. Robots that fall on a stretched leg have them.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "tests/support/count.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using reference::Problem;
using reference::Vector;

/// W of the first contact, after the `limits`, while the rows of `active` keep their velocity.
Matrix reduced(const Matrix& W, int limits, const std::vector<int>& active) {
  const auto own = Eigen::seqN(limits, 3);
  if (active.empty()) return W(own, own);
  const Matrix inner = W(active, active), outer = W(active, own);
  return W(own, own) - outer.transpose() * inner.llt().solve(outer);
}

/// A problem with a known solution: the first contact sticks and wedges, others are open, stick or
/// slide, limits are active.
Problem wedge(support::Random& random, int contacts) {
  const int limits = random.integer(3), rows = limits + 3 * contacts;
  for (;;) {
    Matrix G(rows, rows + 1);
    for (double& x : G.reshaped()) x = random.normal();
    Problem p;
    p.counts.n_nonneg = limits;
    p.counts.n_contacts = contacts;
    p.dims.assign(std::size_t(contacts), 3);
    p.W = G * G.transpose();
    p.mu = Vector::Ones(2 * contacts);
    p.R = Vector::Zero(rows);
    p.lo = p.hi = Vector::Zero(0);
    Vector r = Vector::Zero(rows), u = Vector::Zero(rows);
    std::vector<int> active;
    for (int i = 0; i < limits; ++i) {
      r[i] = random.uniform(0.1, 1.0);
      active.push_back(i);
    }
    for (int k = 0; k < contacts; ++k) {
      const int a = limits + 3 * k, kind = k == 0 ? 1 : random.integer(3);
      const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
      const Eigen::Vector2d along(std::cos(angle), std::sin(angle));
      if (kind == 0) {
        u.segment<3>(a) << random.uniform(), random.normal(), random.normal();
        continue;
      }
      r[a] = random.uniform(0.2, 1.0);
      r.segment<2>(a + 1) = (kind == 1 ? 0.9 * random.uniform() : 1.0) * r[a] * along;
      if (kind == 2) u.segment<2>(a + 1) = -random.uniform() * along;
      if (k > 0) active.insert(active.end(), {a, a + 1, a + 2});
    }
    p.b = u - p.W * r;
    const Matrix S = reduced(p.W, limits, active);
    if (std::hypot(S(0, 1), S(0, 2)) > S(0, 0)) return p;
  }
}

/// Solves `count` of them; returns how many needed a later rung or more than 60 iterations.
int count_long(int contacts, int count) {
  support::Random random(std::uint64_t(7 + contacts));
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) problems.push_back(wedge(random, contacts));
  const auto batch = support::to_batch<double>(problems);
  const auto results = support::solve_batch(batch, {});
  EXPECT_EQ(support::count_solved(batch, results, {}), count);
  int many = 0;
  for (int env = 0; env < count; ++env) {
    many += int(results.rung(env) > 0 || results.iterations(env) > 60);
  }
  return many;
}

// Alart-Curnier's states slide and open by turns there. Before Newton began where all contacts
// stick, 1.3 % of the single ones took up to 550 iterations.
TEST(Wedges, are_solved_by_the_first_rung_in_few_steps) {
  const int count = support::test_count(1000);
  EXPECT_EQ(count_long(1, count), 0);
  for (const int contacts : {2, 3}) EXPECT_LE(count_long(contacts, count), count / 100);
}

// There may be a second solution, without any impulse. What needs none gets none: a warm start does
// not decide whether a contact that opens by itself is held.
TEST(Wedges, open_where_they_need_no_impulse) {
  support::Random random(8);
  std::vector<Problem> problems;
  std::vector<Vector> held;
  while (int(problems.size()) < support::test_count(200)) {
    Problem p = wedge(random, 1);
    if (p.counts.n_nonneg > 0) continue;
    const Vector r = -p.W.llt().solve(p.b);
    if (p.b[0] > 0.0) {
      problems.push_back(p);
      held.push_back(r);
    }
  }
  auto batch = support::to_batch<double>(problems);
  for (int env = 0; env < batch.num_envs(); ++env) {
    const Vector& r = held[std::size_t(env)];
    ASSERT_LT(reference::residual(problems[std::size_t(env)], r, Law::coulomb), 1e-9);
    std::copy_n(r.data(), r.size(), batch.warm_start(env));
  }
  const auto results = support::solve_batch(batch, {});
  for (int env = 0; env < batch.num_envs(); ++env) {
    EXPECT_EQ(results.status(env), EnvStatus::solved);
    EXPECT_EQ(results.iterations(env), 0);
    EXPECT_EQ(support::impulse_of(results, env, 3), Vector::Zero(3).eval());
  }
}

}  // namespace
}  // namespace stickslip
