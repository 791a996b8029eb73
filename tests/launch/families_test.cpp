// Families of contact problems of every size class in one ragged batch, so that all kernels are
// used: narrow and wide groups, blocks, shared and global memory. STICKSLIP_TEST_COUNT sets the
// number of environments in a batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/cuda/workspace.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/count.hpp"
#include "tests/support/families.hpp"

namespace stickslip {
namespace {

using support::Family;

/// Contacts of environments of 12 to 96 rows. Most are small: the time of an interpreted solve
/// grows with the cube of its rows.
std::vector<int> sizes_of(int envs) {
  constexpr int kContacts[] = {4, 32, 8, 12, 4, 16, 8, 24, 4, 12, 4, 8, 4, 16, 8, 4};
  std::vector<int> sizes;
  for (int i = 0; i < envs; ++i) sizes.push_back(kContacts[std::size_t(i) % std::size(kContacts)]);
  return sizes;
}

/// Scenes as problems, and as mechanisms with the same rows.
template <class Scalar>
struct Scenes {
  std::vector<support::Problem> problems;
  std::vector<Scalar> M, J, v_free, v_next;
  int envs, nv = 0, max_rows = 0;

  Scenes(Family family, const std::vector<int>& sizes) : envs(int(sizes.size())) {
    std::vector<support::Scene> scenes;
    for (int i = 0; i < envs; ++i) {
      const int contacts = sizes[std::size_t(i)];
      scenes.push_back(support::make_scene(family, contacts, i));
      nv = std::max(nv, int(scenes.back().v_free.size()));
      max_rows = std::max(max_rows, 3 * contacts);
    }
    M.assign(std::size_t(envs * nv * nv), Scalar(0));
    J.assign(std::size_t(envs * max_rows * nv), Scalar(0));
    v_free.assign(std::size_t(envs * nv), Scalar(0));
    v_next = v_free;
    for (int env = 0; env < envs; ++env) place(scenes[std::size_t(env)], env);
  }
  MechanismStep<Scalar> step() {
    MechanismStep<Scalar> s;
    s.mechanism.num_envs = envs;
    s.mechanism.max_rows = max_rows;
    s.mechanism.nv = nv;
    s.mechanism.M = {M.data(), nv * nv};
    s.mechanism.J = {J.data(), max_rows * nv};
    s.v_free = {v_free.data(), nv};
    s.v_next = {v_next.data(), nv};
    return s;
  }

 private:
  /// M = diag(m) + s s^T, s = sqrt(m) / 3: dense, positive definite. Degrees of freedom that a
  /// scene does not have are unit masses at rest, which no row involves.
  void place(const support::Scene& scene, int env) {
    problems.push_back(scene.problem);
    const int own = int(scene.v_free.size());
    const auto mass = [&](int i) { return i < own ? 1.0 / scene.inverse_mass[i] : 1.0; };
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j < nv; ++j) {
        const double coupling = std::sqrt(mass(i) * mass(j)) / 9.0;
        M[std::size_t((env * nv + i) * nv + j)] = Scalar((i == j ? mass(i) : 0.0) + coupling);
      }
      if (i < own) v_free[std::size_t(env * nv + i)] = Scalar(scene.v_free[i]);
    }
    for (int i = 0; i < scene.J.rows(); ++i)
      for (int j = 0; j < own; ++j)
        J[std::size_t((env * max_rows + i) * nv + j)] = Scalar(scene.J(i, j));
  }
};

template <class Scalar>
void expect_equal(const support::PlainResults<Scalar>& gpu,
                  const support::PlainResults<Scalar>& cpu, HostProblems<Scalar>& batch) {
  int different = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    const int rows = 3 * batch.counts(env).n_contacts;
    if (gpu.hash(env, rows) == cpu.hash(env, rows)) continue;
    ++different;
    ADD_FAILURE() << "environment " << env << ", " << rows << " rows: iterations "
                  << gpu.iterations[std::size_t(env)] << ", on the CPU "
                  << cpu.iterations[std::size_t(env)];
  }
  EXPECT_EQ(different, 0) << "of " << batch.num_envs();
}

/// Solves the scenes from W and from M and J. Scratch has room for `more_rows` additional rows.
template <class Scalar>
void expect_bits_of_the_cpu(Scenes<Scalar> scenes, SolveOptions options, int more_rows) {
  options.max_sweeps = 50;
  options.max_work = 6e7;  // float does not solve all; small ones go through the whole ladder
  const int envs = scenes.envs;
  auto batch = support::to_batch<Scalar>(scenes.problems);
  const int n = scenes.max_rows, contacts = batch.max_contacts();
  support::PlainResults<Scalar> cpu(envs, n), fused(envs, n);
  solve(batch.view(), cpu.view(), options);
  Workspace host(n, contacts, 1);
  ProblemBatch<Scalar> without = batch.view();  // the mechanism gives W
  without.W = {};
  MechanismStep<Scalar> step = scenes.step();
  solve_mechanism(step, without, fused.view(), options, host);

  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const ProblemBatch<Scalar> problem = memory.copy(batch.view());
  step = memory.copy(step);
  support::DeviceResults<Scalar> given(envs, n, stream), formed(envs, n, stream);
  const int rows = n + more_rows, blocks = contacts + more_rows / 3;
  cuda::Workspace plain(
      {.num_envs = support::large_batch(envs), .max_rows = rows, .max_contacts = blocks});
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = rows, .max_contacts = blocks, .nv = scenes.nv});
  cuda::solve(problem, given.view(), options, plain, stream);
  ProblemBatch<Scalar> bare = problem;
  bare.W = {};
  cuda::solve_mechanism(step, bare, formed.view(), options, workspace, stream);
  expect_equal(given.host(), cpu, batch);
  expect_equal(formed.host(), fused, batch);
  EXPECT_EQ(memory.download(step.v_next, envs), scenes.v_next);
}

