// Selection among solutions for contacts of dimension 3, 4 and 6: boxes on redundant points, at
// rest and pushed, exact and with gaps that differ by rounding. Torsion and rolling have a mobility
// of 2e-3 and 1e-6 of that of the normals, in circular coordinates.
#include <algorithm>

#include "tests/property/redundant.hpp"
#include "tests/property/transform.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using property::difference;
using property::solve_one;
using reference::Problem;
using reference::Vector;

constexpr property::Frictions kMuJoCoFriction{1.0, 0.005, 0.0001}, kLargeFriction{0.8, 0.02, 0.01};

struct Kind {
  int dim;
  double push, noise;
};

class Dimensions : public testing::TestWithParam<Kind> {
 protected:
  static constexpr int kProblems = 40;

  /// f(problem, options, random) for random boxes, both frictions and laws.
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
    auto batch = support::to_batch<double>(std::vector{p});
    std::copy(r.begin(), r.end(), batch.warm_start(0));
    const auto from_result = support::solve_batch(batch, options);
    ASSERT_EQ(from_result.status(0), EnvStatus::solved);
    if (difference(support::impulse_of(from_result, 0, int(r.size())), r) > 1e-3) ++differ;
    again.push_back(from_result.iterations(0));
  });
  EXPECT_EQ(differ, 0);
  std::sort(again.begin(), again.end());
  EXPECT_LE(again[again.size() / 2], 6) << "steps from the result";
}

/// Without noise: with it, other contacts may close in another order.
class ExactDimensions : public Dimensions {};

TEST_P(ExactDimensions, selection_does_not_depend_on_the_order) {
  int differ = 0;
  for_boxes([&](const Problem& p, const SolveOptions& options, support::Random&) {
    const property::Matrix order = property::reverse_contacts(p);
    const Vector other = solve_one(property::change_coordinates(p, order), options);
    if (difference(order * other, solve_one(p, options)) > 1e-3) ++differ;
  });
  EXPECT_EQ(differ, 0);
}

/// Pushed so little that most stick.
class StickingDimensions : public Dimensions {};

TEST_P(StickingDimensions, selection_is_the_solution_of_least_norm_where_all_sticks) {
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

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  const Kind& k = info.param;
  return "of_" + std::to_string(k.dim) + "_pushed_" + std::to_string(int(10 * k.push)) +
         (k.noise > 0.0 ? "_with_noise" : "");
}

const auto kSticking =
    testing::Values(Kind{3, 0.0, 0.0}, Kind{4, 0.1, 0.0}, Kind{6, 0.0, 0.0}, Kind{6, 0.1, 0.0});
const auto kPushed =
    testing::Values(Kind{3, 0.3, 0.0}, Kind{4, 0.3, 0.0}, Kind{6, 0.3, 0.0}, Kind{6, 1.0, 0.0});
const auto kNoisy = testing::Values(Kind{3, 0.3, 1e-7});

INSTANTIATE_TEST_SUITE_P(Sticking, Dimensions, kSticking, name_of);
INSTANTIATE_TEST_SUITE_P(Pushed, Dimensions, kPushed, name_of);
INSTANTIATE_TEST_SUITE_P(Noisy, Dimensions, kNoisy, name_of);
INSTANTIATE_TEST_SUITE_P(Sticking, ExactDimensions, kSticking, name_of);
INSTANTIATE_TEST_SUITE_P(Pushed, ExactDimensions, kPushed, name_of);
INSTANTIATE_TEST_SUITE_P(Sticking, StickingDimensions, kSticking, name_of);

}  // namespace
}  // namespace stickslip
