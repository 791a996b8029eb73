// Islands of a mechanism: items that touch the same degrees of freedom, or some that M couples. W
// is formed for each island alone, from the part of M and J that belongs to it.
#pragma once
#include "kernels/delassus/products.hpp"
#include "kernels/delassus/tree.hpp"
#include "kernels/problem/islands.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The degrees of freedom by islands; the part of a mechanism that belongs to one island, and what
/// forms its W.
struct IslandMechanism {
  int* count;                       ///< [1] of islands
  int* joined;                      ///< [nv] union-find over the degrees of freedom
  int* island;                      ///< [nv] of each degree of freedom; -1: nothing touches it
  int* order;                       ///< [nv] degrees of freedom by islands
  int* begin;                       ///< [max_rows + 1] where each island begins in `order`
  int* number;                      ///< [nv] of a degree of freedom in its island
  double *diagonal, *own_diagonal;  ///< [max_rows] of W, of the environment and of the island
  double* x;                        ///< [nv] scratch
  std::int32_t* path;               ///< [nv] scratch
  std::int32_t *row_nnz, *row_adr, *col, *J_row, *J_col;
  double *M, *L, *D_inv, *J;
  TreeScratch tree;

  SS_HD IslandMechanism(Arena& arena, int nv, int max_rows)
      : count(arena.take<int>(1)),
        joined(arena.take<int>(nv)),
        island(arena.take<int>(nv)),
        order(arena.take<int>(nv)),
        begin(arena.take<int>(max_rows + 1)),
        number(arena.take<int>(nv)),
        diagonal(arena.take<double>(max_rows)),
        own_diagonal(arena.take<double>(max_rows)),
        x(arena.take<double>(nv)),
        path(arena.take<std::int32_t>(nv)),
        row_nnz(arena.take<std::int32_t>(nv)),
        row_adr(arena.take<std::int32_t>(nv)),
        col(arena.take<std::int32_t>(most_of_M(nv))),
        J_row(arena.take<std::int32_t>(max_rows + 1)),
        J_col(arena.take<std::int32_t>(std::size_t(max_rows) * nv)),
        M(arena.take<double>(most_of_M(nv))),
        L(arena.take<double>(most_of_M(nv))),
        D_inv(arena.take<double>(nv)),
        J(arena.take<double>(std::size_t(max_rows) * nv)),
        tree(arena, nv, max_rows) {}

  SS_HD static std::size_t most_of_M(int nv) { return std::size_t(nv) * (nv + 1) / 2; }
};

/// The representative of a degree of freedom.
SS_HD int root_of(int* joined, int k) {
  while (joined[k] != k) k = joined[k] = joined[joined[k]];
  return k;
}

SS_HD void join(int* joined, int a, int b) {
  a = root_of(joined, a);
  b = root_of(joined, b);
  joined[max(a, b)] = min(a, b);
}

/// Calls f(c) for the entries c of J in the rows of an item that are not zero.
template <class F>
SS_HD void for_entries(const EnvProblem<double>& p, const SparseMechanism& m, int item, F&& f) {
  const int begin = m.J_row[item_row(p, item)], end = m.J_row[item_row(p, item + 1)];
  for (int c = begin; c < end; ++c) {
    if (m.J[c] != 0.0) f(c);
  }
}

/// Joins the degrees of freedom that M couples, and those that an item touches.
SS_HD void join_coupled(const EnvProblem<double>& p, const SparseMechanism& m, int* joined) {
  const TreeSparsity& t = m.tree;
  for (int k = 0; k < t.n; ++k) {
    joined[k] = k;
    for (int c = t.row_adr[k]; c < t.row_adr[k] + t.row_nnz[k] - 1; ++c) {
      if (m.M[c] != 0.0) join(joined, k, t.col[c]);
    }
  }
  for (int item = 0; item < num_items(p); ++item) {
    int first = -1;
    for_entries(p, m, item, [&](int c) {
      if (first < 0) first = m.J_col[c];
      join(joined, first, m.J_col[c]);
    });
  }
}

