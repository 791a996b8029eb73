// Standard forms and Stewart and Trinkle's matrices by hand; misuse; what is dropped and rejected.
#include "stickslip/formulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

template <class F>
void expect_refused(F&& call, const char* message) {
  EXPECT_EQ(support::refusal_of(call), message);
}

HostLcp lcp(int n_free, std::initializer_list<double> q, std::initializer_list<double> M) {
  HostLcp p(1, int(q.size()));
  p.n_free(0) = n_free;
  std::copy(q.begin(), q.end(), p.q(0));
  std::copy(M.begin(), M.end(), p.M(0));
  return p;
}

/// D = 2, C = 4, B = 3, F = 10, r = 6, a = -5: A = 10 - 3 * 4 / 2, q = -5 - 3 * 6 / 2.
TEST(StandardForm, by_hand) {
  const StandardForm form(lcp(1, {6, -5}, {2, 4, 3, 10}).view());
  EXPECT_EQ(form.problem().max_rows(), 1);
  EXPECT_DOUBLE_EQ(form.problem().M(0)[0], 4.0);
  EXPECT_DOUBLE_EQ(form.problem().q(0)[0], -14.0);
  EXPECT_DOUBLE_EQ(form.T(0)[0], -2.0);
  EXPECT_DOUBLE_EQ(form.t(0)[0], -3.0);
  const double x = 3.5;
  double z[2] = {};
  form.restore({&x, 1}, {z, 2});
  EXPECT_DOUBLE_EQ(z[0], -10.0);
  EXPECT_DOUBLE_EQ(z[1], 3.5);
}

TEST(StandardForm, without_free_or_without_other_rows) {
  const StandardForm none(lcp(0, {-1, 2}, {3, 1, 0, 5}).view());
  EXPECT_EQ(none.problem().max_rows(), 2);
  EXPECT_EQ(none.problem().M(0)[1], 1.0);
  EXPECT_EQ(none.problem().q(0)[0], -1.0);
  const StandardForm all(lcp(2, {-1, 2}, {3, 0, 0, 4}).view());
  EXPECT_EQ(all.problem().max_rows(), 0);
  EXPECT_DOUBLE_EQ(all.t(0)[0], 1.0 / 3.0);
  double z[2] = {};
  all.restore({}, {z, 2});
  EXPECT_DOUBLE_EQ(z[1], -0.5);
  const StandardForm empty(HostLcp(0, 4).view());
  EXPECT_EQ(empty.problem().num_envs(), 0);
}

TEST(StandardForm, drops_repeated_joints_and_refuses_what_is_singular_otherwise) {
  // Two equal joints, M = J J^T for J = (1, 1, 2), gap terms alike.
  const StandardForm form(lcp(2, {1, 1, 3}, {1, 1, 2, 1, 1, 2, 2, 2, 5}).view());
  EXPECT_DOUBLE_EQ(form.problem().M(0)[0], 1.0);
  EXPECT_DOUBLE_EQ(form.problem().q(0)[0], 1.0);
  const double x = 0.0;
  double z[3] = {};
  form.restore({&x, 1}, {z, 3});
  EXPECT_DOUBLE_EQ(z[0] + z[1], -1.0);
  EXPECT_EQ(z[0] * z[1], 0.0);
  const char* rank =
      "mixed.M: expected an invertible block of free rows, got rank 1 of 2 in "
      "environment 0";
  expect_refused([] { StandardForm(lcp(2, {1, 2, 3}, {1, 1, 2, 1, 1, 2, 2, 2, 5}).view()); }, rank);
  expect_refused([] { StandardForm(lcp(2, {1, 1, 3}, {1, 1, 2, 1, 1, 3, 2, 2, 5}).view()); }, rank);
  expect_refused([] { StandardForm(lcp(2, {1, 1, 3}, {1, 1, 2, 1, 1, 2, 2, 3, 5}).view()); }, rank);
}

TEST(StandardForm, refuses_misuse) {
  HostLcp p = lcp(1, {6, -5}, {2, 4, 3, 10});
  LcpBatch<double> view = p.view();
  const double bound = 0.0;
  view.lo = view.hi = {&bound, 0};
  expect_refused([&] { StandardForm form(view); },
                 "mixed.lo, mixed.hi: expected none, because a standard problem has no bounds, got "
                 "arrays");
  view = p.view();
  view.M.data = nullptr;
  expect_refused([&] { StandardForm form(view); }, "mixed.M: expected an array, got none");
  p.n_free(0) = 3;
  expect_refused([&] { StandardForm form(p.view()); },
                 "mixed.n_free: expected 0 to 2, got 3 in environment 0");
  p.n_free(0) = 1;
  p.M(0)[2] = std::nan("");
  expect_refused([&] { StandardForm form(p.view()); },
                 "mixed.M, mixed.q: expected finite numbers, got others in environment 0");
}

