// The scaled problem without its matrix: W_hat = D J M^-1 J^T D is a product of sparse ones, and
// what the solvers read of it are the blocks on its diagonal. For one mechanism in sparse form.
#pragma once
#include "kernels/delassus/products.hpp"
#include "kernels/linalg/block_lu.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Most nodes and blocks of the block LU for a mechanism of `nv` degrees of freedom; where there
/// are more, it would hardly be sparse.
SS_HD BlockCapacity block_capacity(int nv, int max_rows) {
  return {.dofs = nv,
          .items = max_rows,
          .nodes = nv,
          .blocks = 8 * nv,
          .updates = 32 * nv,
          .item_nodes = 6 * max_rows,
          .item_pairs = 15 * max_rows};
}

/// Of steps in the space of velocities (item_steps.hpp): [items][6][6] the left sides P, Q of each
/// item, Q^-1 and B = Q^-1 P; [items] sign of det Q; [n] vectors.
struct ItemSteps {
  static constexpr int kMostDim = 6, kBlock = kMostDim * kMostDim;
  double *P, *Q, *inverse, *B;
  int* sign;
  double *right, *left, *rest, *step, *correction;

  SS_HD ItemSteps(Arena& arena, int max_rows)
      : P(arena.take<double>(std::size_t(kBlock) * max_rows)),
        Q(arena.take<double>(std::size_t(kBlock) * max_rows)),
        inverse(arena.take<double>(std::size_t(kBlock) * max_rows)),
        B(arena.take<double>(std::size_t(kBlock) * max_rows)),
        sign(arena.take<int>(max_rows)),
        right(arena.take<double>(max_rows)),
        left(arena.take<double>(max_rows)),
        rest(arena.take<double>(max_rows)),
        step(arena.take<double>(max_rows)),
        correction(arena.take<double>(max_rows)) {}
};

/// H = D^-1/2 L^-T (d J)^T by items, of W_hat = H^T H: zero beyond the path of an item, the degrees
/// of freedom that it touches and their ancestors.
struct ItemPaths {
  int nv;
  std::int32_t* length;  ///< [items]
  std::int32_t* dofs;    ///< [items][nv] in decreasing order
  std::int32_t* at;      ///< [items + 1] where the item begins in `half` and `column`
  double* half;          ///< [length][dim] of each item
  double* column;        ///< scratch of the same size
  double* root;          ///< [nv] D^-1/2
  /// Items of one color share no degree of freedom: their number, [items + 1] where each begins in
  /// `by_color`; [nv] colors in use of each degree of freedom.
  std::int32_t *colors, *color, *by_color;
  std::uint64_t* used;

  SS_HD ItemPaths(Arena& arena, int dofs_of_all, int max_rows)
      : nv(dofs_of_all),
        length(arena.take<std::int32_t>(max_rows)),
        dofs(arena.take<std::int32_t>(std::size_t(nv) * max_rows)),
        at(arena.take<std::int32_t>(max_rows + 1)),
        half(arena.take<double>(std::size_t(nv) * max_rows)),
        column(arena.take<double>(std::size_t(nv) * max_rows)),
        root(arena.take<double>(nv)),
        colors(arena.take<std::int32_t>(1)),
        color(arena.take<std::int32_t>(max_rows + 1)),
        by_color(arena.take<std::int32_t>(max_rows)),
        used(arena.take<std::uint64_t>(nv)) {}

  SS_HD std::int32_t* path(int item) const { return dofs + std::int64_t(nv) * item; }
};

struct SparseScaled : Scaled<double> {
  static constexpr int kMostDim = ItemSteps::kMostDim, kBlock = ItemSteps::kBlock;
  SparseMechanism m;
  BlockLu lu;            ///< of S = M + sum J_k^T B_k J_k, with the rows of J times d
  double* blocks;        ///< [n_contacts][6][6] of W_hat on its diagonal, without compliance
  int* contact;          ///< [n] of each row
  double* compliance;    ///< [n] of W_hat: R, and what alters the problem
  double *change, *row;  ///< [nv] scratch
  ItemPaths paths;
  ItemSteps steps;
  double *partial, *off, *spread;  ///< [nv] of SparseVelocity
  ColumnIndex columns;             ///< of J, on a GPU

  /// Many rows on few degrees of freedom, as of a thing of many geoms in a gripper, need the stages
  /// of a smaller problem; boxes in a row do not (tests/python/sim/test_sim_wedged).
  SS_HD int size_of(int rows) const {
    constexpr int kFewDofs = 24, kRowsOfDof = 4;
    return m.tree.n <= kFewDofs ? min(rows, kRowsOfDof * m.tree.n) : rows;
  }

  SS_HD SparseScaled(Arena& arena, int nv, int max_rows, int max_contacts)
      : Scaled<double>(arena, max_rows, max_contacts, 0),
        m{},
        lu(arena, block_capacity(nv, max_rows)),
        blocks(arena.take<double>(std::size_t(kBlock) * max_contacts)),
        contact(arena.take<int>(max_rows)),
        compliance(arena.take<double>(max_rows)),
        change(arena.take<double>(nv)),
        row(arena.take<double>(nv)),
        paths(arena, nv, max_rows),
        steps(arena, max_rows),
        partial(arena.take<double>(nv)),
        off(arena.take<double>(nv)),
        spread(arena.take<double>(nv)),
        columns{} {
    W_diag = arena.take<double>(max_rows);
  }

  /// Sets the entries (i, j) and (j, i) of W_hat, of two rows of one item.
  SS_HD void set_block(int i, int j, double value) const {
    if (i == j) W_diag[i] = value;
    if (i < scalars) return;
    const int k = contact[i], a = block[k];
    double* const of_contact = blocks + kBlock * k;
    of_contact[kMostDim * (i - a) + (j - a)] = of_contact[kMostDim * (j - a) + (i - a)] = value;
  }
  SS_HD int items() const { return scalars + n_contacts; }
  /// [dim][6] of W_hat, without compliance.
  SS_HD const double* own_block(int item) const {
    return item < scalars ? W_diag + item : blocks + kBlock * (item - scalars);
  }
  /// Entry of W_hat, compliance included, of two rows of one item.
  SS_HD double at(int i, int j) const {
    if (i < scalars) return W_diag[i] + compliance[i];
    const int k = contact[i], a = block[k];
    return blocks[kBlock * k + kMostDim * (i - a) + (j - a)] + (i == j ? compliance[i] : 0.0);
  }
  /// Entries of W_hat that no velocity sees: rows without friction stand alone.
  SS_HD double alone(int i) const { return d[i] > 0.0 ? 0.0 : 1.0; }
};

}  // namespace stickslip::kernels::inline SS_ISA