/// Numbers the islands of items and of degrees of freedom. Returns how many there are.
SS_HD int number_islands(const EnvProblem<double>& p, const SparseMechanism& m,
                         const IslandMechanism& a, int* of_item) {
  int count = 0;
  for (int k = 0; k < m.tree.n; ++k) a.island[k] = -1;
  for (int item = 0; item < num_items(p); ++item) {
    int touched = -1;
    for_entries(p, m, item, [&](int c) { touched = m.J_col[c]; });
    if (touched < 0) {  // nothing moves it
      of_item[item] = count++;
      continue;
    }
    int& island = a.island[root_of(a.joined, touched)];
    if (island < 0) island = count++;
    of_item[item] = island;
  }
  for (int k = 0; k < m.tree.n; ++k) a.island[k] = a.island[root_of(a.joined, k)];
  return count;
}

/// As find_islands, without W; also lists their degrees of freedom.
template <class G>
SS_HD int find_islands(const G& g, const EnvProblem<double>& p, const SparseMechanism& m,
                       const IslandMechanism& a, const Islands<double>& s) {
  g.once([&] {
    join_coupled(p, m, a.joined);
    const int count = *a.count = number_islands(p, m, a, s.island);
    for (int i = 0; i <= count; ++i) a.begin[i] = 0;
    for (int k = 0; k < m.tree.n; ++k) {
      if (a.island[k] >= 0) a.number[k] = a.begin[a.island[k] + 1]++;
    }
    for (int i = 0; i < count; ++i) a.begin[i + 1] += a.begin[i];
    for (int k = 0; k < m.tree.n; ++k) {
      if (a.island[k] >= 0) a.order[a.begin[a.island[k]] + a.number[k]] = k;
    }
  });
  return *a.count;
}

/// Copies the part of the mechanism that belongs to island i of those listed, its degrees of
/// freedom in the same order.
template <class G>
SS_HD SparseMechanism part_of(const G& g, const EnvProblem<double>& p, const SparseMechanism& m,
                              const Islands<double>& s, int i, const IslandMechanism& a) {
  const TreeSparsity& t = m.tree;
  const int first = a.begin[i], n = a.begin[i + 1] - first;
  g.once([&] {
    int next = 0;
    for (int own = 0; own < n; ++own) {
      const int k = a.order[first + own];
      a.row_adr[own] = next;
      a.D_inv[own] = m.D_inv[k];
      for (int c = t.row_adr[k]; c < t.row_adr[k] + t.row_nnz[k]; ++c) {
        if (a.island[t.col[c]] != i) continue;
        a.col[next] = a.number[t.col[c]];
        a.M[next] = m.M[c];
        a.L[next++] = m.L[c];
      }
      a.row_nnz[own] = next - a.row_adr[own];
    }
    next = 0;
    for_island_rows(p, s, i, [&](int of_island, int of_env) {
      a.J_row[of_island] = next;
      for (int c = m.J_row[of_env]; c < m.J_row[of_env + 1]; ++c) {
        if (a.island[m.J_col[c]] != i) continue;
        a.J_col[next] = a.number[m.J_col[c]];
        a.J[next++] = m.J[c];
      }
    });
    a.J_row[s.rows[i]] = next;
  });
  return {{n, a.row_nnz, a.row_adr, a.col}, a.M, a.L, a.D_inv, s.rows[i], a.J_row, a.J_col, a.J};
}

/// Makes the diagonal of W, of an island that was entered, its matrix: one whose rows all begin at
/// the same place.
template <class G>
SS_HD void enter_diagonal(const G& g, const Islands<double>& s, const IslandMechanism& a) {
  g.for_each(s.part->n, [&](int i) { a.own_diagonal[i] = a.diagonal[s.row[i]]; });
  g.once([&] {
    s.part->W = a.own_diagonal;
    s.part->ld_W = 0;
  });
}

/// Forms the matrix of island i, which was entered, from its mechanism.
template <class G>
SS_HD void form_island_matrix(const G& g, const SparseMechanism& own, const Islands<double>& s,
                              int i, const IslandMechanism& a) {
  form_delassus(g, own, s.matrix(i), own.rows, a.tree);
  g.once([&] {
    s.part->W = s.matrix(i);
    s.part->ld_W = own.rows;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
