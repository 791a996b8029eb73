// Kinematic trees with contacts and joint rows between them, as a sparse mechanism with the rows of
// its items, and S = M + sum J_k^T B_k J_k as a dense matrix.
#pragma once
#include <algorithm>
#include <vector>

#include "stickslip/sparse_mechanism.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

class ItemScene {
 public:
  using Dofs = std::vector<int>;

  explicit ItemScene(std::uint64_t seed) : random_(seed) {}

  int dofs() const { return int(row_nnz_.size()); }
  int items() const { return int(first_row_.size()) - 1; }
  int dim(int item) const { return first_row(item + 1) - first_row(item); }
  int first_row(int item) const { return first_row_[std::size_t(item)]; }

  /// A tree by the parents of its degrees of freedom, -1 for none, numbered in it. Returns the
  /// first of them.
  int add_tree(const Dofs& parents) {
    const int first = dofs();
    for (std::size_t i = 0; i < parents.size(); ++i) {
      Dofs path = parents[i] < 0 ? Dofs{} : path_to(first + parents[i]);
      path.push_back(first + int(i));
      row_adr_.push_back(std::int32_t(col_.size()));
      row_nnz_.push_back(std::int32_t(path.size()));
      col_.insert(col_.end(), path.begin(), path.end());
    }
    return first;
  }
  /// The degrees of freedom of a free body; `simple`: its M is diagonal, and stored as such.
  Dofs add_body(bool simple) {
    const int first = add_tree(simple ? Dofs(6, -1) : Dofs{-1, 0, 1, 2, 3, 4});
    Dofs all(6);
    for (int i = 0; i < 6; ++i) all[std::size_t(i)] = first + i;
    return all;
  }
  /// Rows on these degrees of freedom and their ancestors.
  void add_item(int dim, const Dofs& touched, const Dofs& also = {}) {
    Dofs all;
    for (const Dofs& part : {touched, also}) {
      for (const int i : part) {
        for (const int k : path_to(i)) all.push_back(k);
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (int r = 0; r < dim; ++r) {
      for (const int k : all) {
        J_col_.push_back(k);
        J_values_.push_back(random_.normal());
      }
      J_row_.push_back(std::int32_t(J_col_.size()));
    }
    first_row_.push_back(int(J_row_.size()) - 1);
    const reference::Matrix root = random_matrix(dim), skew = random_matrix(dim);
    B_.emplace_back(root * root.transpose() + skew - skew.transpose());
  }
  /// M, once all trees are there; a B of each item 1 to `largest` times as large.
  void finish(double largest = 1.0) {
    const int n = dofs();
    reference::Matrix root = reference::Matrix::Identity(n, n);
    for (int i = 0; i < n; ++i) {
      for (const int k : path_to(i)) root(i, k) = k == i ? 1.0 : 0.3 * random_.normal();
    }
    reference::Vector mass(n);
    for (int i = 0; i < n; ++i) mass[i] = random_.uniform(0.2, 3.0);
    M_ = root.transpose() * mass.asDiagonal() * root;
    for (int i = 0; i < n; ++i) {
      for (const int k : path_to(i)) M_values_.push_back(M_(i, k));
    }
    for (reference::Matrix& B : B_) {
      B *= std::min(largest, power_of_ten(random_.uniform(0.0, 16.0)));
    }
  }

  SparseMechanism view() const {
    return {.tree = {std::int32_t(dofs()), row_nnz_.data(), row_adr_.data(), col_.data()},
            .M = M_values_.data(),
            .rows = std::int32_t(J_row_.size()) - 1,
            .J_row = J_row_.data(),
            .J_col = J_col_.data(),
            .J = J_values_.data()};
  }
  const reference::Matrix& B(int item) const { return B_[std::size_t(item)]; }
  reference::Matrix J() const {
    reference::Matrix J = reference::Matrix::Zero(Eigen::Index(J_row_.size()) - 1, dofs());
    for (int i = 0; i < J.rows(); ++i) {
      for (auto c = std::size_t(J_row_[std::size_t(i)]);
           c < std::size_t(J_row_[std::size_t(i) + 1]); ++c) {
        J(i, J_col_[c]) = J_values_[c];
      }
    }
    return J;
  }
  const reference::Matrix& M() const { return M_; }
  reference::Matrix S() const {
    const reference::Matrix all = J();
    reference::Matrix S = M_;
    for (int k = 0; k < items(); ++k) {
      const auto rows = all.middleRows(first_row(k), dim(k));
      S += rows.transpose() * B(k) * rows;
    }
    return S;
  }
  reference::Vector random_vector() {
    reference::Vector v(dofs());
    for (double& entry : v) entry = random_.normal();
    return v;
  }

 private:
  Dofs path_to(int i) const {
    const auto begin = col_.begin() + row_adr_[std::size_t(i)];
    return {begin, begin + row_nnz_[std::size_t(i)]};
  }
  reference::Matrix random_matrix(int n) {
    return reference::Matrix::NullaryExpr(n, n, [&] { return random_.normal(); });
  }

  Random random_;
  std::vector<std::int32_t> row_nnz_, row_adr_, col_, J_row_{0}, J_col_;
  std::vector<double> M_values_, J_values_;
  std::vector<int> first_row_{0};
  std::vector<reference::Matrix> B_;
  reference::Matrix M_;
};

}  // namespace stickslip::support
