// The pattern of a block-sparse LU, without exchanges of rows, of
//
//   S = M + sum_k J_k^T B_k J_k
//
// in the space of velocities; k counts items, a scalar row or a contact each. The pattern of S is
// symmetric, so U and L^T have equal patterns, and order and work follow from the pattern alone.
//
// A node is a run of at most 8 degrees of freedom: of one unbranched chain of a kinematic tree, or
// without relatives and coupled by a row of J (the free bodies whose M an engine stores as a
// diagonal). M couples a node to its ancestors, an item all nodes that it touches. Nodes are
// eliminated by least degree, counted in degrees of freedom, ties by the lowest index (George and
// Liu, SIAM Review 31, 1989).
//
// Blocks have as many rows as their first node and 8 columns; the columns beyond the second node
// are zero. U(i, j) and L^T(i, j), i before j, lie one after the other, so that every update is
// C -= A^T B with equal layouts.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/linalg/ltdl.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr int kBlockWidth = 8;

/// Most of each; with more, `find_pattern` gives up.
struct BlockCapacity {
  int dofs, items, nodes;
  int blocks;      ///< above the diagonal
  int updates;     ///< pairs of blocks in one row of U
  int item_nodes;  ///< nodes touched, over all items
  int item_pairs;  ///< pairs of nodes of an item, over all items
};

struct BlockCounts {
  std::int32_t items, nodes, blocks, updates, levels;
  std::int32_t rows;             ///< of 8 numbers, of all blocks
  std::int64_t multiplications;  ///< of one LU
  bool fits;
};

/// U(j, k) -= L^T(i, j)^T U(i, k) and, if j is not k, L^T(j, k) -= U(i, j)^T L^T(i, k): the rows at
/// which U(i, j) and U(i, k) begin, and the size of i.
struct BlockUpdate {
  std::int32_t left, right, size;
};

/// A block (j, k) with its updates, in the order of the eliminated nodes: where they begin, the
/// rows at which U(j, k) and U(j, j) begin, and the size of j.
struct BlockTarget {
  std::int32_t updates, row, diagonal, size;
  SS_HD bool is_diagonal() const { return row == diagonal; }
  SS_HD int halves() const { return is_diagonal() ? 1 : 2; }  ///< of U, and of L^T
};

/// Nodes that only need those of levels before: where they begin in `by_level`, where their blocks
/// begin in `targets`, and the largest size.
struct BlockLevel {
  std::int32_t nodes, targets, size;
};

/// A block (i, j) of a node j: i, and the row at which U(i, j) begins.
struct BlockAbove {
  std::int32_t node, row;
};

/// An item that touches a node, and which of the item's nodes that is.
struct BlockTouch {
  std::int32_t item, place;
};

/// What is needed only while the order is found; nodes are numbered as their degrees of freedom.
struct BlockOrdering {
  std::int32_t *first, *size, *place, *order, *mark;
  std::int32_t* level;
  std::int32_t *children, *coupled;  ///< [dofs] coupled: to the one before, by a row of J
  std::uint32_t* key;                ///< degree and index; largest if eliminated
  std::uint64_t *adjacent, *alive;   ///< [nodes][words] with the diagonal, [words]

  SS_HD BlockOrdering(Arena& arena, const BlockCapacity& c)
      : first(arena.take<std::int32_t>(c.nodes)),
        size(arena.take<std::int32_t>(c.nodes)),
        place(arena.take<std::int32_t>(c.nodes)),
        order(arena.take<std::int32_t>(c.nodes)),
        mark(arena.take<std::int32_t>(c.nodes + 1)),
        level(arena.take<std::int32_t>(c.nodes)),
        children(arena.take<std::int32_t>(c.dofs)),
        coupled(arena.take<std::int32_t>(c.dofs)),
        key(arena.take<std::uint32_t>(c.nodes)),
        adjacent(arena.take<std::uint64_t>(std::size_t(c.nodes) * words(c.nodes))),
        alive(arena.take<std::uint64_t>(words(c.nodes))) {}

  SS_HD static int words(int nodes) { return (nodes + 63) / 64; }
};

struct BlockPattern {
  BlockCapacity capacity;
  BlockCounts* counts;
  // Nodes in the order of elimination. Row i of U has the blocks later_begin[i] ...
  std::int32_t *first, *size, *diagonal, *later_begin, *node_of;
  std::int32_t *later, *upper;  ///< [blocks] second node, row at which U begins
  std::int32_t* above_begin;    ///< [nodes + 1] of the blocks above each node
  BlockAbove* above;            ///< [blocks] by second nodes
  std::int32_t* by_level;       ///< [nodes] in the order of their levels
  BlockLevel* levels;           ///< [nodes + 1]
  std::int32_t* first_target;   ///< [nodes] of each: its diagonal block, then those of its row
  BlockTarget* targets;         ///< [nodes + blocks + 1]
  BlockUpdate* updates;
  // Items: their rows of J, nodes (in order), rows of their blocks of J, blocks of their pairs
  // (a, c) of nodes at c (c - 1) / 2 + a.
  std::int32_t *item_row, *item_begin, *item_node, *item_block, *pair_begin, *pair_upper;
  std::int32_t* touch_begin;  ///< [nodes + 1]
  BlockTouch* touches;        ///< [item_nodes] by nodes, in the order of the items
  BlockOrdering ordering;

  SS_HD BlockPattern(Arena& arena, const BlockCapacity& c)
      : capacity(c),
        counts(arena.take<BlockCounts>(1)),
        first(arena.take<std::int32_t>(c.nodes)),
        size(arena.take<std::int32_t>(c.nodes)),
        diagonal(arena.take<std::int32_t>(c.nodes)),
        later_begin(arena.take<std::int32_t>(c.nodes + 1)),
        node_of(arena.take<std::int32_t>(c.dofs)),
        later(arena.take<std::int32_t>(c.blocks)),
        upper(arena.take<std::int32_t>(c.blocks)),
        above_begin(arena.take<std::int32_t>(c.nodes + 1)),
        above(arena.take<BlockAbove>(c.blocks)),
        by_level(arena.take<std::int32_t>(c.nodes)),
        levels(arena.take<BlockLevel>(c.nodes + 1)),
        first_target(arena.take<std::int32_t>(c.nodes)),
        targets(arena.take<BlockTarget>(c.nodes + c.blocks + 1)),
        updates(arena.take<BlockUpdate>(c.updates)),
        item_row(arena.take<std::int32_t>(c.items + 1)),
        item_begin(arena.take<std::int32_t>(c.items + 1)),
        item_node(arena.take<std::int32_t>(c.item_nodes)),
        item_block(arena.take<std::int32_t>(c.items + 1)),
        pair_begin(arena.take<std::int32_t>(c.items + 1)),
        pair_upper(arena.take<std::int32_t>(c.item_pairs)),
        touch_begin(arena.take<std::int32_t>(c.nodes + 1)),
        touches(arena.take<BlockTouch>(c.item_nodes)),
        ordering(arena, c) {}

  /// The row at which U(i, j) begins; i is before j.
  SS_HD int upper_row(int i, int j) const {
    int q = later_begin[i];
    while (later[q] != j) ++q;
    return upper[q];
  }
};

/// f(Index<dim>) for the number of rows of item k.
template <class F>
SS_HD void with_item_dim(const BlockPattern& p, int k, F&& f) {
  switch (p.item_row[k + 1] - p.item_row[k]) {
    case 1:
      return f(Index<1>{});
    case 3:
      return f(Index<3>{});
    case 4:
      return f(Index<4>{});
    default:
      return f(Index<6>{});
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
