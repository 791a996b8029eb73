// Environments in packs have the same bits as alone, for every instruction set, with any neighbours
// and layouts.
#include <limits>

#include "kernels/ladder/ladder.hpp"
#include "src/cpu/kernel_table.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/families.hpp"
#include "tests/support/judging.hpp"
#include "tests/support/mixed.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using Hashes = std::vector<std::uint64_t>;

template <class Scalar>
Hashes hashes(const support::PlainResults<Scalar>& results, int envs) {
  Hashes out;
  for (int env = 0; env < envs; ++env) out.push_back(results.hash(env, results.max_rows));
  return out;
}

/// Solves a batch in packs, or one environment after the other.
template <class Scalar>
Hashes run(const kernels::KernelTable& table, const ProblemBatch<Scalar>& p, const SolveOptions& o,
           bool packs) {
  const auto& typed = kernels::typed<Scalar>(table);
  support::AlignedBytes scratch(std::max(typed.solve_bytes(p.max_rows, p.max_contacts, 0, {}),
                                         typed.sweep_bytes(p.max_rows, p.max_contacts)));
  support::PlainResults<Scalar> results(p.num_envs, p.max_rows);
  const auto single = typed.solve[int(o.precision)];
  const kernels::Ladder ladder(o);
  if (packs) {
    typed.sweep[int(o.precision)](p, results.view(), ladder, 0, p.num_envs, scratch.data(), single);
    for (int env = 0; ladder.has_later_rungs && env < p.num_envs; ++env) {
      if (results.view().status[env] != EnvStatus::not_converged) continue;
      single(p, results.view(), ladder, {}, env, env + 1, scratch.data(), kernels::Rungs::later,
             nullptr);
    }
  } else {
    single(p, results.view(), ladder, {}, 0, p.num_envs, scratch.data(), kernels::Rungs::all,
           nullptr);
  }
  return hashes(results, p.num_envs);
}

std::vector<support::Case> cases_of_sweeps() {
  std::vector<support::Case> cases;
  for (const support::Case& c : support::supported_cases()) {
    if (kernels::Ladder(c.options()).variant == kernels::KernelVariant::sweeping)
      cases.push_back(c);
  }
  return cases;
}

template <class Scalar>
void expect_parity(const ProblemBatch<Scalar>& p, const SolveOptions& o) {
  const Hashes expected = run(kernels::kernel_table(), p, o, false);
  for (const auto* table : kernels::kernel_tables())
    EXPECT_EQ(run(*table, p, o, true), expected) << table->isa;
}

/// The two kinds of budget.
std::vector<SolveOptions> budgets(SolveOptions o) {
  std::vector<SolveOptions> all = {o, o, o, o};
  for (int i = 1; i < 4; ++i) {
    all[std::size_t(i)].fixed_sweeps = o.solver == Solver::pgs;
    all[std::size_t(i)].max_sweeps = i == 1 ? 0 : i == 2 ? 7 : 50;
  }
  return all;
}

class Packs : public testing::TestWithParam<support::Case> {
 protected:
  template <class Scalar>
  void expect_parity_of_ragged_batches() {
    const support::DyadicBatch<Scalar> dyadic(support::test_count(300), GetParam().law);
    const auto mixed = support::to_batch<Scalar>(
        support::make_mixed_problems(support::test_count(200), support::kinds_for(GetParam().law)));
    for (const SolveOptions& o : budgets(GetParam().options())) {
      expect_parity(dyadic.view(), o);
      expect_parity(mixed.view(), o);
    }
  }
  bool float_data_too() const { return GetParam().precision == Precision::float32; }
};

TEST_P(Packs, of_ragged_batches) {
  expect_parity_of_ragged_batches<double>();
  if (float_data_too()) expect_parity_of_ragged_batches<float>();
}

TEST_P(Packs, of_equal_layouts) {
  for (const int contacts : {1, 4, 12}) {
    const auto problems = support::make_problems(support::Family::cage, contacts, 37);
    for (const SolveOptions& o : budgets(GetParam().options())) {
      expect_parity(support::to_batch<double>(problems).view(), o);
      if (float_data_too()) expect_parity(support::to_batch<float>(problems).view(), o);
    }
  }
}

TEST_P(Packs, beside_neighbours_that_are_bad) {
  const int envs = 64;
  const auto problems = support::make_problems(support::Family::box, 4, envs);
  const double nan = std::numeric_limits<double>::quiet_NaN(), large = 1e200;
  for (const SolveOptions& o : budgets(GetParam().options())) {
    auto batch = support::to_batch<double>(problems);
    for (int env = 1; env < envs; env += 3) {
      switch (env % 8) {
        case 0:
          batch.b(env)[2] = nan;
          break;
        case 1:
          batch.W(env)[7] = -nan;
          break;
        case 2:
          batch.mu(env)[0] = -1.0;
          break;
        case 3:
          batch.counts(env).n_contacts = 1000;
          break;
        case 4:
          batch.counts(env).n_nonneg = -1;
          break;
        case 5:  // finite, but no longer symmetric when scaled
          batch.W(env)[1] = large;
          break;
        case 6:
          batch.W(env)[13 * 11] = kernels::Limits<double>::infinity;
          break;
        default:
          batch.b(env)[0] = large;
      }
    }
    const Hashes expected = run(kernels::kernel_table(), batch.view(), o, false);
    EXPECT_EQ(run(kernels::kernel_table(), batch.view(), o, true), expected);
    // The other environments must not be affected.
    const Hashes clean =
        run(kernels::kernel_table(), support::to_batch<double>(problems).view(), o, true);
    for (std::size_t env = 0; env < std::size_t(envs); ++env) {
      if (env % 3 != 1) {
        EXPECT_EQ(expected[env], clean[env]) << env;
      }
    }
  }
}

