// Builds the scaled problem without its matrix, and its products.
#pragma once
#include "kernels/linalg/block_mass.hpp"
#include "kernels/linalg/block_solve.hpp"
#include "kernels/scaling/selection.hpp"
#include "kernels/velocity/sparse_scaled.hpp"
#include "kernels/velocity/sparse_velocity.hpp"

namespace stickslip::kernels::inline SS_ISA {

SS_HD SparseVelocity velocity_of(const EnvProblem<double>& p, const SparseScaled& s) {
  return {p, s.m, s.change, s.off, s.partial, s.reach};
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
  clear_nodes(g, s.lu);
  add_items_transposed(g, s.lu, [&](int i) { return z[i]; });
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

/// H, and the blocks of W_hat on its diagonal.
template <class G>
SS_HD void form_blocks(const G& g, const SparseScaled& s) {
  const SparseMechanism& m = s.m;
  const ItemPaths& w = s.paths;
  g.for_each(m.tree.n, [&](int k) {
    w.root[k] = sqrt(m.D_inv[k]);
    s.row[k] = 0.0;
  });
  g.once([&] {
    w.begin[0] = w.at[0] = 0;
    for (int item = 0; item < s.items(); ++item) {
      const int a = first_row(s, item), dim = end_row(s, item) - a;
      std::int32_t* path = w.dof + w.begin[item];
      double* half = w.half + w.at[item];
      const int count = list_path(m, a, a + dim, path);
      w.begin[item + 1] = w.begin[item] + count;
      w.at[item + 1] = w.at[item] + dim * count;
      for (int i = 0; i < dim; ++i) {
        half_solve_row(m, a + i, count, path, s.row);
        for (int c = 0; c < count; ++c) {
          half[dim * c + i] = s.d[a + i] * s.row[path[c]] * w.root[path[c]];
          s.row[path[c]] = 0.0;
        }
        for (int j = 0; j <= i; ++j) {
          double sum = 0.0;
          for (int c = 0; c < count; ++c) sum = fma(half[dim * c + i], half[dim * c + j], sum);
          s.set_block(a + i, a + j, i == j ? sum + s.alone(a + i) : sum);
        }
      }
    }
  });
}

/// x = M^-1 J_i^T d_i on the path of an item, i its first row.
SS_HD void solve_first_row(const SparseScaled& s, int item, double* x) {
  const TreeSparsity& t = s.m.tree;
  const ItemPaths& w = s.paths;
  const int dim = end_row(s, item) - first_row(s, item);
  for (int c = w.begin[item + 1] - w.begin[item] - 1; c >= 0; --c) {
    const int k = w.dof[w.begin[item] + c];
    double sum = w.half[w.at[item] + dim * c] * w.root[k];
    for (int e = t.row_adr[k], end = e + t.row_nnz[k] - 1; e < end; ++e) {
      sum = fma(-s.m.L[e], x[t.col[e]], sum);
    }
    x[k] = sum;
  }
}

/// crowd_of the normal of contact k: rho_n x . (J^T rho J) x with x = M^-1 J_n^T d_n, of which the
/// nodes that the contact touches are taken. The blocks of J^T rho J are in the LU's memory.
SS_HD double crowd_of(const SparseScaled& s, int k) {
  const BlockPattern& p = s.lu.pattern;
  const int item = s.scalars + k, a = s.block[k], begin = p.item_begin[item];
  solve_first_row(s, item, s.row);
  double sum = 0.0;
  const auto add = [&](int left, int right, const double* block, double times) {
    for (int i = 0; i < p.size[left]; ++i) {
      const double x = times * s.row[p.first[left] + i];
      for (int j = 0; j < p.size[right]; ++j)
        sum = fma(x * block[kBlockWidth * i + j], s.row[p.first[right] + j], sum);
    }
  };
  for (int c = begin; c < p.item_begin[item + 1]; ++c) {
    const int node = p.item_node[c], at = c - begin;
    add(node, node, s.lu.diagonal(node), 1.0);
    for (int b = 0; b < at; ++b) {
      const int upper = p.pair_upper[p.pair_begin[item] + at * (at - 1) / 2 + b];
      add(p.item_node[begin + b], node, s.lu.row(upper), 2.0);
    }
  }
  return max(sum * s.rho[a], 1.0);
}

/// Fills what Newton's map needs of each contact: its crowd and share.
template <class G>
SS_HD void measure_crowds(const G& g, SparseScaled& s) {
  clear_blocks(g, s.lu);
  for (int item = 0; item < s.items(); ++item) {
    with_item_dim(s.lu.pattern, item, [&](auto dim) SS_INLINE {
      double rho[dim * dim] = {};
      for (int j = 0; j < dim; ++j) rho[(dim + 1) * j] = s.rho[first_row(s, item) + j];
      add_item<dim>(g, s.lu, item, rho);
    });
  }
  g.once([&] {
    for (int k = 0; k < s.n_contacts; ++k) {
      s.crowd[k] = power_of_two_below(crowd_of(s, k));
      s.share[k] = 1.0 / s.crowd[k];
    }
  });
}

/// With a block LU of at most 1 / 40 of the n^3 multiplications of a dense one, steps on a CPU are
/// faster (measured).
inline constexpr std::int64_t kSparse = 40;

/// Builds s for the problem p of the mechanism; p has the diagonal of W. False if the block LU
/// would take more than n^3 / gain multiplications, or does not fit its memory.
template <class G>
SS_PART bool scale_sparse(const G& g, const EnvProblem<double>& p, const SparseMechanism& m,
                          Law law, std::int64_t gain, SparseScaled& s) {
  s.m = m;
  scale_vectors(g, p, law, s);
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
