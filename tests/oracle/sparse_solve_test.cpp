// Mechanisms in sparse form solved without W, against the same problems solved with it.
#include "src/cpu/kernel_table.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/pile.hpp"

namespace stickslip {
namespace {

struct Solved {
  reference::Vector u;
  EnvStatus status;
  double residual, judged;
};

/// `kept`: the start, if there is one, and the impulses.
Solved solve(const support::Pile& pile, const SolveOptions& options, bool sparse,
             std::vector<double>* kept = nullptr) {
  std::vector<double> r(std::size_t(pile.rows));
  std::int32_t iterations = 0;
  Solved out{};
  ResultBatch<double> result;
  result.impulse = {r.data(), 0};
  result.status = &out.status;
  result.residual = &out.residual;
  result.iterations = &iterations;
  ProblemBatch<double> problem = pile.problem();
  if (kept != nullptr && !kept->empty()) problem.warm_start = {kept->data(), 0};
  Workspace workspace(pile.rows, pile.counts.n_contacts, 1);
  if (sparse) solve_mechanism(pile.mechanism(), problem, result, options, workspace);
  problem.W = {pile.W.data(), 0};
  if (!sparse) stickslip::solve(problem, result, options, workspace);
  Measures measures;
  measure(problem, EnvArray<const double>{r.data(), 0}, options.law, &measures, workspace);
  out.judged = measures.residual;
  const Eigen::Map<const reference::Vector> impulse(r.data(), pile.rows);
  out.u = pile.W * impulse + Eigen::Map<const reference::Vector>(pile.b.data(), pile.rows);
  if (kept != nullptr) *kept = r;
  return out;
}

class SparseSolve : public testing::TestWithParam<Law> {};

TEST_P(SparseSolve, agrees_with_the_dense_one) {
  SolveOptions options;
  options.law = GetParam();
  const int count = support::test_count(120);
  int dense_solved = 0, sparse_solved = 0, same = 0, large = 0;
  for (int i = 0; i < count; ++i) {
    const support::Pile pile(i, 3 + i % 14, 10 + 2 * (i % 30));
    const Solved dense = solve(pile, options, false), sparse = solve(pile, options, true);
    const double b_max =
        Eigen::Map<const reference::Vector>(pile.b.data(), pile.rows).cwiseAbs().maxCoeff();
    large += pile.rows > 96 ? 1 : 0;
    dense_solved += dense.status == EnvStatus::solved ? 1 : 0;
    sparse_solved += sparse.status == EnvStatus::solved ? 1 : 0;
    if (sparse.status != EnvStatus::solved) continue;
    EXPECT_LE(sparse.residual, tolerance(options, b_max)) << i;
    EXPECT_LE(sparse.judged, 1.05 * tolerance(options, b_max)) << i;
    same += (dense.u - sparse.u).cwiseAbs().maxCoeff() < 1e-4 * (1.0 + b_max) ? 1 : 0;
  }
  EXPECT_GT(large, count / 3);
  EXPECT_GE(sparse_solved, dense_solved - count / 60);
  EXPECT_GE(same, (GetParam() == Law::coulomb ? 9 : 10) * sparse_solved / 10 - 1);
}

// Where an island is large but not sparse, only its start is judged without W.
TEST_P(SparseSolve, starts_at_a_solution_of_what_is_not_sparse) {
  SolveOptions options;
  options.law = GetParam();
  int compared = 0;
  for (int i : {0, 2, 5}) {
    const support::Pile pile(i, 4 + i % 12, 14 + 2 * i);
    std::vector<double> r;
    if (solve(pile, options, true, &r).status != EnvStatus::solved) continue;
    const Solved again = solve(pile, options, true, &r);
    EXPECT_EQ(again.status, EnvStatus::solved) << i;
    EXPECT_GT(again.judged, 0.0) << i;
    EXPECT_NEAR(again.residual, again.judged, 0.1 * again.judged) << i;
    compared += pile.rows > 48 ? 1 : 0;
  }
  EXPECT_GE(compared, 2);
}

INSTANTIATE_TEST_SUITE_P(Laws, SparseSolve,
                         testing::Values(Law::coulomb, Law::convex, Law::frictionless),
                         [](const auto& law) { return std::string(name(law.param)); });

}  // namespace
}  // namespace stickslip
