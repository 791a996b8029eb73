// The block-sparse LU against a dense one by Eigen: solutions, solutions with S^T, products with J,
// and the same bits on every group.
#include <gtest/gtest.h>

#include <limits>
#include <ostream>

#include "kernels/group/host_group.hpp"
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "tests/support/block_solver.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using reference::Vector;
using support::bodies;
using support::ItemScene;
using support::kHumanoid;
using support::row_of;
using Solver = support::BlockSolver;

int random_dim(support::Random& random) {
  constexpr int kDims[] = {3, 3, 3, 1, 4, 6};
  return kDims[random.integer(6)];
}

ItemScene chain(std::uint64_t seed) { return bodies(seed, 12, row_of(12), seed % 2 == 1); }

ItemScene pile(std::uint64_t seed) {
  support::Random random(seed);
  std::vector<std::array<int, 2>> contacts;
  for (int i = 0; i < 40; ++i) contacts.push_back({random.integer(18), random.integer(18)});
  for (int i = 0; i < 12; ++i) contacts.push_back({random.integer(18), -1});
  return bodies(seed, 18, contacts, seed % 2 == 1);
}

ItemScene islands(std::uint64_t seed) {
  support::Random random(seed);
  std::vector<std::array<int, 2>> contacts;
  for (int i = 0; i < 20; ++i) {
    const int island = 5 * random.integer(4);
    contacts.push_back({island + random.integer(5), island + random.integer(5)});
  }
  return bodies(seed, 20, contacts);
}

/// Humanoids among free bodies and joints, with items between any of them.
ItemScene humanoids(std::uint64_t seed) {
  support::Random random(seed);
  ItemScene scene(seed);
  scene.add_body(seed % 2 == 0);
  scene.add_tree(kHumanoid);
  for (int i = 0; i < 4; ++i) scene.add_body(i % 2 == 0);
  scene.add_tree({-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  scene.add_tree({-1, -1, -1});
  scene.add_tree(kHumanoid);
  for (int i = 0; i < 30; ++i) {
    const int dim = random_dim(random), first = random.integer(scene.dofs());
    scene.add_item(dim, {first},
                   dim == 1 ? ItemScene::Dofs{} : ItemScene::Dofs{random.integer(scene.dofs())});
  }
  return scene;
}

ItemScene lonely(std::uint64_t seed) { return bodies(seed, 3, {}); }

struct Family {
  const char* name;
  ItemScene (*make)(std::uint64_t);
  friend void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }
};

const kernels::HostGroup kHost{};
constexpr int kSeeds = 8;

class BlockLu : public testing::TestWithParam<Family> {};

/// The error of x relative to what rounding in S, x and b explains: about 1e-16 times the size of
/// intermediate numbers.
double backward_error(const Matrix& S, const Vector& x, const Vector& b) {
  return (S * x - b).norm() / (S.norm() * x.norm() + b.norm());
}

TEST_P(BlockLu, solves_as_a_dense_one) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const double largest : {1.0, 1e4, 1e8}) {
      ItemScene scene = GetParam().make(seed);
      scene.finish(largest);
      const Solver solver(scene);
      ASSERT_TRUE(solver.factor(kHost)) << seed;
      const Vector b = scene.random_vector();
      std::vector<double> out = solver.room();
      solver.answer(kHost, b, out);
      const Matrix S = scene.S(), J = scene.J();
      const Eigen::Index n = b.size();
      const Eigen::Map<const Vector> x(out.data(), n), y(out.data() + n, n),
          u(y.data() + n, J.rows()), z(u.data() + J.rows(), n), v(z.data() + n, n);
      EXPECT_LT(backward_error(S, x, b), 1e-13) << seed << ' ' << largest;
      EXPECT_LT(backward_error(S.transpose(), y, b), 1e-13) << seed << ' ' << largest;
      const Eigen::PartialPivLU<Matrix> dense(S);
      const double close = 1e-12 / dense.rcond();
      const Vector expected = dense.solve(b), transposed = dense.transpose().solve(b);
      EXPECT_LT((x - expected).norm(), close * expected.norm()) << seed << ' ' << largest;
      EXPECT_LT((y - transposed).norm(), close * transposed.norm()) << seed << ' ' << largest;
      EXPECT_LE((u - J * b).norm(), 1e-14 * J.norm() * b.norm()) << seed;
      EXPECT_LE((z - J.transpose() * u).norm(), 1e-14 * J.norm() * u.norm()) << seed;
      const bool apart = *solver.lu.block_diagonal;
      EXPECT_EQ(apart, GetParam().make != humanoids);
      EXPECT_LT(apart ? backward_error(scene.M(), v, b) : (v - b).norm(), 1e-13) << seed;
      EXPECT_EQ(kernels::determinant_sign(kHost, solver.lu), dense.determinant() < 0 ? -1 : 1);
    }
  }
}

