// Every instruction set and the GPU give the bits of the CPU backend in use.
#include "src/cpu/kernel_table.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/archipelago.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

template <class Scalar>
using Batch = support::DyadicBatch<Scalar>;
template <class Scalar>
using Results = support::PlainResults<Scalar>;

template <class Scalar>
std::vector<std::uint64_t> hashes(const Batch<Scalar>& batch, const Results<Scalar>& results,
                                  int envs) {
  std::vector<std::uint64_t> out;
  for (int env = 0; env < envs; ++env) out.push_back(results.hash(env, batch.rows(env)));
  return out;
}

template <class Scalar, class Solve>
std::vector<std::uint64_t> run(const Batch<Scalar>& batch, int envs, Solve&& solve_batch) {
  Results<Scalar> results(envs, batch.kMaxRows);
  solve_batch(batch.view(), results.view());
  return hashes(batch, results, envs);
}

class Backends : public testing::TestWithParam<support::Case> {};

template <class Scalar>
void expect_isa_parity(const SolveOptions& options, int envs) {
  const Batch<Scalar> batch(envs, options.law);
  const auto expected =
      run(batch, envs, [&](const auto& p, const auto& r) { solve(p, r, options); });
  int compared = 0;
  for (const kernels::KernelTable* table : kernels::kernel_tables()) {
    const auto& typed = kernels::typed<Scalar>(*table);
    const int directions = options.law == Law::pyramid ? options.directions : 0;
    support::AlignedBytes scratch(
        typed.solve_bytes(batch.kMaxRows, batch.kMaxContacts, directions, {}));
    const auto got = run(batch, envs, [&](const auto& p, const auto& r) {
      typed.solve[int(options.precision)](p, r, options, {}, 0, envs, scratch.data(),
                                          kernels::Rungs::all, nullptr);
    });
    EXPECT_EQ(got, expected) << table->isa;
    ++compared;
  }
  EXPECT_GE(compared, 1);
}

TEST_P(Backends, instruction_sets_give_the_same_bits) {
  if (kernels::kernel_tables().size() < 2) {
    GTEST_SKIP() << "this processor or build has one instruction set alone";
  }
  expect_isa_parity<double>(GetParam().options(), support::test_count(200));
  if (GetParam().precision == Precision::float32) {
    expect_isa_parity<float>(GetParam().options(), support::test_count(200));
  }
}

template <class Scalar>
void expect_gpu_parity(const SolveOptions& options, int envs) {
  const Batch<Scalar> batch(envs, options.law);
  const auto cpu = run(batch, envs, [&](const auto& p, const auto& r) { solve(p, r, options); });
  const auto gpu =
      run(batch, envs, [&](const auto& p, const auto& r) { cuda::solve_host(p, r, options); });
  int different = 0;
  for (int env = 0; env < envs; ++env) {
    different += cpu[std::size_t(env)] != gpu[std::size_t(env)] ? 1 : 0;
  }
  EXPECT_EQ(different, 0) << "of " << envs;
}

/// Environments that fall apart, of more rows than are solved undivided.
TEST(Islands, gpu_gives_the_bits_of_the_cpu) {
  if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  for (const Precision precision : {Precision::float64, Precision::mixed}) {
    std::vector<reference::Problem> problems;
    for (int index = 0; index < 2; ++index)
      problems.push_back(support::make_archipelago(index, Law::coulomb).whole);
    const auto batch = support::to_batch<double>(problems);
    Results<double> cpu(2, batch.max_rows()), gpu(2, batch.max_rows());
    SolveOptions options;
    options.precision = precision;
    options.max_newton = 6;  // some islands need the other rungs
    solve(batch.view(), cpu.view(), options);
    cuda::solve_host(batch.view(), gpu.view(), options);
    for (int env = 0; env < 2; ++env) {
      const int rows = reference::rows(problems[std::size_t(env)]);
      EXPECT_EQ(gpu.hash(env, rows), cpu.hash(env, rows)) << env;
    }
  }
}

TEST_P(Backends, gpu_gives_the_bits_of_the_cpu) {
  if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  expect_gpu_parity<double>(GetParam().options(), support::test_count(1000));
  if (GetParam().precision == Precision::float32) {
    expect_gpu_parity<float>(GetParam().options(), support::test_count(1000));
  }
}

INSTANTIATE_TEST_SUITE_P(all, Backends, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

}  // namespace
}  // namespace stickslip