TEST_P(Packs, from_warm_starts) {
  auto batch = support::to_batch<double>(support::make_problems(support::Family::boxrest, 4, 40));
  HostResults<double> results(40, batch.max_rows());
  solve(batch.view(), results.view(), GetParam().options());
  auto warm = batch.view();
  const auto start = results.view().impulse;
  warm.warm_start = {start.data, start.stride};
  for (const SolveOptions& o : budgets(GetParam().options())) expect_parity(warm, o);
  // Zeros of either sign, which a pack must not skip if a single environment does not.
  for (int env = 0; env < 40; env += 2) {
    for (int i = env % 3; i < batch.max_rows(); i += 3) {
      batch.b(env)[i] = -0.0;
      start.data[env * start.stride + i] = -0.0;
    }
  }
  for (const SolveOptions& o : budgets(GetParam().options())) expect_parity(warm, o);
}

// Bounds that round to zeros of either sign in float. A row that moves from zero to such a bound
// has not changed for a single environment, but its neighbours in a pack may have.
TEST_P(Packs, with_bounds_that_round_to_zero) {
  support::MixedOptions kinds = support::kinds_for(GetParam().law);
  kinds.max_rows_per_kind = 3;
  std::vector<reference::Problem> problems;
  for (const auto& problem : support::make_mixed_problems(support::test_count(60), kinds)) {
    for (int copy = 0; copy < 8; ++copy) {
      problems.push_back(problem);
      problems.back().b *= copy % 2 == 0 ? 1.0 + copy : -copy;
    }
  }
  auto batch = support::to_batch<double>(problems);
  for (int env = 0; env < batch.num_envs(); ++env) {
    for (int i = 0; i < batch.counts(env).n_box; ++i) {
      (env % 3 == 0 ? batch.lo(env) : batch.hi(env))[i] = env % 3 == 0 ? -1e-60 : 1e-60;
    }
  }
  for (const SolveOptions& o : budgets(GetParam().options())) expect_parity(batch.view(), o);
}

// A warm start of zeros of either sign is none, also where its neighbours have one.
TEST_P(Packs, beside_warm_starts_of_minus_zero) {
  support::MixedOptions kinds = support::kinds_for(GetParam().law);
  std::vector<reference::Problem> problems;
  for (const auto& problem : support::make_mixed_problems(support::test_count(60), kinds)) {
    for (int copy = 0; copy < 8; ++copy) {
      problems.push_back(problem);
      for (Eigen::Index row = copy; row < problem.b.size(); row += 3) problems.back().b[row] = 0.0;
    }
  }
  auto batch = support::to_batch<double>(problems);
  for (int env = 0; env < batch.num_envs(); ++env) {
    for (int i = 0; i < batch.max_rows(); ++i)
      batch.warm_start(env)[i] = env % 2 == 0 ? -0.0 : 1e-3 * (i % 5 - 2);
  }
  for (const SolveOptions& o : budgets(GetParam().options())) expect_parity(batch.view(), o);
}

// Chunk boundaries are arbitrary: packs are full or not, and contain different environments.
TEST_P(Packs, on_any_number_of_threads) {
  const auto batch = support::to_batch<double>(
      support::make_problems(support::Family::stack, 4, support::test_count(700)));
  const SolveOptions o = GetParam().options();
  const Hashes expected = run(kernels::kernel_table(), batch.view(), o, false);
  for (const int threads : {1, 2, 7}) {
    support::PlainResults<double> results(batch.num_envs(), batch.max_rows());
    Workspace workspace(batch.max_rows(), batch.max_contacts(), threads);
    solve(batch.view(), results.view(), o, workspace);
    EXPECT_EQ(hashes(results, batch.num_envs()), expected) << threads << " threads";
  }
}

TEST(PacksLarge, leave_large_environments_alone) {
  const auto problems = support::make_problems(support::Family::stack, 40, 3);
  SolveOptions o;
  o.solver = Solver::pgs;
  o.max_sweeps = 16;
  expect_parity(support::to_batch<double>(problems).view(), o);
}

TEST(PacksOf, more_layouts_than_wait_at_once) {
  support::MixedOptions kinds;
  kinds.max_rows_per_kind = 4;
  const auto problems = support::make_mixed_problems(300, kinds);
  SolveOptions o;
  o.solver = Solver::pgs;
  o.max_sweeps = 16;
  expect_parity(support::to_batch<double>(problems).view(), o);
}

INSTANTIATE_TEST_SUITE_P(all, Packs, testing::ValuesIn(cases_of_sweeps()), support::case_name);

}  // namespace
}  // namespace stickslip
