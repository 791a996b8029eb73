// The methods without W, one by one, against the same methods with it: on the same problem sweeps
// and the steps of a path have the same results to rounding.
#include <gtest/gtest.h>

#include "kernels/ladder/sparse_stage.hpp"
#include "tests/support/count.hpp"
#include "tests/support/env_runner.hpp"
#include "tests/support/pile.hpp"

namespace stickslip {
namespace {

using namespace kernels;
using reference::Vector;

/// The scaled problem of a pile, with W and without, each with a judge.
class Both {
 public:
  Both(const support::Pile& pile, Law law)
      : mechanism(pile.mechanism()),
        batch_(pile.problem()),
        memory_(pile.rows, pile.counts.n_contacts),
        sparse_memory_(MechanismScratch::bytes(mechanism.tree.n, pile.rows, batch_.max_contacts)),
        scratch(memory_.scratch()),
        impulse(std::size_t(pile.rows)),
        diagonal(pile.W.diagonal()) {
    memory_.poison();
    sparse_memory_.fill(0xff);
    scratch = memory_.scratch();
    options.law = law;
    batch_.W = {pile.W.data(), 0};
    int rows_needed = 0;
    open_problem(g, batch_, 0, scratch.view, p, rows_needed);
    check_values(g, p, true);
    enter_circular_coordinates(g, p, facts_of(law).is_frictionless, scratch.view);
    open_judge(g, p, options, scratch.judge_memory, impulse.data(), nullptr, scratch.judge);
    judge_start(g, p, MatrixVelocity<double>{p}, scratch.judge, false);
    scale_and_select(g, p, law, scratch.scaled);
    measure_crowds(g, scratch.scaled);
    thin = p;  // the diagonal of W alone
    thin.W = diagonal.data();
    thin.ld_W = 0;
    sparse = &MechanismScratch::make(g, sparse_memory_.data(), mechanism.tree.n, pile.rows,
                                     batch_.max_contacts)
                  .scaled;
    sparse->m = mechanism;
    measure_spread(g, mechanism, sparse->off, sparse->spread);
    is_sparse = scale_sparse(g, thin, law, kernels::kSparse, *sparse);
  }
  Scaled<double>& dense() { return scratch.scaled; }
  Vector random(support::Random& from, double size) const {
    Vector x(dense_ld());
    for (int i = 0; i < x.size(); ++i) x[i] = i < p.n ? size * from.normal() : 0.0;
    return x;
  }
  int dense_ld() const { return scratch.scaled.ld; }

  HostGroup g;
  SparseMechanism mechanism;
  SolveOptions options;

 private:
  ProblemBatch<double> batch_;
  support::EnvMemory<double, double, double> memory_;
  support::AlignedBytes sparse_memory_;

 public:
  support::EnvMemory<double, double, double>::Scratch scratch;
  std::vector<double> impulse;
  Vector diagonal;
  EnvProblem<double> p{}, thin{};
  SparseScaled* sparse = nullptr;
  bool is_sparse = false;
};

double difference(const Vector& a, const double* b, int n) {
  const Eigen::Map<const Vector> other(b, n);
  return (a.head(n) - other).lpNorm<Eigen::Infinity>() /
         (1.0 + a.head(n).lpNorm<Eigen::Infinity>());
}

class SparseMethods : public testing::TestWithParam<int> {
 protected:
  support::Pile pile{GetParam(), 4 + GetParam() % 12, 14 + 2 * GetParam()};
  Both both{pile, Law::coulomb};
  support::Random random{std::uint64_t(GetParam())};

