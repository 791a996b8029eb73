// Delassus matrices and applied impulses against the oracle's.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/stickslip.hpp"
#include "tests/support/families.hpp"
#include "tests/support/random.hpp"

namespace stickslip {
namespace {

using reference::Matrix;
using reference::Vector;

/// Mechanisms of nv degrees of freedom with 0 ... max_rows rows, in row-major buffers.
template <class Scalar>
struct Mechanisms {
  int count, nv, max_rows;
  std::vector<Matrix> M, J;
  std::vector<Vector> r, v_free;
  std::vector<std::int32_t> rows;
  std::vector<Scalar> M_data, J_data, r_data, v_data;

  Mechanisms(int count_, int nv_, int max_rows_) : count(count_), nv(nv_), max_rows(max_rows_) {
    support::Random random(11);
    M_data.resize(std::size_t(count * nv * nv));
    J_data.resize(std::size_t(count * max_rows * nv));
    r_data.resize(std::size_t(count * max_rows));
    v_data.resize(std::size_t(count * nv));
    const auto draw = [&](int rows_, int cols_, Scalar* to) {
      Matrix out(rows_, cols_);
      for (int i = 0; i < rows_; ++i) {
        for (int j = 0; j < cols_; ++j) out(i, j) = to[i * cols_ + j] = Scalar(random.normal());
      }
      return out;
    };
    for (int e = 0; e < count; ++e) {
      rows.push_back(e % (max_rows + 1));
      J.push_back(draw(rows.back(), nv, &J_data[std::size_t(e * max_rows * nv)]));
      r.push_back(draw(rows.back(), 1, &r_data[std::size_t(e * max_rows)]));
      v_free.push_back(draw(nv, 1, &v_data[std::size_t(e * nv)]));
      Scalar* mass = &M_data[std::size_t(e * nv * nv)];
      const Matrix root = draw(nv, nv, mass);
      M.push_back(root * root.transpose() + Matrix::Identity(nv, nv));
      for (int i = 0; i < nv; ++i) {
        for (int j = 0; j < nv; ++j) M.back()(i, j) = mass[i * nv + j] = Scalar(M.back()(i, j));
      }
    }
  }
  MechanismBatch<Scalar> view() const {
    MechanismBatch<Scalar> m;
    m.num_envs = count;
    m.nv = nv;
    m.max_rows = max_rows;
    m.rows = {rows.data(), 1};
    m.M = {M_data.data(), nv * nv};
    m.J = {J_data.data(), max_rows * nv};
    return m;
  }
};

template <class Scalar>
class Mechanism : public testing::Test {
 protected:
  /// Rounding of factorisation and products, for condition numbers of some tens.
  double tolerance() const { return sizeof(Scalar) == 8 ? 1e-12 : 1e-3; }
};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(Mechanism, Types);

TYPED_TEST(Mechanism, delassus_is_the_oracles) {
  using Scalar = TypeParam;
  const Mechanisms<Scalar> mechanisms(30, 9, 8);
  const int ld = 11;
  std::vector<Scalar> W(std::size_t(30 * 8 * ld), Scalar(-1));
  std::vector<std::int32_t> ok(30, -1);
  Workspace workspace(8, 0, 2);
  delassus(mechanisms.view(), EnvArray<Scalar>{W.data(), 8 * ld}, ld, ok.data(), workspace);
  for (int e = 0; e < 30; ++e) {
    EXPECT_EQ(ok[std::size_t(e)], 1);
    const Matrix expected = reference::delassus(mechanisms.M[e], mechanisms.J[e]);
    for (int i = 0; i < mechanisms.rows[e]; ++i) {
      for (int j = 0; j < mechanisms.rows[e]; ++j) {
        const double w = W[std::size_t(e * 8 * ld + i * ld + j)];
        EXPECT_NEAR(w, expected(i, j), this->tolerance() * (1.0 + std::abs(expected(i, j))));
        EXPECT_EQ(w, W[std::size_t(e * 8 * ld + j * ld + i)]) << "W is exactly symmetric";
      }
    }
  }
}

TYPED_TEST(Mechanism, applied_impulse_is_the_oracles) {
  using Scalar = TypeParam;
  const Mechanisms<Scalar> mechanisms(30, 9, 8);
  std::vector<Scalar> v(std::size_t(30 * 9));
  std::vector<std::int32_t> ok(30, -1);
  Workspace workspace(8, 0, 2);
  apply_impulse(mechanisms.view(), EnvArray<const Scalar>{mechanisms.r_data.data(), 8},
                EnvArray<const Scalar>{mechanisms.v_data.data(), 9}, EnvArray<Scalar>{v.data(), 9},
                ok.data(), workspace);
  for (int e = 0; e < 30; ++e) {
    EXPECT_EQ(ok[std::size_t(e)], 1);
    const Vector expected = reference::apply_impulse(mechanisms.M[e], mechanisms.J[e],
                                                     mechanisms.r[e], mechanisms.v_free[e]);
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR(v[std::size_t(9 * e + i)], expected[i], 10.0 * this->tolerance());
    }
  }
}

TYPED_TEST(Mechanism, a_mass_matrix_that_is_none_is_told_and_harms_nobody) {
  using Scalar = TypeParam;
  Mechanisms<Scalar> mechanisms(3, 4, 3);
  mechanisms.rows.assign(3, 3);
  mechanisms.M_data[16] = Scalar(-1);
  std::vector<Scalar> W(27), clean(27);
  std::vector<std::int32_t> ok(3, -1);
  Workspace workspace(3, 0, 1);
  delassus(mechanisms.view(), EnvArray<Scalar>{W.data(), 9}, 3, ok.data(), workspace);
  EXPECT_EQ(ok, (std::vector<std::int32_t>{1, 0, 1}));
  for (int i = 9; i < 18; ++i) EXPECT_TRUE(std::isnan(W[std::size_t(i)]));
  mechanisms.M_data[16] = mechanisms.M_data[0];
  delassus(mechanisms.view(), EnvArray<Scalar>{clean.data(), 9}, 3, ok.data(), workspace);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(W[std::size_t(i)], clean[std::size_t(i)]);
    EXPECT_EQ(W[std::size_t(18 + i)], clean[std::size_t(18 + i)]);
  }
  mechanisms.M_data[16] = Scalar(std::nan(""));
  delassus(mechanisms.view(), EnvArray<Scalar>{W.data(), 9}, 3, ok.data(), workspace);
  EXPECT_EQ(ok, (std::vector<std::int32_t>{1, 0, 1}));
}

}  // namespace
}  // namespace stickslip