/// A point of mass 2 on the plane z = 0, pushed along x: every block of eq. 12.
struct Point {
  double M[4] = {2, 0, 0, 2}, tau[2] = {0.5, -1.0}, N[2] = {0, 1}, B[4] = {1, -1, 0, 0}, mu = 0.3;
  ContactSystems systems;
  Point() {
    systems.num_envs = 1;
    systems.nv = 2;
    systems.max_contacts = 1;
    systems.directions = 2;
    systems.dt = 0.1;
    systems.M = {M, 4};
    systems.tau = {tau, 2};
    systems.N = {N, 2};
    systems.B = {B, 4};
    systems.mu = {&mu, 1};
  }
};

TEST(StewartTrinkle, of_a_point_on_a_plane) {
  Point point;
  for (double scale : {1.0, 0.1}) {
    point.systems.scaled = scale < 1.0;
    const HostLcp found = stewart_trinkle(point.systems);
    ASSERT_EQ(found.rows(0), 6);
    EXPECT_EQ(found.n_free(0), 2);
    const double e = scale, expected[6][6] = {{2, 0, 0, -0.1, 0.1, 0},  //
                                              {0, 2, -0.1, 0, 0, 0},    //
                                              {0, 1, 0, 0, 0, 0},       //
                                              {1, 0, 0, 0, 0, e},       //
                                              {-1, 0, 0, 0, 0, e},      //
                                              {0, 0, e * 0.3, -e, -e, 0}};
    for (int k = 0; k < 36; ++k) EXPECT_EQ(found.M(0)[k], expected[k / 6][k % 6]) << k;
    const double q[6] = {-0.5, 1.0, 0, 0, 0, 0};
    for (int k = 0; k < 6; ++k) EXPECT_EQ(found.q(0)[k], q[k]);
    HostLcpResults results(1, 6);
    solve_lcp(found.view(), results.view());
    const double* z = results.z(0);
    EXPECT_NEAR(z[0], (0.5 - 0.3) / 2.0,
                1e-9);  // slides: friction 0.3 N s at a normal impulse of 1 N s
    EXPECT_NEAR(z[1], 0.0, 1e-9);
    EXPECT_NEAR(z[2], 10.0, 1e-8);
    EXPECT_NEAR(z[4], 3.0, 1e-8);
    EXPECT_NEAR(z[5], 0.1 / scale, 1e-8);  // lambda is the sliding speed
  }
}

TEST(StewartTrinkle, refuses_misuse) {
  const std::pair<std::function<void(Point&)>, const char*> misuses[] = {
      {[](Point& p) { p.systems.dt = 0.0; }, "dt: expected a number > 0, got 0.000000"},
      {[](Point& p) { p.systems.directions = 3; },
       "directions: expected 2, 4, 8, 16, 32 or 64, got 3"},
      {[](Point& p) { p.systems.nv = -1; }, "nv: expected a number >= 0, got -1"},
      {[](Point& p) { p.systems.B.data = nullptr; }, "B: expected an array, got none"},
      {[](Point& p) { p.mu = -0.5; }, "mu: expected numbers >= 0, got -0.500000 in environment 0"},
      {[](Point& p) { p.N[1] = std::nan(""); },
       "N: expected finite numbers, got nan in environment 0"}};
  for (const auto& [spoil, message] : misuses) {
    Point point;
    spoil(point);
    expect_refused([&] { stewart_trinkle(point.systems); }, message);
  }
  expect_refused([] { contact_columns(1, 2, 1, 4, {}); }, "J: expected an array, got none");
}

TEST(Systems, are_stacked) {
  const double M1[] = {1, 2, 3, 4}, tau1[] = {5, 6}, J1[] = {1, 0, 0, 1, 2, 2};
  const double M2[] = {7}, tau2[] = {8}, J2[] = {9, 10, 11};
  const StackedSystems s =
      stack(1, 3, {{2, {M1, 4}, {tau1, 2}, {J1, 6}}, {1, {M2, 1}, {tau2, 1}, {J2, 3}}});
  EXPECT_EQ(s.nv, 3);
  EXPECT_EQ(s.M, (std::vector<double>{1, 2, 0, 3, 4, 0, 0, 0, 7}));
  EXPECT_EQ(s.tau, (std::vector<double>{5, 6, 8}));
  EXPECT_EQ(s.J, (std::vector<double>{1, 0, 9, 0, 1, 10, 2, 2, 11}));
}

}  // namespace
}  // namespace stickslip
