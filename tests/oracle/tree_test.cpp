// Delassus matrices of sparse mechanisms: equal to those of the dense matrices, exactly symmetric,
// the same on every instruction set.
#include <gtest/gtest.h>

#include "kernels/delassus/tree.hpp"
#include "kernels/group/permuted_group.hpp"
#include "src/cpu/kernel_table.hpp"
#include "stickslip/stickslip.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/tree.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Size {
  int nv, rows;
};

class Tree : public testing::TestWithParam<Size> {
 protected:
  support::Random random_{7};
  support::TreeMechanism mechanism_{GetParam().nv, GetParam().rows, random_};
  Workspace workspace_{1, 0, 1};

  RowMajor formed(int ld) {
    RowMajor W = RowMajor::Constant(GetParam().rows, ld, -7.0);
    delassus(mechanism_.view(), W.data(), ld, workspace_);
    return W;
  }
};

TEST_P(Tree, gives_the_delassus_matrix) {
  const int n = GetParam().rows;
  const RowMajor W = formed(n);
  const Matrix& J = mechanism_.J;
  const Matrix expected = J * mechanism_.M.llt().solve(J.transpose());
  EXPECT_LE((W - expected).cwiseAbs().maxCoeff(), 1e-10 * (1.0 + expected.cwiseAbs().maxCoeff()));
  EXPECT_EQ(W, RowMajor(W.transpose()));
}

TEST_P(Tree, agrees_with_the_dense_kernel_to_rounding) {
  const int n = GetParam().rows, nv = GetParam().nv;
  const RowMajor M = mechanism_.M, J = mechanism_.J;
  RowMajor W(n, n);
  std::int32_t ok = 0;
  const MechanismBatch<double> dense{
      .num_envs = 1, .nv = nv, .max_rows = n, .rows = {}, .M = {M.data(), 0}, .J = {J.data(), 0}};
  delassus(dense, EnvArray<double>{W.data(), 0}, n, &ok, workspace_);
  ASSERT_EQ(ok, 1);
  const RowMajor sparse = formed(n);
  EXPECT_LE((W - sparse).cwiseAbs().maxCoeff(), 1e-11 * (1.0 + W.cwiseAbs().maxCoeff()));
}

TEST_P(Tree, leaves_what_is_beyond_its_rows) {
  const int n = GetParam().rows;
  const RowMajor W = formed(n + 3);
  EXPECT_EQ(W.leftCols(n), formed(n));
  EXPECT_EQ(W.rightCols(3), RowMajor::Constant(n, 3, -7.0));
}

TEST_P(Tree, has_the_same_bits_whatever_the_lanes_do) {
  const int n = GetParam().rows, nv = GetParam().nv;
  support::AlignedBytes memory(kernels::TreeScratch::bytes(nv, n));
  kernels::PermutedGroup<1> group;
  for (const std::uint32_t seed : {1U, 17U, 1000U}) {
    group.seed = seed;
    RowMajor W(n, n);
    kernels::Arena arena(memory.data());
    kernels::form_delassus(group, mechanism_.view(), W.data(), n,
                           kernels::TreeScratch(arena, nv, n));
    EXPECT_EQ(W, formed(n)) << seed;
  }
}

TEST_P(Tree, has_the_same_bits_on_every_instruction_set) {
  const int n = GetParam().rows, nv = GetParam().nv;
  std::vector<RowMajor> found;
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    support::AlignedBytes memory(table->sparse_delassus_bytes(nv, n));
    found.emplace_back(n, n);
    table->sparse_delassus(mechanism_.view(), found.back().data(), n, memory.data());
  }
  for (const RowMajor& W : found) EXPECT_EQ(W, found.front());
}

TEST_P(Tree, factor_solves) {
  const int nv = GetParam().nv;
  const SparseMechanism m = mechanism_.view();
  std::vector<double> factor = mechanism_.M_values, D_inv(std::size_t(nv), 0.0);
  const auto& kernels = kernels::kernel_table();
  ASSERT_TRUE(kernels.factor_ltdl(m.tree, factor.data(), D_inv.data()));
  reference::Vector x = reference::Vector::LinSpaced(nv, -1.0, 2.0);
  const reference::Vector expected = mechanism_.M.llt().solve(x);
  kernels.solve_ltdl(m.tree, factor.data(), D_inv.data(), x.data());
  EXPECT_LE((x - expected).cwiseAbs().maxCoeff(), 1e-10 * (1.0 + expected.cwiseAbs().maxCoeff()));
  factor = mechanism_.M_values;
  factor[std::size_t(m.tree.row_adr[nv / 2] + m.tree.row_nnz[nv / 2] - 1)] = -1e6;
  EXPECT_FALSE(kernels.factor_ltdl(m.tree, factor.data(), D_inv.data()));
}

// The last has more columns than 64 runs of 16.
INSTANTIATE_TEST_SUITE_P(sizes, Tree,
                         testing::Values(Size{1, 1}, Size{6, 3}, Size{14, 9}, Size{35, 47},
                                         Size{85, 16}, Size{40, 1100}),
                         [](const auto& info) {
                           return "nv" + std::to_string(info.param.nv) + "_rows" +
                                  std::to_string(info.param.rows);
                         });

}  // namespace
}  // namespace stickslip