  void SetUp() override { ASSERT_TRUE(both.is_sparse); }
};

TEST_P(SparseMethods, multiply_as_W_does) {
  const int n = both.p.n;
  Vector z = both.random(random, 1.0), u(both.dense_ld()), other(both.dense_ld());
  set_compliance(both.g, both.dense(), true);
  for (const double more : {0.0, 0.3}) {
    for (int i = 0; i < n; ++i) {
      add_compliance(both.dense(), i, more);
      add_compliance(*both.sparse, i, more);
      EXPECT_NEAR(both.dense().at(i, i), both.sparse->at(i, i), 1e-12);
    }
    scaled_velocity(both.g, both.dense(), z.data(), u.data());
    scaled_velocity(both.g, *both.sparse, z.data(), other.data());
    EXPECT_LT(difference(u, other.data(), n), 1e-11);
  }
}

/// A visit of an item with W: its impulse, with the others fixed.
void visit(const Both& both, const Scaled<double>& s, int item, double* inverse, Vector& z) {
  const int a = first_row(s, item), end = end_row(s, item);
  Vector c(both.dense_ld());
  scaled_velocity(both.g, s, z.data(), c.data());
  for (int i = a; i < end; ++i)
    for (int j = a; j < end; ++j) c[i] -= s.at(i, j) * z[j];
  if (item < s.scalars) {
    z[a] = std::clamp(z[a] - s.rho[a] * (s.at(a, a) * z[a] + c[a]), s.lo[a], s.hi[a]);
    return;
  }
  with_dim(end - a, [&](auto dim) {
    LocalBlock<Scaled<double>, dim()> block(s, item - s.scalars, a, inverse, z.data(), c.data());
    block.solve(s.law);
    for (int i = a; i < end; ++i) z[i] = block.x[i - a];
  });
}

TEST_P(SparseMethods, sweep_as_W_does) {
  Arena arena = both.scratch.stage;
  const Scaled<double>& s = both.dense();
  const SparseScaled& sparse = *both.sparse;
  SparsePgs pgs(arena, sparse);
  std::vector<double> inverse(6 * std::size_t(both.p.n));
  prepare_blocks(both.g, s, inverse.data());
  Vector z = both.random(random, 0.1);
  for (int i = 0; i < both.dense_ld(); ++i) pgs.z[i] = z[i];
  pgs.refresh(both.g, sparse);
  pgs.prepare(both.g, sparse);
  for (int sweep = 0; sweep < 6; ++sweep) {
    const bool backwards = sweep % 2 == 1;
    for (int i = 0; i < sparse.items(); ++i) {
      const int at = backwards ? sparse.items() - 1 - i : i;
      visit(both, s, sparse.paths.by_color[at], inverse.data(), z);
    }
    EXPECT_TRUE(pgs.sweep(both.g, sparse, backwards));
    EXPECT_LT(difference(z, pgs.z, both.p.n), 1e-8) << sweep;
  }
}

// Those of one color may be visited at once.
TEST_P(SparseMethods, have_colors_of_items_that_share_nothing) {
  const ItemPaths& w = both.sparse->paths;
  std::vector<int> seen(std::size_t(both.sparse->items()), 0);
  for (int color = 0; color < *w.colors; ++color) {
    std::vector<int> users(std::size_t(both.mechanism.tree.n), 0);
    EXPECT_LT(w.color[color], w.color[color + 1]);
    for (int i = w.color[color]; i < w.color[color + 1]; ++i) {
      const int item = w.by_color[i];
      ++seen[std::size_t(item)];
      for (int c = 0; c < w.length[item]; ++c) EXPECT_EQ(users[std::size_t(w.path(item)[c])]++, 0);
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), both.sparse->items());
  EXPECT_LT(*w.colors, both.sparse->items());
}

// W + D at a point inside all cones, with the D of the interior point and that of the continuation.
TEST_P(SparseMethods, step_along_paths_as_W_does) {
  const int n = both.p.n;
  Arena arena = both.scratch.stage;
  LinearSystem<double> system(arena, n);
  const CentralPath<double> w(arena, n, both.p.n_contacts, system);
  const PathPoint<double> other(arena, n);
  const std::vector<double> start(std::size_t(n), 0.1);
  for (const double distance : {1.0, 1e-2, 1e-5}) {
    open_path(both.g, both.dense(), w, start.data(), distance);
    for (const bool continues : {false, true}) {
      const auto factor = [&](const auto& s) {
        return continues ? factor_equations(both.g, s, w) : factor_path(both.g, s, w);
      };
      const Vector right = both.random(random, 1.0);
      for (int i = 0; i < n; ++i) w.right[i] = right[i];
      ASSERT_TRUE(factor(both.dense()));
      ASSERT_TRUE(solve_path_matrix(both.g, both.dense(), w, 1e-12, w.step));
      const int sign = path_sign(both.g, both.dense(), w);
      const Eigen::Map<const Vector> z(w.step.z, n), u(w.step.u, n);
      const Vector dz = z, du = u;
      for (int i = 0; i < n; ++i) w.right[i] = right[i];
      ASSERT_TRUE(factor(*both.sparse));
      ASSERT_TRUE(solve_path_matrix(both.g, *both.sparse, w, 1e-12, other));
      EXPECT_EQ(path_sign(both.g, *both.sparse, w), sign);
      EXPECT_LT(difference(dz, other.z, n), 1e-6) << distance;
      EXPECT_LT(difference(du, other.u, n), 1e-6) << distance;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Piles, SparseMethods, testing::Range(6, 30));

// The number of the piles that a path from rest leads to a solution of. The central path may turn
// back, the continuation goes on.
int solved_by(Method method, int& restored) {
  int count = 0;
  for (int index = 6; index < 30; ++index) {
    const support::Pile pile(index, 4 + index % 12, 14 + 2 * index);
    Both both(pile, Law::coulomb);
    Arena arena = both.scratch.stage;
    Judge<double>& judge = both.scratch.judge;
    open_judge(both.g, both.thin, both.options, both.scratch.judge_memory, both.impulse.data(),
               nullptr, judge);
    judge_start(both.g, both.thin, velocity_of(both.thin, *both.sparse), judge, false);
    const Stage stage{.method = method, .budget = 500, .factor = 1e-2, .start = Start::zero};
    place_start<true>(both.g, both.thin, stage, judge);
    run_interior_stage(both.g, both.thin, stage, *both.sparse, arena, judge);
    JudgeMemory<double>& memory = both.scratch.judge_memory;
    const double judged = residual(both.g, both.p, Law::coulomb, MatrixVelocity<double>{both.p},
                                   both.impulse.data(), memory.u, memory.e);
    EXPECT_LE(judged, 1.05 * std::max(judge.best_residual, judge.at->tolerance)) << index;
    count += judge.solved() ? 1 : 0;
    const int last = both.p.n - 1;
    restored += both.sparse->compliance[last] == both.sparse->R[last] ? 1 : 0;
  }
  return count;
}

TEST(SparsePaths, lead_to_solutions) {
  int restored = 0;
  EXPECT_GE(solved_by(Method::interior, restored), 23);
  EXPECT_EQ(solved_by(Method::continuation, restored), 24);
  EXPECT_EQ(restored, 48) << "the problem is restored";
}

}  // namespace
}  // namespace stickslip
