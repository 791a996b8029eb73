// The pattern of the block-sparse LU: nodes, fill-in, capacities.
#include <gtest/gtest.h>

#include "kernels/group/host_group.hpp"
#include "tests/support/block_solver.hpp"

namespace stickslip {
namespace {

using support::bodies;
using support::ItemScene;
using support::kHumanoid;
using support::row_of;
using Solver = support::BlockSolver;

const kernels::HostGroup kHost{};

kernels::BlockCounts counts_of(const ItemScene& scene) {
  const Solver solver(scene);
  EXPECT_TRUE(solver.find(kHost));
  return solver.counts();
}

TEST(BlockPattern, of_a_body_is_one_block) {
  for (const bool simple : {false, true}) {
    const auto counts = counts_of(bodies(1, 1, {{0, -1}, {0, -1}}, simple));
    EXPECT_EQ(counts.nodes, 1);
    EXPECT_EQ(counts.blocks, 0);
    EXPECT_EQ(counts.rows, 6);
    EXPECT_EQ(counts.multiplications, 216);
  }
}

TEST(BlockPattern, of_bodies_in_a_row_has_no_fill_in) {
  const auto counts = counts_of(bodies(1, 8, row_of(8)));
  EXPECT_EQ(counts.nodes, 8);
  EXPECT_EQ(counts.blocks, 7);
  EXPECT_EQ(counts.updates, 7);
  EXPECT_EQ(counts.multiplications, 8 * 216 + 7 * 2 * 216);
}

TEST(BlockPattern, of_islands_is_theirs) {
  const auto counts = counts_of(bodies(1, 6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}));
  EXPECT_EQ(counts.nodes, 6);
  EXPECT_EQ(counts.blocks, 6);
  EXPECT_EQ(counts.updates, 2 * (3 + 1));
}

TEST(BlockPattern, of_a_ring_fills_in_along_it) {
  const auto counts = counts_of(bodies(1, 6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}));
  EXPECT_EQ(counts.blocks, 6 + 3);
}

TEST(BlockPattern, follows_the_branches_of_a_tree) {
  ItemScene scene(1);
  scene.add_tree(kHumanoid);
  // Base, legs of 5, waist of 3, arms of 5 and 6: each limb with its ancestors.
  const auto counts = counts_of(scene);
  EXPECT_EQ(counts.nodes, 6);
  EXPECT_EQ(counts.blocks, 1 + 1 + 1 + 2 + 2);
}

TEST(BlockPattern, splits_chains_into_nodes_of_eight) {
  ItemScene scene(1);
  scene.add_tree({-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  scene.add_tree({-1, -1, -1});  // that nothing couples
  const auto counts = counts_of(scene);
  EXPECT_EQ(counts.nodes, 2 + 3);
  EXPECT_EQ(counts.blocks, 1);
}

TEST(BlockPattern, of_hundreds_of_bodies_needs_several_words) {
  const auto counts = counts_of(bodies(1, 200, row_of(200)));
  EXPECT_EQ(counts.nodes, 200);
  EXPECT_EQ(counts.blocks, 199);
}

// What one lane does of a level needs nothing of another lane.
TEST(BlockPattern, has_levels_that_need_only_those_before) {
  const ItemScene scene = bodies(
      3, 9, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4, 5}, {6, 2}, {7, 2}, {5, -1}, {4, 7}, {8, -1}});
  const Solver solver(scene);
  ASSERT_TRUE(solver.find(kHost));
  const kernels::BlockPattern& p = solver.lu.pattern;
  const auto& counts = solver.counts();
  std::vector<int> level(std::size_t(counts.nodes), -1);
  for (int l = 0; l < counts.levels; ++l) {
    EXPECT_LT(p.levels[l].nodes, p.levels[l + 1].nodes);
    for (int i = p.levels[l].nodes; i < p.levels[l + 1].nodes; ++i)
      level[std::size_t(p.by_level[i])] = l;
  }
  EXPECT_EQ(p.levels[counts.levels].nodes, counts.nodes);
  EXPECT_EQ(p.levels[counts.levels].targets, counts.nodes + counts.blocks);
  EXPECT_EQ(p.targets[counts.nodes + counts.blocks].updates, counts.updates);
  EXPECT_EQ(p.above_begin[counts.nodes], counts.blocks);
  for (int j = 0; j < counts.nodes; ++j) {
    ASSERT_GE(level[std::size_t(j)], 0);
    for (int q = p.above_begin[j]; q < p.above_begin[j + 1]; ++q) {
      EXPECT_LT(level[std::size_t(p.above[q].node)], level[std::size_t(j)]);
      EXPECT_EQ(p.above[q].row, p.upper_row(p.above[q].node, j));
      EXPECT_TRUE(q == p.above_begin[j] || p.above[q - 1].node < p.above[q].node);
    }
    const kernels::BlockTarget& diagonal = p.targets[p.first_target[j]];
    EXPECT_TRUE(diagonal.is_diagonal());
    EXPECT_EQ((&diagonal)[1].updates - diagonal.updates, p.above_begin[j + 1] - p.above_begin[j]);
    for (int t = p.touch_begin[j]; t < p.touch_begin[j + 1]; ++t) {
      const auto [item, place] = p.touches[t];
      EXPECT_EQ(p.item_node[p.item_begin[item] + place], j);
      EXPECT_TRUE(t == p.touch_begin[j] || p.touches[t - 1].item < item);
    }
  }
}

TEST(BlockPattern, must_fit) {
  const ItemScene scene =
      bodies(3, 8, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4, 5}, {6, 2}, {7, 2}, {5, -1}});
  const Solver roomy(scene);
  ASSERT_TRUE(roomy.find(kHost));
  const kernels::BlockPattern& p = roomy.lu.pattern;
  const auto& counts = roomy.counts();
  using Capacity = kernels::BlockCapacity;
  const Capacity exact{scene.dofs(),
                       scene.items(),
                       counts.nodes,
                       counts.blocks,
                       counts.updates,
                       p.item_begin[scene.items()],
                       p.pair_begin[scene.items()]};
  EXPECT_TRUE(Solver(scene, exact).find(kHost));
  for (int Capacity::*each :
       {&Capacity::dofs, &Capacity::items, &Capacity::nodes, &Capacity::blocks, &Capacity::updates,
        &Capacity::item_nodes, &Capacity::item_pairs}) {
    Capacity less = exact;
    --(less.*each);
    EXPECT_FALSE(Solver(scene, less).find(kHost));
  }
}

}  // namespace
}  // namespace stickslip
