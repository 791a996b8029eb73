// The oracle's projections against the characterisation of a nearest point.
#include <gtest/gtest.h>

#include "tests/reference/projection.hpp"
#include "tests/support/random.hpp"

namespace stickslip::reference {
namespace {

constexpr double kRounding = 1e-13;

Vector random_vector(support::Random& random, int size) {
  Vector y(size);
  for (double& x : y) x = 2.0 * random.normal();
  return y;
}

// Moreau: p is the projection of y on a closed convex cone K if and only if p is in K, y - p is in
// the polar cone, and the two are orthogonal. The polar of |t| <= mu n is mu |t| <= -n.
TEST(ReferenceProjection, circular_cone_splits_as_moreau_says) {
  support::Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const int dims[] = {3, 4, 6};
    Vector y = random_vector(random, dims[i % 3]);
    if (i % 7 == 0) y.tail(y.size() - 1).setZero();
    const double mu = i % 10 == 0 ? 0.0 : random.uniform(0.05, 2.0);
    const Vector p = project_circular(y, mu);
    const Vector rest = y - p;
    EXPECT_LE(p.tail(p.size() - 1).norm(), mu * p[0] + kRounding);
    EXPECT_LE(mu * rest.tail(rest.size() - 1).norm(), -rest[0] + 10 * kRounding);
    EXPECT_NEAR(p.dot(rest), 0.0, 10 * kRounding);
  }
}

// A point p of a convex set is the nearest to y if no vertex of the set lies further towards y.
TEST(ReferenceProjection, diamond_has_no_nearer_vertex) {
  support::Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const Vector t = random_vector(random, 2 + i % 4);
    const double radius = i % 10 == 0 ? 0.0 : random.uniform(0.1, 4.0);
    const Vector p = project_diamond(t, radius);
    EXPECT_LE(p.lpNorm<1>(), radius + kRounding);
    EXPECT_LE(radius * (t - p).lpNorm<Eigen::Infinity>(), (t - p).dot(p) + 10 * kRounding);
  }
}

TEST(ReferenceProjection, inside_points_stay) {
  const Vector inside = Vector{{2.0, 0.3, -0.4}};
  EXPECT_EQ(project_circular(inside, 0.5), inside);
  EXPECT_EQ(project_diamond(inside, 2.8), inside);
  EXPECT_EQ(project_square(inside, 2.0), inside);
}

TEST(ReferenceProjection, square_clamps) {
  EXPECT_EQ(project_square(Vector{{2.0, -0.3, -4.0}}, 0.5), (Vector{{0.5, -0.3, -0.5}}));
}

}  // namespace
}  // namespace stickslip::reference
