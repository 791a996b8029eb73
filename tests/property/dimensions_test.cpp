// Selection among solutions for contacts of dimension 3, 4 and 6: boxes on redundant points, at
// rest and pushed, exact and with gaps that differ by rounding. Torsion and rolling have a mobility
// of 1e-9 of that of the normals, in circular coordinates.
#include <algorithm>

#include "tests/property/redundant.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using property::difference;
using property::solve_one;
using reference::Problem;
using reference::Vector;

constexpr std::array<double, 3> kMuJoCoFriction{1.0, 0.005, 0.0001},
    kLargeFriction{0.8, 0.02, 0.01};

struct Kind {
  int dim;
  double push, noise;
};

class Dimensions : public testing::TestWithParam<Kind> {
 protected:
  static constexpr int kProblems = 40;

  /// f(problem, options, name) for random boxes, both frictions and laws.
  template <class F>
  void for_boxes(F&& f) const {
    for (const auto& friction : {kMuJoCoFriction, kLargeFriction}) {
      for (const Law law : {Law::coulomb, Law::convex}) {
        support::Random random(3);
        SolveOptions options;
        options.law = law;
        for (int i = 0; i < kProblems; ++i) {
          Problem p = property::box_on_points(4 + 2 * (i % 3), GetParam().dim, friction,
                                              GetParam().push, random);
          for (Eigen::Index a = 0; a < p.b.size(); a += GetParam().dim)
            p.b[a] += GetParam().noise * random.normal();
          SCOPED_TRACE(testing::Message() << name(law) << " rolling " << friction[2] << " " << i);
          f(p, options, random);
        }
      }
    }
  }
};

TEST_P(Dimensions, selection_does_not_depend_on_the_start) {
  int differ = 0;
  std::vector<int> again;
  for_boxes([&](const Problem& p, const SolveOptions& options, support::Random& random) {
    const Vector r = solve_one(p, options);
    Vector start(r.size());
    for (Eigen::Index i = 0; i < start.size(); ++i)
      start[i] = i % GetParam().dim == 0 ? random.uniform(0.0, 0.02) : 4e-3 * random.normal();
    if (difference(solve_one(p, options, start), r) > 1e-3) ++differ;
    if (difference(solve_one(p, options, r), r) > 1e-3) ++differ;
    auto batch = support::to_batch<double>(std::vector{p});
    std::copy(r.begin(), r.end(), batch.warm_start(0));
    again.push_back(support::solve_batch(batch, options).iterations(0));
  });
  EXPECT_EQ(differ, 0);
  std::sort(again.begin(), again.end());
  EXPECT_LE(again[again.size() / 2], 6) << "steps from the result";
}

TEST_P(Dimensions, selection_does_not_depend_on_the_order) {
  if (GetParam().noise > 0.0) GTEST_SKIP() << "other contacts may close";
  int differ = 0;
  const int dim = GetParam().dim;
  for_boxes([&](const Problem& p, const SolveOptions& options, support::Random&) {
    const Eigen::Index n = p.b.size();
    Eigen::PermutationMatrix<Eigen::Dynamic> order(n);
    for (Eigen::Index r = 0; r < n; ++r)
      order.indices()[r] = int(n - dim - r / dim * dim + r % dim);
    Problem other = p;  // friction is the same in all contacts
    other.W = order * p.W * order.transpose();
    other.b = order * p.b;
    const Vector r = solve_one(p, options);
    if (difference(order.transpose() * solve_one(other, options), r) > 1e-3) ++differ;
  });
  EXPECT_EQ(differ, 0);
}

TEST_P(Dimensions, selection_is_the_solution_of_least_norm_where_all_sticks) {
  if (GetParam().noise > 0.0 || GetParam().push > 0.1) GTEST_SKIP() << "little sticks";
  int compared = 0;
  const int dim = GetParam().dim;
  for_boxes([&](const Problem& p, const SolveOptions& options, support::Random&) {
    const Vector expected = property::least_norm(p);
    bool sticks = true;
    for (Eigen::Index a = 0; a < expected.size(); a += dim) {
      double square = 0.0;
      for (int j = 1; j < dim; ++j) {
        const double share = expected[a + j] / p.mu[a / dim * (dim - 1) + j - 1];
        square += share * share;
      }
      sticks = sticks && expected[a] > 0.0 && std::sqrt(square) < expected[a];
    }
    if (!sticks) return;
    ++compared;
    EXPECT_LT(difference(solve_one(p, options), expected), 1e-5);
  });
  EXPECT_GT(compared, kProblems);
}

INSTANTIATE_TEST_SUITE_P(Selection, Dimensions,
                         testing::Values(Kind{3, 0.0, 0.0}, Kind{3, 0.3, 0.0}, Kind{3, 0.3, 1e-7},
                                         Kind{4, 0.1, 0.0}, Kind{4, 0.3, 0.0}, Kind{6, 0.0, 0.0},
                                         Kind{6, 0.1, 0.0}, Kind{6, 0.3, 0.0}, Kind{6, 1.0, 0.0}),
                         [](const auto& info) {
                           const Kind& k = info.param;
                           return "of_" + std::to_string(k.dim) + "_pushed_" +
                                  std::to_string(int(10 * k.push)) +
                                  (k.noise > 0.0 ? "_with_noise" : "");
                         });

}  // namespace
}  // namespace stickslip
