// The symbolic phase of the block-sparse LU (block_pattern.hpp): nodes, order, fill-in, updates.
#pragma once
#include "kernels/linalg/block_schedule.hpp"

namespace stickslip::kernels::inline SS_ISA {

SS_HD int lowest_bit(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return __builtin_ctzll(bits);
#endif
}

/// f(i) for the nodes i among 64 `bits` of a word.
template <class F>
SS_HD void for_bits(int word, std::uint64_t bits, F&& f) {
  for (; bits != 0; bits &= bits - 1) f(64 * word + lowest_bit(bits));
}

/// The nodes, in the order of their degrees of freedom.
SS_HD bool find_nodes(const SparseMechanism& m, const BlockPattern& p) {
  const BlockOrdering& o = p.ordering;
  const int dofs = m.tree.n;
  if (dofs > p.capacity.dofs || dofs >= 1 << 15) return false;
  for (int i = 0; i < dofs; ++i) {
    o.children[i] = o.coupled[i] = 0;
    if (const int above = parent(m.tree, i); above >= 0) ++o.children[above];
  }
  for (int i = 0; i < m.rows; ++i) {
    for (int c = m.J_row[i] + 1; c < m.J_row[i + 1]; ++c) {
      if (m.J_col[c] == m.J_col[c - 1] + 1) o.coupled[m.J_col[c]] = 1;
    }
  }
  const auto alone = [&](int i) { return o.children[i] == 0 && parent(m.tree, i) < 0; };
  int n = 0;
  for (int i = 0; i < dofs; ++i) {
    const bool grows = i > 0 && o.size[n - 1] < kBlockWidth &&
                       (parent(m.tree, i) == i - 1 ? o.children[i - 1] == 1
                                                   : o.coupled[i] != 0 && alone(i) && alone(i - 1));
    if (!grows) {
      if (n == p.capacity.nodes) return false;
      o.first[n] = i;
      o.size[n] = 0;
      o.mark[n++] = -1;
    }
    ++o.size[n - 1];
    p.node_of[i] = n - 1;
  }
  p.counts->nodes = n;
  return true;
}

SS_HD void make_adjacent(const BlockPattern& p, int i, int j) {
  const int words = BlockOrdering::words(p.counts->nodes);
  p.ordering.adjacent[i * words + j / 64] |= std::uint64_t(1) << j % 64;
  p.ordering.adjacent[j * words + i / 64] |= std::uint64_t(1) << i % 64;
}

/// Nodes that M couples.
SS_HD void couple_trees(const TreeSparsity& tree, const BlockPattern& p) {
  const int n = p.counts->nodes, words = BlockOrdering::words(n);
  for (int i = 0; i < n * words; ++i) p.ordering.adjacent[i] = 0;
  for (int node = 0; node < n; ++node) {
    const int i = p.ordering.first[node];
    for (int c = 0; c < tree.row_nnz[i]; ++c) {
      make_adjacent(p, node, p.node_of[tree.col[tree.row_adr[i] + c]]);
    }
  }
}

/// The nodes of each item, and their coupling.
template <class F>
SS_HD bool find_items(const SparseMechanism& m, int items, F&& first_row, const BlockPattern& p) {
  const BlockOrdering& o = p.ordering;
  if (items > p.capacity.items) return false;
  int nodes = 0, pairs = 0, rows = 0;
  p.item_begin[0] = p.item_block[0] = p.pair_begin[0] = 0;
  p.item_row[0] = first_row(0);
  for (int item = 0; item < items; ++item) {
    const int begin = nodes, row = p.item_row[item], end = first_row(item + 1);
    int start = 0, stop = 0;  // of the node that was last
    for (int c = m.J_row[row]; c < m.J_row[end]; ++c) {
      const int dof = m.J_col[c];
      if (start <= dof && dof < stop) continue;
      const int node = p.node_of[dof];
      start = o.first[node];
      stop = start + o.size[node];
      if (o.mark[node] == item) continue;
      o.mark[node] = item;
      if (nodes == p.capacity.item_nodes) return false;
      for (int e = begin; e < nodes; ++e) make_adjacent(p, node, p.item_node[e]);
      p.item_node[nodes++] = node;
    }
    pairs += (nodes - begin) * (nodes - begin - 1) / 2;
    rows += (nodes - begin) * (end - row);
    p.item_row[item + 1] = end;
    p.item_begin[item + 1] = nodes;
    p.item_block[item + 1] = rows;
    p.pair_begin[item + 1] = pairs;
  }
  return pairs <= p.capacity.item_pairs;
}

/// Eliminates node i, the `step`th: couples those that remain of its neighbours, and returns their
/// number. A neighbour's degree changes by what is new to it.
SS_HD int eliminate_node(const BlockPattern& p, int i, int step) {
  const BlockOrdering& o = p.ordering;
  const int words = BlockOrdering::words(p.counts->nodes);
  const std::uint64_t* row = o.adjacent + i * words;
  o.place[i] = step;
  o.order[step] = i;
  o.key[i] = ~0U;
  o.alive[i / 64] &= ~(std::uint64_t(1) << i % 64);
  int neighbours = 0;
  for (int word = 0; word < words; ++word) {
    for_bits(word, row[word] & o.alive[word], [&](int j) {
      std::uint64_t* other = o.adjacent + j * words;
      ++neighbours;
      o.level[j] = max(o.level[j], o.level[i] + 1);
      o.key[j] -= std::uint32_t(o.size[i]) << 16;
      for (int v = 0; v < words; ++v) {
        const std::uint64_t open = row[v] & o.alive[v];
        for_bits(v, open & ~other[v], [&](int k) { o.key[j] += std::uint32_t(o.size[k]) << 16; });
        other[v] |= open;
      }
    });
  }
  return neighbours;
}

/// The order of elimination, with the fill-in. The least key is that of the least degree.
SS_HD bool order_nodes(const BlockPattern& p) {
  const BlockOrdering& o = p.ordering;
  const int n = p.counts->nodes, words = BlockOrdering::words(n);
  for (int v = 0; v < words; ++v) o.alive[v] = 0;
  for (int i = 0; i < n; ++i) {
    int degree = -o.size[i];
    for (int v = 0; v < words; ++v) {
      for_bits(v, o.adjacent[i * words + v], [&](int j) { degree += o.size[j]; });
    }
    o.key[i] = std::uint32_t(degree) << 16 | std::uint32_t(i);
    o.alive[i / 64] |= std::uint64_t(1) << i % 64;
    o.level[i] = 0;
  }
  std::int64_t updates = 0;
  p.later_begin[0] = 0;
  for (int step = 0; step < n; ++step) {
    std::uint32_t least = o.key[0];
    for (int i = 1; i < n; ++i) least = min(least, o.key[i]);
    const int count = eliminate_node(p, int(least & 0xffffU), step);
    updates += std::int64_t(count) * (count + 1) / 2;
    p.later_begin[step + 1] = p.later_begin[step] + count;
    if (p.later_begin[step + 1] > p.capacity.blocks || updates > p.capacity.updates) return false;
  }
  p.counts->blocks = p.later_begin[n];
  p.counts->updates = int(updates);
  return true;
}

/// Numbers the nodes in the order of elimination, and places the blocks.
SS_HD void lay_out_blocks(const BlockPattern& p) {
  const BlockOrdering& o = p.ordering;
  const int n = p.counts->nodes, words = BlockOrdering::words(n);
  std::int32_t* next = o.mark;  // place of the next block in each row of U
  for (int j = 0; j < n; ++j) {
    const int old = o.order[j];
    p.first[j] = o.first[old];
    p.size[j] = o.size[old];
    next[j] = p.later_begin[j];
    for (int k = 0; k < p.size[j]; ++k) p.node_of[p.first[j] + k] = j;
    for (int v = 0; v < words; ++v) {
      for_bits(v, o.adjacent[old * words + v], [&](int k) {
        if (o.place[k] < j) p.later[next[o.place[k]]++] = j;
      });
    }
  }
  int rows = 0;
  std::int64_t multiplications = 0;
  for (int i = 0; i < n; ++i) {
    const std::int64_t size = p.size[i];
    std::int64_t around = 0;
    p.diagonal[i] = rows;
    rows += int(size);
    for (int q = p.later_begin[i]; q < p.later_begin[i + 1]; ++q) {
      p.upper[q] = rows;
      rows += 2 * int(size);
      around += p.size[p.later[q]];
    }
    multiplications += size * (size * size + size * around + around * around);
  }
  p.counts->rows = rows;
  p.counts->multiplications = multiplications;
}

/// Numbers the nodes of an item in the order of elimination, and finds the blocks of their pairs.
SS_HD void place_item(const BlockPattern& p, int item) {
  std::int32_t* node = p.item_node + p.item_begin[item];
  const int count = p.item_begin[item + 1] - p.item_begin[item];
  std::int32_t* upper = p.pair_upper + p.pair_begin[item];
  for (int c = 0; c < count; ++c) {
    const int next = p.ordering.place[node[c]];
    int e = c;
    for (; e > 0 && node[e - 1] > next; --e) node[e] = node[e - 1];
    node[e] = next;
  }
  for (int c = 0; c < count; ++c) {
    for (int a = 0; a < c; ++a) *upper++ = p.upper_row(node[a], node[c]);
  }
}

/// Finds the pattern of S for items of the rows first_row(k) ... first_row(k + 1) - 1 of J. False
/// if it does not fit its capacity.
template <class G, class F>
SS_HD bool find_pattern(const G& g, const SparseMechanism& m, int items, F&& first_row,
                        const BlockPattern& p) {
  g.once([&] {
    *p.counts = {};
    if (!find_nodes(m, p)) return;
    couple_trees(m.tree, p);
    if (!find_items(m, items, first_row, p) || !order_nodes(p)) return;
    lay_out_blocks(p);
    list_levels(p);
    list_above(p);
    list_updates(p);
    p.counts->items = items;
    p.counts->fits = true;
  });
  if (!p.counts->fits) return false;
  g.for_each(items, [&](int item) { place_item(p, item); });
  g.once([&] { list_touches(p); });
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