using FamilyCase = std::tuple<Family, support::Case>;
class Families : public support::GpuTest<testing::TestWithParam<FamilyCase>> {};

TEST_P(Families, have_the_bits_of_the_cpu) {
  const auto& [family, parts] = GetParam();
  const std::vector<int> sizes = sizes_of(support::test_count(16));
  expect_bits_of_the_cpu(Scenes<double>(family, sizes), parts.options(), 0);
  if (parts.precision != Precision::float32) return;
  expect_bits_of_the_cpu(Scenes<float>(family, sizes), parts.options(), 0);
}

std::string name_of(const testing::TestParamInfo<FamilyCase>& info) {
  const auto& [family, parts] = info.param;
  return std::string(support::name(family)) + "_" + support::name(parts);
}
INSTANTIATE_TEST_SUITE_P(all, Families,
                         testing::Combine(testing::ValuesIn(support::kFamilies),
                                          testing::ValuesIn(support::supported_cases())),
                         name_of);

class Large : public support::GpuTest<testing::TestWithParam<support::Case>> {};

TEST_P(Large, have_the_bits_of_the_cpu_in_global_memory) {
  const std::vector<int> sizes{4, 34};  // the class of more than 96 rows is planned for 600
  expect_bits_of_the_cpu(Scenes<double>(Family::box, sizes), GetParam().options(), 498);
  if (GetParam().precision != Precision::float32) return;
  expect_bits_of_the_cpu(Scenes<float>(Family::box, sizes), GetParam().options(), 498);
}

INSTANTIATE_TEST_SUITE_P(all, Large, testing::ValuesIn(support::supported_cases()),
                         support::case_name);

class Pairs : public support::GpuTest<testing::Test> {};

// 48 rows: in double, two warps take each environment.
TEST_F(Pairs, of_warps_have_the_bits_of_the_cpu) {
  const Scenes<double> scenes(Family::stack, {16, 4, 16});
  SolveOptions mixed;
  mixed.precision = Precision::mixed;
  expect_bits_of_the_cpu(scenes, {}, 0);
  expect_bits_of_the_cpu(scenes, mixed, 0);
}

class LargeBatch : public support::GpuTest<testing::Test> {};

// In a workspace for so many environments eight warps make a block: those of few steps, those of
// many, narrow groups, and some of the last block that have no environment.
TEST_F(LargeBatch, warps_that_begin_together_have_the_bits_of_the_cpu) {
  std::vector<int> sizes(41, 5);
  for (std::size_t i = 0; i < sizes.size(); i += 7) sizes[i] = 8;
  sizes.insert(sizes.end(), 37, 4);
  const Scenes<double> scenes(Family::stack, sizes);
  auto batch = support::to_batch<double>(scenes.problems);
  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const auto problem = memory.copy(batch.view());
  cuda::Workspace workspace({.num_envs = support::large_batch(scenes.envs),
                             .max_rows = scenes.max_rows,
                             .max_contacts = scenes.max_rows / 3});
  for (const Law law : {Law::coulomb, Law::convex}) {
    SolveOptions options;
    options.law = law;
    support::PlainResults<double> cpu(scenes.envs, scenes.max_rows);
    solve(batch.view(), cpu.view(), options);
    support::DeviceResults<double> results(scenes.envs, scenes.max_rows, stream);
    cuda::solve(problem, results.view(), options, workspace, stream);
    expect_equal(results.host(), cpu, batch);
  }
}

class ManyRows : public support::GpuTest<testing::Test> {};

// With one Newton step per stage the other stages fail, and the continuation runs.
TEST_F(ManyRows, have_the_bits_of_the_cpu_in_the_continuation) {
  const Scenes<double> scenes(Family::stackheavy, {28});
  SolveOptions options;
  options.max_newton = 1;
  auto batch = support::to_batch<double>(scenes.problems);
  support::PlainResults<double> cpu(scenes.envs, scenes.max_rows);
  solve(batch.view(), cpu.view(), options);
  for (const int iterations : cpu.iterations) EXPECT_GE(iterations, 20);
  expect_bits_of_the_cpu(scenes, options, 0);
}

}  // namespace
}  // namespace stickslip
