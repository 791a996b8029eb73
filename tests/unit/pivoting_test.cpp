// The choice of pivots where numbers are so large that the slack of the ratio test vanishes in
// them: what leaves is a variable that blocks, and free rows stay where elimination put them.
#include <gtest/gtest.h>

#include "kernels/env/lcp_env.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/solver/lemke/path.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

namespace k = kernels;
using support::Random;

const k::HostGroup g;

template <class Real>
class Pivoting : public testing::Test {
 protected:
  static constexpr bool kWide = sizeof(Real) == 8;
  static constexpr k::RatioTest<Real> kTest{Real(kWide ? 1e-9 : 1e-5), Real(kWide ? 1e-10 : 1e-6)};

  /// Of every size up to that whose slack has vanished.
  static Real draw_room(Random& random) {
    return Real(support::power_of_ten(random.uniform(0.0, kWide ? 14.0 : 6.0)));
  }
};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(Pivoting, Reals);

// Row 0 is of a free variable, row 1 the only one that blocks, row 2 that of z0.
TYPED_TEST(Pivoting, of_a_dictionary_takes_a_row_that_blocks) {
  using Real = TypeParam;
  constexpr int m = 3;
  k::Arena count(nullptr);
  k::Dictionary<Real>(count, m);
  support::AlignedBytes memory(count.used());
  k::Arena arena(memory.data());
  k::Dictionary<Real> d(arena, m);
  int free[m] = {1, 0, 0};
  d.free = free;
  for (int i = 0; i < m; ++i) d.place[d.basic[i] = i == 2 ? d.artificial() : i] = i;
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    d.constant()[1] = this->draw_room(random);
    d.col(0)[1] = -Real(random.uniform(0.01, 1.0));
    d.constant()[0] = d.constant()[2] = d.col(0)[0] = d.col(0)[2] = Real(0);
    ASSERT_EQ(k::blocking_row(g, d, 0, k::LemkeOptions<Real>{0, 100, this->kTest}), 1) << i;
  }
}

TYPED_TEST(Pivoting, of_a_tableau_takes_an_item_that_blocks) {
  using Real = TypeParam;
  k::Arena count(nullptr);
  k::PyramidTableau<Real>(count, 1);
  support::AlignedBytes memory(count.used());
  k::Arena arena(memory.data());
  k::PyramidTableau<Real> t(arena, 1);
  t.p = 1;
  t.n = 3;
  t.m = 4;
  t.ld = t.leading(1);
  t.place[t.z0()] = 2;
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    t.room[3] = this->draw_room(random);
    t.slope[3] = Real(random.uniform(0.01, 1.0));
    t.key[3] = this->kTest.inverse_step(t.slope[3], t.room[3]);
    ASSERT_EQ(k::find_leaving(g, t, this->kTest, t.key[3]), 3) << i;
  }
}

// A free row whose own entry is too small, and a pair with it whose determinant vanishes.
TYPED_TEST(Pivoting, through_a_pair_that_cancels_is_undone) {
  using Real = TypeParam;
  constexpr int m = 2;
  constexpr double tol = TestFixture::kWide ? 0x1p-33 : 0x1p-20;
  k::Arena count(nullptr);
  k::StandardLcp(count, m, m);
  k::Dictionary<Real>(count, m);
  support::AlignedBytes memory(count.used());
  k::Arena arena(memory.data());
  k::StandardLcp s(arena, m, m);
  k::Dictionary<Real> d(arena, m);
  s.m = m;
  s.free[0] = 1;
  s.col(0)[0] = tol / 8;
  s.col(1)[0] = tol * 16;
  s.col(0)[1] = 1.0 / 128;
  s.col(1)[1] = 1.0;
  k::open_dictionary(g, s, d);
  EXPECT_EQ(k::eliminate_free_rows(g, d, Real(tol)), 0);
  for (int i = 0; i < m; ++i) {
    EXPECT_EQ(d.basic[i], i);
    EXPECT_EQ(d.nonbasic[i], m + i);
    for (int j = 0; j < m; ++j) EXPECT_NEAR(d.at(i, j), s.col(j)[i], tol / 64);
  }
}

// Other rows that nearly depend on each other, with q outside of their range: constants grow along
// the path.
TYPED_TEST(Pivoting, leaves_free_rows_where_elimination_put_them) {
  using Real = TypeParam;
  constexpr int envs = 100, rows = 20;
  support::LcpProblems<double> problems(envs, rows, support::LcpKind::mixed);
  using Scratch = k::LcpScratch<Real, double>;
  support::AlignedBytes memory(Scratch::bytes(rows, rows)), other(Scratch::bytes(rows, rows));
  for (int env = 0; env < envs; ++env) {
    Random random{std::uint64_t(env)};
    for (int i = problems.n_free(env); i < problems.rows(env); ++i) {
      problems.M(env, i, i) += this->kWide ? 1e-8 : 1e-4;
      problems.q(env, i) += random.uniform(-2.0, 1.0);
    }
    k::LcpProblem<double> p{};
    ASSERT_EQ(k::open_lcp(g, problems.view(), LcpOptions{}, env, p), EnvStatus::solved);
    Scratch scratch(k::Arena(memory.data()), rows, rows);
    k::standardise(g, p, scratch.standard);
    for (int attempt = 0; attempt < 8; ++attempt) {
      const Real slack = k::dictionary_slack<Real>(attempt);
      const auto start = [&](k::Arena arena) {
        return k::LemkeScratch<Real>(arena, scratch.standard.m, nullptr).dictionary;
      };
      auto begin = start(k::Arena(other.data())), end = start(scratch.attempt);
      k::open_dictionary(g, scratch.standard, begin);
      const int eliminated = k::eliminate_free_rows(g, begin, slack);
      int pivots = 0;
      const k::LemkeOptions<Real> options{attempt, 400, {this->kTest.least, slack}};
      k::follow_pivots(g, scratch.standard, end, options, pivots);
      for (int i = 0; eliminated >= 0 && i < p.n_free; ++i) {
        for (const int variable : {i, end.m + i}) {
          ASSERT_EQ(begin.place[variable] >= 0, end.place[variable] >= 0)
              << "environment " << env << ", attempt " << attempt << ", row " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stickslip
