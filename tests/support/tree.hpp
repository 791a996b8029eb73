// Random mechanisms on random trees of joints, as compressed rows and as dense matrices.
#pragma once
#include <algorithm>

#include "stickslip/sparse_mechanism.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

/// M = L^T D L and J of `rows` rows, alternately of one degree of freedom, along one path to the
/// root, and between two branches.
struct TreeMechanism {
  reference::Matrix M, J;
  std::vector<std::int32_t> row_nnz, row_adr, col, J_row{0}, J_col;
  std::vector<double> M_values, L, D_inv, J_values;

  TreeMechanism(int nv, int rows, Random& random) {
    reference::Matrix root = reference::Matrix::Identity(nv, nv);
    for (int i = 0; i < nv; ++i) {
      const int parent = std::max(-1, i - 1 - int(3 * std::abs(random.normal())));
      std::vector<std::int32_t> path = path_to(parent);
      for (const int k : path) root(i, k) = 0.5 * random.normal();
      path.push_back(i);
      row_adr.push_back(std::int32_t(col.size()));
      row_nnz.push_back(std::int32_t(path.size()));
      col.insert(col.end(), path.begin(), path.end());
      D_inv.push_back(1.0 / (0.1 + std::abs(random.normal())));
    }
    const Eigen::Map<const reference::Vector> inverse(D_inv.data(), nv);
    M = root.transpose() * inverse.cwiseInverse().asDiagonal() * root;
    for (int i = 0; i < nv; ++i) {
      for (const int k : path_to(i)) {
        L.push_back(root(i, k));
        M_values.push_back(M(i, k));
      }
    }
    J = reference::Matrix::Zero(rows, nv);
    for (int i = 0; i < rows; ++i) add_row(i, nv, random);
  }

  SparseMechanism view() const {
    return {.tree = {std::int32_t(row_nnz.size()), row_nnz.data(), row_adr.data(), col.data()},
            .M = M_values.data(),
            .L = L.data(),
            .D_inv = D_inv.data(),
            .rows = std::int32_t(J_row.size()) - 1,
            .J_row = J_row.data(),
            .J_col = J_col.data(),
            .J = J_values.data()};
  }

 private:
  std::vector<std::int32_t> path_to(int i) const {
    if (i < 0) return {};
    const auto begin = col.begin() + row_adr[std::size_t(i)];
    return {begin, begin + row_nnz[std::size_t(i)]};
  }
  void add_row(int i, int nv, Random& random) {
    const auto dof = [&] { return random.integer(nv); };
    std::vector<std::int32_t> touched = i % 3 == 0 ? std::vector{dof()} : path_to(dof());
    if (i % 3 == 2) {
      for (const int k : path_to(dof())) touched.push_back(k);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const int k : touched) {
      J_col.push_back(k);
      J_values.push_back(J(i, k) = random.normal());
    }
    J_row.push_back(std::int32_t(J_col.size()));
  }
};

}  // namespace stickslip::support
