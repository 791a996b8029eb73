// The matrices of DyadicMechanisms as engines store them: in float, which holds these small numbers
// exactly, M as a lower triangle, the rows of J in another order.
#pragma once
#include <vector>

#include "stickslip/engine_mechanism.hpp"
#include "tests/support/dyadic_mechanism.hpp"

namespace stickslip::support {

class EngineArrays {
 public:
  static constexpr int kRows = DyadicMechanisms<double>::kMaxRows;
  static constexpr int kDofs = DyadicMechanisms<double>::kDofs;
  static constexpr int kRowsOfJ = kRows + 3, kLd = kDofs + 2;
  static constexpr int kSize = kRows * kDofs;  ///< of compressed J

  EngineArrays(const DyadicMechanisms<double>& m, int envs) : envs_(envs) {
    for (int i = 0; i < kDofs; ++i) {
      row_nnz.push_back(i + 1);
      row_adr.push_back(int(col.size()));
      for (int j = 0; j <= i; ++j) col.push_back(j);
    }
    const auto e = std::size_t(envs);
    M.resize(e * col.size());
    dense.assign(e * kRowsOfJ * kLd, 99.0F);
    values.assign(e * kSize, 99.0F);
    columns.assign(e * kSize, -1);
    nnz.assign(e * kRowsOfJ, -1);
    adr.assign(e * kRowsOfJ, -1);
    row_of.resize(e * kRows);
    for (int env = 0; env < envs; ++env) fill(m, std::size_t(env));
  }

  EngineMechanism view(bool compressed) const {
    EngineMechanism m;
    m.num_envs = envs_;
    m.nv = kDofs;
    m.M = {M.data(), std::int64_t(col.size())};
    m.tree = {kDofs, row_nnz.data(), row_adr.data(), col.data()};
    m.M_size = int(col.size());
    m.J_rows = kRowsOfJ;
    m.row_of = {row_of.data(), kRows};
    if (!compressed) {
      m.J = {dense.data(), kRowsOfJ * kLd};
      m.ld_J = kLd;
      return m;
    }
    m.J = {values.data(), kSize};
    m.J_nnz = {nnz.data(), kRowsOfJ};
    m.J_adr = {adr.data(), kRowsOfJ};
    m.J_col = {columns.data(), kSize};
    m.J_size = kSize;
    return m;
  }

 private:
  void fill(const DyadicMechanisms<double>& m, std::size_t e) {
    for (std::size_t i = 0; i < kDofs; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        M[e * col.size() + std::size_t(row_adr[i]) + j] = float(m.M[(e * kDofs + i) * kDofs + j]);
      }
    }
    int used = 0;
    for (int i = kRows - 1; i >= 0; --i) {
      const int row = (7 * i + 2) % kRowsOfJ;  // 7 and the number of rows have no common divisor
      row_of[e * kRows + std::size_t(i)] = row;
      const std::size_t at = e * kRowsOfJ + std::size_t(row);
      adr[at] = used;
      for (std::size_t k = 0; k < kDofs; ++k) {
        const auto value = float(m.J[(e * kRows + std::size_t(i)) * kDofs + k]);
        dense[at * kLd + k] = value;
        if (value == 0.0F) continue;
        values[e * kSize + std::size_t(used)] = value;
        columns[e * kSize + std::size_t(used++)] = int(k);
      }
      nnz[at] = used - adr[at];
    }
  }

  int envs_;

 public:
  std::vector<std::int32_t> row_nnz, row_adr, col, columns, nnz, adr, row_of;
  std::vector<float> M, dense, values;
};

}  // namespace stickslip::support
