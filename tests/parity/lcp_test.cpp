// The bits of linear complementarity problems: groups, threads, instruction sets, neighbours, and
// stored numbers (see golden_test.cpp).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/env/lcp_env.hpp"
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "src/cpu/kernel_table.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/lcp_batch.hpp"

namespace stickslip {
namespace {

using support::LcpAnswers;
using support::LcpCase;
using Problems = support::LcpProblems<double>;
using Hashes = std::vector<std::uint64_t>;

constexpr int kEnvs = 40;
constexpr int kRows = 20;

class LcpBits : public testing::TestWithParam<LcpCase> {
 protected:
  static LcpOptions options() {
    LcpOptions o = GetParam().options();
    o.restarts = 2;
    return o;
  }

  Hashes expected(int envs = kEnvs) const {
    const Problems problems(envs, kRows, GetParam().kind);
    return support::solve_problems(problems.view(), options()).hashes();
  }

  /// Every environment by the body itself, on lanes that `run` starts: run(body(group)).
  template <class Real, class Run>
  Hashes on_groups(int envs, Run&& run) const {
    const Problems problems(envs, kRows, GetParam().kind);
    const auto p = problems.view();
    LcpAnswers<double> answers(envs, kRows);
    const int max_m = kernels::standard_rows(kRows, p.lo.data != nullptr);
    using Scratch = kernels::LcpScratch<Real, double>;
    support::AlignedBytes memory(Scratch::bytes(kRows, max_m));
    run([&](const auto& group) {
      const Scratch scratch(kernels::Arena(memory.data()), kRows, max_m);
      for (int env = 0; env < envs; ++env) {
        kernels::solve_lcp_env<Real>(group, p, answers.view(), options(), env, scratch);
      }
    });
    return answers.hashes();
  }

  template <class Real>
  void expect_same_on_groups() const {
    for (std::uint32_t seed : {1U, 2U, 17U, 1000U}) {
      kernels::PermutedGroup<1> group;
      group.seed = seed;
      EXPECT_EQ(on_groups<Real>(kEnvs, [&](auto body) { body(group); }), expected()) << seed;
    }
    const Hashes threads =
        on_groups<Real>(6, [](auto body) { kernels::run_lanes(3, std::move(body)); });
    EXPECT_EQ(threads, expected(6));
  }
};

TEST_P(LcpBits, do_not_depend_on_the_group) {
  if (GetParam().precision == Precision::float64) {
    expect_same_on_groups<double>();
  } else {
    expect_same_on_groups<float>();
  }
}

TEST_P(LcpBits, do_not_depend_on_threads_or_neighbours) {
  const Problems problems(kEnvs, kRows, GetParam().kind);
  const auto p = problems.view();
  LcpAnswers<double> answers(kEnvs, kRows);
  LcpWorkspace workspace({.max_rows = kRows, .boxed = p.lo.data != nullptr, .threads = 3});
  solve_lcp(p, answers.view(), options(), workspace);
  const Hashes all = expected();
  EXPECT_EQ(answers.hashes(), all);
  EXPECT_EQ(expected(7), Hashes(all.begin(), all.begin() + 7));
}

TEST_P(LcpBits, do_not_depend_on_the_instruction_set) {
  const Problems problems(kEnvs, kRows, GetParam().kind);
  const auto p = problems.view();
  int compared = 0;
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    LcpAnswers<double> answers(kEnvs, kRows);
    support::AlignedBytes memory(table->f64.lcp_bytes(kRows, p.lo.data != nullptr));
    table->f64.solve_lcp[int(GetParam().precision)](p, answers.view(), options(), 0, kEnvs,
                                                    memory.data());
    EXPECT_EQ(answers.hashes(), expected()) << table->isa;
    ++compared;
  }
  EXPECT_GE(compared, 1);
}

const std::map<std::string, std::uint64_t>& golden() {
  static const std::map<std::string, std::uint64_t> hashes = {
      {"standard_auto_float64", 0xb4f21a8be6430a},
      {"standard_auto_float32", 0x4452ffa515a85964},
      {"standard_lemke_float64", 0xb4f21a8be6430a},
      {"standard_lemke_float32", 0x4452ffa515a85964},
      {"standard_newton_float64", 0x20fa580078a575f},
      {"standard_newton_float32", 0x6812988ccadc96bc},
      {"mixed_auto_float64", 0x50d9a28965615812},
      {"mixed_auto_float32", 0xbd0a918ed4609b83},
      {"mixed_lemke_float64", 0x50d9a28965615812},
      {"mixed_lemke_float32", 0x13771109bdc0377e},
      {"mixed_newton_float64", 0x2f1b5f825bf8bf8f},
      {"mixed_newton_float32", 0xdac1cd4b7adc12e1},
      {"boxed_auto_float64", 0xa10010bdcb477dea},
      {"boxed_auto_float32", 0x495fd74c8d3f1e48},
      {"boxed_lemke_float64", 0xa10010bdcb477dea},
      {"boxed_lemke_float32", 0x495fd74c8d3f1e48},
      {"boxed_newton_float64", 0x59aeb09f5655e99c},
      {"boxed_newton_float32", 0x569e0e6ba207eb11}};
  return hashes;
}

TEST_P(LcpBits, are_those_written_down) {
  std::uint64_t all = 1469598103934665603ULL;
  for (std::uint64_t one : expected()) support::hash_bytes(all, &one, sizeof one);
  const auto found = golden().find(name(GetParam()));
  const std::uint64_t known = found == golden().end() ? 0 : found->second;
  EXPECT_EQ(all, known) << "{\"" << name(GetParam()) << "\", 0x" << std::hex << all << "},";
}

INSTANTIATE_TEST_SUITE_P(all, LcpBits, testing::ValuesIn(support::lcp_cases()),
                         [](const auto& info) { return name(info.param); });

}  // namespace
}  // namespace stickslip
