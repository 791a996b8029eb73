// Mechanisms in sparse form of many bodies, with their W.
#pragma once
#include <gtest/gtest.h>

#include "src/cpu/kernel_table.hpp"
#include "tests/support/item_scene.hpp"

namespace stickslip::support {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Bodies in contact with each other and a floor, some on joints with limits and dry friction.
struct Pile {
  Random random;
  ItemScene scene;
  RowCounts counts;
  std::vector<std::int32_t> dims;
  std::vector<double> L, D_inv, b, mu, R, lo, hi;
  RowMajor W;
  int rows = 0;

  Pile(int index, int bodies, int contacts)
      : random(4711 + std::uint64_t(index)), scene(31 + std::uint64_t(index)) {
    std::vector<ItemScene::Dofs> body;
    for (int i = 0; i < bodies; ++i) body.push_back(scene.add_body(random.chance(0.5)));
    const int arm = scene.add_tree({-1, 0, 1, 2, 1, 4});
    counts.n_free = random.integer(2);
    counts.n_nonneg = random.integer(3);
    counts.n_box = random.integer(3);
    for (int i = 0; i < counts.n_free + counts.n_nonneg + counts.n_box; ++i)
      scene.add_item(1, {arm + random.integer(6)});
    for (int k = 0; k < contacts; ++k) {
      const int choices[] = {3, 3, 3, 4, 6};
      dims.push_back(choices[random.integer(5)]);
      const int a = random.integer(bodies), other = random.integer(bodies + 2);
      if (other < bodies && other != a)
        scene.add_item(dims.back(), body[std::size_t(a)], body[std::size_t(other)]);
      else if (other == bodies + 1)
        scene.add_item(dims.back(), body[std::size_t(a)], {arm + 3});
      else
        scene.add_item(dims.back(), body[std::size_t(a)]);
    }
    counts.n_contacts = contacts;
    scene.finish();
    pose();
  }

  SparseMechanism mechanism() const {
    SparseMechanism m = scene.view();
    m.L = L.data();
    m.D_inv = D_inv.data();
    return m;
  }
  ProblemBatch<double> problem() const {
    ProblemBatch<double> p;
    p.num_envs = 1;
    p.max_rows = rows;
    p.max_contacts = counts.n_contacts;
    p.counts = {&counts, 1};
    p.dims = {dims.data(), 0};
    p.b = {b.data(), 0};
    p.mu = {mu.data(), 0};
    p.R = {R.data(), 0};
    p.lo = {lo.data(), 0};
    p.hi = {hi.data(), 0};
    return p;
  }

 private:
  void pose() {
    const SparseMechanism given = scene.view();
    const std::size_t entries =
        std::size_t(given.tree.row_adr[given.tree.n - 1] + given.tree.row_nnz[given.tree.n - 1]);
    L.assign(given.M, given.M + entries);
    D_inv.resize(std::size_t(given.tree.n));
    ASSERT_TRUE(kernels::kernel_table().factor_ltdl(given.tree, L.data(), D_inv.data()));
    rows = given.rows;
    W.resize(rows, rows);
    Workspace workspace(rows, counts.n_contacts, 1);
    delassus(mechanism(), W.data(), rows, workspace);
    const reference::Matrix J = scene.J();
    const reference::Vector v = scene.random_vector();
    const reference::Vector free = J * v;  // of a motion: some impulses solve it
    for (int i = 0; i < rows; ++i) b.push_back(free[i]);
    int row = counts.n_free + counts.n_nonneg + counts.n_box;
    for (const int dim : dims) {
      b[std::size_t(row)] += 0.1 * std::abs(random.normal());  // a gap
      const double slide = random.uniform(0.1, 0.9);
      for (int j = 1; j < dim; ++j) mu.push_back(j < 3 ? slide : 0.1 * slide);
      row += dim;
    }
    R.assign(std::size_t(rows), 0.0);
    for (int i = 0; i < counts.n_box; ++i) {
      hi.push_back(random.uniform(0.0, 1.0));
      lo.push_back(-hi.back());
    }
  }
};

}  // namespace stickslip::support
