// Large environments of an engine's mechanisms, which begin without W: the same bits on any group.
#include "kernels/env/sparse_env.hpp"
#include "kernels/group/permuted_group.hpp"
#include "stickslip/info.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/engine_piles.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

using support::EnginePiles;
using support::PlainResults;

class SparseEnv : public testing::TestWithParam<Law> {
 protected:
  void SetUp() override { options_.law = GetParam(); }

  std::vector<std::uint64_t> hashes(const PlainResults<double>& results) {
    std::vector<std::uint64_t> all;
    for (int env = 0; env < piles_.envs; ++env) all.push_back(results.hash(env, piles_.rows(env)));
    return all;
  }
  std::vector<std::uint64_t> on_cpu() {
    PlainResults<double> results(piles_.envs, piles_.max_rows);
    Workspace workspace(piles_.max_rows, piles_.max_contacts, 1);
    solve_mechanism(piles_.step(), piles_.view(), results.view(), options_, workspace);
    return hashes(results);
  }
  template <class G>
  std::vector<std::uint64_t> on_group(const G& g) {
    const EngineStep step = piles_.step();
    const kernels::Ladder ladder(options_);
    kernels::MatrixSource<double> source;
    source.engine = step.mechanism;
    source.step.v_free = step.v_free;
    source.step.v_next = step.v_next;
    support::AlignedBytes memory(
        kernels::SparseEnvScratch::bytes(piles_.nv, piles_.max_rows, piles_.max_contacts));
    memory.fill(0xff);
    PlainResults<double> results(piles_.envs, piles_.max_rows);
    for (int env = 0; env < piles_.envs; ++env) {
      auto& scratch = kernels::SparseEnvScratch::make(g, kernels::Arena(memory.data()), piles_.nv,
                                                      piles_.max_rows, piles_.max_contacts);
      kernels::solve_sparse_env(g, source, piles_.view(), results.view(), ladder, env, scratch);
    }
    return hashes(results);
  }

  SolveOptions options_;
  EnginePiles piles_{{56, 61}, 24};
};

// Lanes in any order, that handle one entry of a block each, or four.
TEST_P(SparseEnv, has_the_bits_of_the_cpu_on_any_group) {
  const auto expected = on_cpu();
  const std::vector<double> v_next = piles_.v_next;
  for (const std::uint32_t seed : {1U, 7U}) {
    kernels::PermutedGroup<1> one;
    kernels::PermutedGroup<4> four;
    one.seed = four.seed = seed;
    EXPECT_EQ(on_group(one), expected) << seed;
    EXPECT_EQ(on_group(four), expected) << seed;
    EXPECT_EQ(piles_.v_next, v_next) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, SparseEnv,
                         testing::Values(Law::coulomb, Law::convex, Law::frictionless),
                         [](const auto& law) { return std::string(name(law.param)); });

}  // namespace
}  // namespace stickslip
