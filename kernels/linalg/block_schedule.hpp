// What of a block-sparse LU can be done at once (block_pattern.hpp): the levels of the elimination
// tree; for each block its updates, for each node what is above it and the items that touch it, so
// that every sum has one owner.
#pragma once
#include "kernels/linalg/block_pattern.hpp"
#include "kernels/linalg/sort_by_key.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Nodes by levels, and their blocks in this order.
SS_HD void list_levels(const BlockPattern& p) {
  const BlockOrdering& o = p.ordering;
  const int n = p.counts->nodes;
  int count = 0;
  for (int j = 0; j < n; ++j) count = max(count, o.level[o.order[j]] + 1);
  p.counts->levels = count;
  std::int32_t* const begin = o.mark;
  sort_by_key(
      n, count, begin, [&](int j) { return o.level[o.order[j]]; },
      [&](int j, int at) { p.by_level[at] = j; });
  int next = 0;
  for (int level = 0; level <= count; ++level) {
    const int first = level < count ? begin[level] : n, end = level < count ? begin[level + 1] : n;
    BlockLevel& own = p.levels[level] = {first, next, 0};
    for (int at = first; at < end; ++at) {
      const int j = p.by_level[at], size = p.size[j];
      own.size = max(own.size, size);
      p.first_target[j] = next;
      p.targets[next++] = {0, p.diagonal[j], p.diagonal[j], size};
      for (int q = p.later_begin[j]; q < p.later_begin[j + 1]; ++q)
        p.targets[next++] = {0, p.upper[q], p.diagonal[j], size};
    }
  }
  p.targets[next] = {};
}

/// The blocks above each node.
SS_HD void list_above(const BlockPattern& p) {
  int i = 0;  // the node of the row that block q is in
  sort_by_key(
      p.counts->blocks, p.counts->nodes, p.above_begin, [&](int q) { return p.later[q]; },
      [&](int q, int at) {
        while (q >= p.later_begin[i + 1]) ++i;
        p.above[at] = {i, p.upper[q]};
      });
}

/// Calls f(target, update) for all updates, in the order of the eliminated nodes: what remains of
/// row i of U is a part of row j.
template <class F>
SS_HD void for_updates(const BlockPattern& p, F&& f) {
  for (int i = 0; i < p.counts->nodes; ++i) {
    const int end = p.later_begin[i + 1], size = p.size[i];
    for (int q = p.later_begin[i]; q < end; ++q) {
      const int j = p.later[q];
      int t = p.later_begin[j];
      f(p.first_target[j], BlockUpdate{p.upper[q], p.upper[q], size});
      for (int r = q + 1; r < end; ++r) {
        while (p.later[t] != p.later[r]) ++t;
        f(p.first_target[j] + 1 + t - p.later_begin[j], BlockUpdate{p.upper[q], p.upper[r], size});
      }
    }
  }
}

/// The updates of each block.
SS_HD void list_updates(const BlockPattern& p) {
  const int count = p.counts->nodes + p.counts->blocks;
  for_updates(p, [&](int target, const BlockUpdate&) { ++p.targets[target + 1].updates; });
  for (int t = 0; t < count; ++t) p.targets[t + 1].updates += p.targets[t].updates;
  for_updates(p, [&](int target, const BlockUpdate& update) {
    p.updates[p.targets[target].updates++] = update;
  });
  for (int t = count; t > 0; --t) p.targets[t].updates = p.targets[t - 1].updates;
  p.targets[0].updates = 0;
}

/// The items that touch each node; their nodes must be placed.
SS_HD void list_touches(const BlockPattern& p) {
  int item = 0;
  sort_by_key(
      p.item_begin[p.counts->items], p.counts->nodes, p.touch_begin,
      [&](int e) { return p.item_node[e]; },
      [&](int e, int at) {
        while (e >= p.item_begin[item + 1]) ++item;
        p.touches[at] = {item, e - p.item_begin[item]};
      });
}

}  // namespace stickslip::kernels::inline SS_ISA