TEST_P(BlockLu, gives_the_same_bits_on_every_group) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ItemScene scene = GetParam().make(seed);
    scene.finish(1e6);
    const Vector b = scene.random_vector();
    const auto run = [&](const auto& group) {
      const Solver solver(scene);
      std::vector<double> out = solver.room();
      EXPECT_TRUE(solver.factor(group));
      solver.answer(group, b, out);
      return out;
    };
    const std::vector<double> expected = run(kHost);
    for (const std::uint32_t order : {1U, 2U, 17U, 1000U}) {
      kernels::PermutedGroup<1> one;
      kernels::PermutedGroup<4> four;
      one.seed = four.seed = order;
      EXPECT_EQ(run(one), expected) << seed << ' ' << order;
      EXPECT_EQ(run(four), expected) << seed << ' ' << order;
    }
    if (seed > 1) continue;  // many barriers
    const Solver solver(scene);
    std::vector<double> out = solver.room();
    kernels::run_lanes(3, [&](const kernels::ThreadGroup& group) {
      EXPECT_TRUE(solver.factor(group));
      solver.answer(group, b, out);
    });
    EXPECT_EQ(out, expected) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, BlockLu,
                         testing::Values(Family{"chain", chain}, Family{"pile", pile},
                                         Family{"islands", islands}, Family{"humanoids", humanoids},
                                         Family{"lonely", lonely}),
                         [](const auto& info) { return info.param.name; });

TEST(BlockLuPivots, may_be_neither_zero_nor_infinite) {
  ItemScene scene = bodies(1, 3, row_of(3));
  scene.finish();
  const Solver solver(scene);
  kernels::PermutedGroup<1> permuted;
  for (const double bad :
       {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const auto fails = [&](const auto& group) {
      EXPECT_TRUE(solver.find(group));
      kernels::load_mass(group, scene.view(), solver.lu);
      kernels::copy_mass(group, scene.view(), solver.lu);
      solver.lu.diagonal(1)[0] = bad;
      return !kernels::factor_blocks(group, solver.lu);
    };
    EXPECT_TRUE(fails(kHost)) << bad;
    EXPECT_TRUE(fails(permuted)) << bad;
  }
}

TEST(BlockLuPivots, tell_the_sign_of_the_determinant) {
  ItemScene scene = bodies(1, 3, row_of(3));
  scene.finish();
  const Solver solver(scene);
  ASSERT_TRUE(solver.find(kHost));
  kernels::load_mass(kHost, scene.view(), solver.lu);
  kernels::copy_mass(kHost, scene.view(), solver.lu);
  double* D = solver.lu.diagonal(0);
  for (int k = 0; k < 6; ++k) D[8 * k] = -D[8 * k];  // a column of M with the other sign
  ASSERT_TRUE(kernels::factor_blocks(kHost, solver.lu));
  EXPECT_EQ(kernels::determinant_sign(kHost, solver.lu), -1);
}

}  // namespace
}  // namespace stickslip
