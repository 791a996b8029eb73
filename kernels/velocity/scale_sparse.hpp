// Builds the scaled problem without its matrix, and its products.
#pragma once
#include "kernels/linalg/block_mass.hpp"
#include "kernels/linalg/block_solve.hpp"
#include "kernels/scaling/selection.hpp"
#include "kernels/velocity/sparse_scaled.hpp"
#include "kernels/velocity/sparse_velocity.hpp"

namespace stickslip::kernels::inline SS_ISA {

SS_HD SparseVelocity velocity_of(const EnvProblem<double>& p, const SparseScaled& s) {
  return {p, s.m, s.change, s.off, s.partial, s.spread, s.columns};
}

/// Adds to the diagonal of W_hat, or restores it.
SS_HD void add_compliance(const SparseScaled& s, int i, double value) { s.compliance[i] += value; }
template <class G>
SS_HD void set_compliance(const G& g, SparseScaled& s, bool with_R) {
  g.for_each(s.n, [&](int i) { s.compliance[i] = with_R ? s.R[i] : 0.0; });
}

/// Calls take(i, (D J M^-1 J^T D z)_i) for every row.
template <class G, class F>
SS_HD void multiply_mobility(const G& g, const SparseScaled& s, const double* z, F&& take) {
  multiply_items_transposed(g, s.lu, [&](int i) { return z[i]; });
  if (*s.lu.block_diagonal) {
    divide_by_mass(g, s.lu);
  } else {
    store_nodes(g, s.lu, s.change);
    solve_ltdl(g, s.m.tree, s.m.L, s.m.D_inv, s.change);
    load_nodes(g, s.lu, s.change);
  }
  multiply_items(g, s.lu, take);
}

/// u = W_hat z + start, compliance included.
template <class G>
SS_PART void multiply_scaled(const G& g, const SparseScaled& s, const double* z,
                             const double* start, double* u) {
  multiply_mobility(g, s, z, [&](int i, double sum) {
    u[i] = fma(s.alone(i) + s.compliance[i], z[i], sum + start[i]);
  });
}

template <class G>
SS_HD void multiply_scaled_transposed(const G& g, const SparseScaled& s, const double* x,
                                      double* y) {
  multiply_scaled(g, s, x, s.zero, y);  // symmetric
}

template <class G>
SS_HD void scaled_velocity(const G& g, const SparseScaled& s, const double* z, double* u) {
  multiply_scaled(g, s, z, s.b, u);
}

/// Colors the items, each with the first color that none of its path has. Beyond 64 colors, each
/// has one of its own.
SS_HD void color_items(const SparseScaled& s) {
  constexpr int kColors = 64;
  const ItemPaths& w = s.paths;
  std::int32_t* const of_item = w.at;  // not used yet
  int count = 0, alone = 0;
  for (int k = 0; k < s.m.tree.n; ++k) w.used[k] = 0;
  for (int item = 0; item < s.items(); ++item) {
    std::uint64_t used = 0;
    for (int c = 0; c < w.length[item]; ++c) used |= w.used[w.path(item)[c]];
    const int color = ~used == 0 ? kColors + alone++ : lowest_bit(~used);
    of_item[item] = color;
    count = max(count, color + 1);
    const std::uint64_t bit = color < kColors ? std::uint64_t(1) << color : 0;
    for (int c = 0; c < w.length[item]; ++c) w.used[w.path(item)[c]] |= bit;
  }
  *w.colors = count;
  sort_by_key(
      s.items(), count, w.color, [&](int item) { return of_item[item]; },
      [&](int item, int at) { w.by_color[at] = item; });
}

/// The paths of the items.
template <class G>
SS_HD void list_paths(const G& g, const SparseScaled& s) {
  const ItemPaths& w = s.paths;
  g.for_each(s.items(), [&](int item) {
    w.length[item] = list_path(s.m, first_row(s, item), end_row(s, item), w.path(item));
  });
  g.once([&] {
    color_items(s);
    w.at[0] = 0;
    for (int item = 0; item < s.items(); ++item)
      w.at[item + 1] = w.at[item] + (end_row(s, item) - first_row(s, item)) * w.length[item];
  });
}

/// Calls f(entry of L, place of its column on the path) for the ancestors of the cth degree of
/// freedom of a path of `count`, from the root on.
template <class F>
SS_HD void for_ancestors(const TreeSparsity& t, const std::int32_t* path, int count, int c, F&& f) {
  const int begin = t.row_adr[path[c]], end = begin + t.row_nnz[path[c]] - 1;
  for (int e = begin, q = count - 1; e < end; ++e, --q) {
    while (path[q] != t.col[e]) --q;
    f(e, q);
  }
}

/// H of an item, and its block of W_hat.
SS_HD void form_item(const SparseScaled& s, int item) {
  const SparseMechanism& m = s.m;
  const ItemPaths& w = s.paths;
  const int a = first_row(s, item), dim = end_row(s, item) - a;
  const int count = w.length[item];
  const std::int32_t* path = w.path(item);
  double* const half = w.half + w.at[item];
  for (int i = 0; i < dim; ++i) {
    const auto x = [&](int c) -> double& { return half[dim * c + i]; };
    for (int c = 0; c < count; ++c) x(c) = 0.0;
    for (int e = m.J_row[a + i + 1] - 1, c = 0; e >= m.J_row[a + i]; --e, ++c) {
      while (path[c] != m.J_col[e]) ++c;
      x(c) = m.J[e];
    }
    for (int c = 0; c < count; ++c) {  // L^-T
      for_ancestors(m.tree, path, count, c, [&](int e, int q) { x(q) = fma(-m.L[e], x(c), x(q)); });
    }
    for (int c = 0; c < count; ++c) x(c) = s.d[a + i] * x(c) * w.root[path[c]];
    for (int j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (int c = 0; c < count; ++c) sum = fma(half[dim * c + i], half[dim * c + j], sum);
      s.set_block(a + i, a + j, i == j ? sum + s.alone(a + i) : sum);
    }
  }
}

/// H, and the blocks of W_hat on its diagonal.
template <class G>
SS_HD void form_blocks(const G& g, const SparseScaled& s) {
  list_paths(g, s);
  g.for_each(s.m.tree.n, [&](int k) { s.paths.root[k] = sqrt(s.m.D_inv[k]); });
  g.for_each(s.items(), [&](int item) { form_item(s, item); });
}

/// x = M^-1 J_i^T d_i on the path of an item, i its first row.
SS_HD void solve_first_row(const SparseScaled& s, int item, double* x) {
  const ItemPaths& w = s.paths;
  const int dim = end_row(s, item) - first_row(s, item);
  const int count = w.length[item];
  const std::int32_t* path = w.path(item);
  for (int c = count - 1; c >= 0; --c) {
    double sum = w.half[w.at[item] + dim * c] * w.root[path[c]];
    for_ancestors(s.m.tree, path, count, c, [&](int e, int q) { sum = fma(-s.m.L[e], x[q], sum); });
    x[c] = sum;
  }
}

/// crowd_of the normal of contact k: rho_n x . (J^T rho J) x with x = M^-1 J_n^T d_n, of which the
/// path is taken. The blocks of J^T rho J are in the LU's memory.
SS_HD double crowd_of(const SparseScaled& s, int k) {
  const BlockPattern& p = s.lu.pattern;
  const int item = s.scalars + k, begin = p.item_begin[item], length = s.paths.length[item];
  const std::int32_t* path = s.paths.path(item);
  double* const x = s.paths.column + s.paths.at[item];
  solve_first_row(s, item, x);
  // f(i, x_i) for what the path has of a node.
  const auto for_part = [&](int node, auto&& f) {
    for (int c = length - 1; c >= 0; --c) {
      const int i = path[c] - p.first[node];
      if (i >= 0 && i < p.size[node]) f(i, x[c]);
    }
  };
  double sum = 0.0;
  const auto add = [&](int left, int right, const double* block, double times) {
    for_part(left, [&](int i, double x_i) {
      for_part(right, [&](int j, double x_j) {
        sum = fma(times * x_i * block[kBlockWidth * i + j], x_j, sum);
      });
    });
  };
  for (int c = begin; c < p.item_begin[item + 1]; ++c) {
    const int node = p.item_node[c], at = c - begin;
    add(node, node, s.lu.diagonal(node), 1.0);
    for (int b = 0; b < at; ++b) {
      const int upper = p.pair_upper[p.pair_begin[item] + at * (at - 1) / 2 + b];
      add(p.item_node[begin + b], node, s.lu.row(upper), 2.0);
    }
  }
  return max(sum * s.rho[s.block[k]], 1.0);
}

/// Fills what Newton's map needs of each contact: its crowd and share.
template <class G>
SS_HD void measure_crowds(const G& g, SparseScaled& s) {
  clear_blocks(g, s.lu);
  const auto matrix = [&](int item) { return s.steps.B + ItemSteps::kBlock * item; };
  g.for_each(s.items(), [&](int item) {
    const int a = first_row(s, item), dim = end_row(s, item) - a;
    for (int i = 0; i < dim * dim; ++i) matrix(item)[i] = 0.0;
    for (int j = 0; j < dim; ++j) matrix(item)[(dim + 1) * j] = s.rho[a + j];
  });
  add_items(
      g, s.lu, [](int) { return true; }, matrix);
  g.for_each(s.n_contacts, [&](int k) {
    s.crowd[k] = power_of_two_below(crowd_of(s, k));
    s.share[k] = 1.0 / s.crowd[k];
  });
}

/// With a block LU of at most 1 / 40 of the n^3 multiplications of a dense one, steps on a CPU are
/// faster (measured).
inline constexpr std::int64_t kSparse = 40;

/// Builds s for the problem p of its mechanism s.m; p has the diagonal of W. False if the block LU
/// would take more than n^3 / gain multiplications, or does not fit its memory.
template <class G>
SS_PART bool scale_sparse(const G& g, const EnvProblem<double>& p, Law law, std::int64_t gain,
                          SparseScaled& s) {
  const SparseMechanism& m = s.m;
  Scaled<double> vectors = s;  // s may be in memory that all lanes share
  scale_vectors(g, p, law, vectors);
  g.once([&] { static_cast<Scaled<double>&>(s) = vectors; });
  const auto row_of = [&](int item) { return item < s.scalars ? item : s.block[item - s.scalars]; };
  if (!find_pattern(g, m, s.items(), row_of, s.lu.pattern)) return false;
  const std::int64_t n = s.n;
  if (gain * s.lu.pattern.counts->multiplications > n * n * n) return false;
  load_item_rows(
      g, m, [&](int i) { return s.d[i]; }, s.lu);
  load_mass(g, m, s.lu);
  invert_mass(g, m, s.lu);
  g.for_each(s.n_contacts, [&](int k) {
    for (int i = s.block[k]; i < s.block[k + 1]; ++i) s.contact[i] = k;
  });
  set_compliance(g, s, true);
  form_blocks(g, s);
  set_rho(g, s);
  set_selecting(g, p, s);
  measure_crowds(g, s);
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
