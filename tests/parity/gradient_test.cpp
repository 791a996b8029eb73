// Derivatives on every group: lanes in any order, and lanes that are real threads, in memory full
// of NaN. All give the bits of the library's own backend.
#include <gtest/gtest.h>

#include "kernels/delassus/matrix_source.hpp"
#include "kernels/env/gradient_env.hpp"
#include "kernels/group/permuted_group.hpp"
#include "kernels/group/thread_group.hpp"
#include "stickslip/stickslip.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/dyadic_mechanism.hpp"
#include "tests/support/gradient_arrays.hpp"
#include "tests/support/redundant.hpp"
#include "tests/support/results.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 5;
using Mechanisms = support::DyadicMechanisms<double>;
using support::Written;

/// Mechanisms, their solution and a loss.
struct Solved {
  SolveOptions options;
  Mechanisms mechanisms;
  support::PlainResults<double> results{kEnvs, Mechanisms::kMaxRows};
  support::GradientSizes sizes{kEnvs, Mechanisms::kMaxRows, Mechanisms::kDofs};
  std::vector<double> given = support::random_numbers<double>(sizes.numbers());
  std::vector<double> W;

  explicit Solved(Law law) : mechanisms(kEnvs, law) {
    options.law = law;
    Workspace workspace(Mechanisms::kMaxRows, Mechanisms::kMaxContacts, 1);
    solve_mechanism(mechanisms.step(), mechanisms.problem(), results.view(), options, workspace);
    W.resize(std::size_t(kEnvs * Mechanisms::kMaxRows * Mechanisms::kMaxRows));
    std::vector<std::int32_t> ok(kEnvs);
    delassus(mechanisms.step().mechanism,
             EnvArray<double>{W.data(), Mechanisms::kMaxRows * Mechanisms::kMaxRows},
             Mechanisms::kMaxRows, ok.data(), workspace);
  }
  SolutionBatch<double> solution() const {
    return {{results.impulse.data(), results.max_rows}, results.status.data()};
  }
  ProblemBatch<double> with_W() const {
    ProblemBatch<double> p = mechanisms.problem();
    p.W = {W.data(), Mechanisms::kMaxRows * Mechanisms::kMaxRows};
    return p;
  }
};

class Scratch {
 public:
  Scratch()
      : bytes_(kernels::GradientEnv<double>::bytes(Mechanisms::kMaxRows, Mechanisms::kMaxContacts,
                                                   Mechanisms::kDofs)) {
    bytes_.fill(0xff);
  }
  kernels::GradientEnv<double> place(int nv) {
    return kernels::GradientEnv<double>(kernels::Arena(bytes_.data()), Mechanisms::kMaxRows,
                                        Mechanisms::kMaxContacts, nv);
  }

 private:
  support::AlignedBytes bytes_;
};

template <class Group>
void step_on(const Group& g, Solved& s, Written<double>& out, Scratch& memory) {
  for (int env = 0; env < kEnvs; ++env) {
    auto place = memory.place(Mechanisms::kDofs);
    kernels::vjp_env(g, s.mechanisms.problem(), s.mechanisms.step(), s.solution(),
                     s.sizes.loss(s.given.data()),
                     s.sizes.gradient(out.numbers.data(), out.reals.data(), out.status.data()),
                     s.options, env, place);
  }
}

template <class Group>
void tangent_on(const Group& g, Solved& s, Written<double>& out, Scratch& memory) {
  for (int env = 0; env < kEnvs; ++env) {
    auto place = memory.place(kernels::kGivenMatrix);
    kernels::jvp_env(
        g, s.with_W(), s.solution(), s.sizes.change(s.given.data()),
        s.sizes.solution_change(out.numbers.data(), out.reals.data(), out.status.data()), s.options,
        env, place);
  }
}

class GradientGroups : public testing::TestWithParam<Law> {};

TEST_P(GradientGroups, give_the_bits_of_the_cpu) {
  Solved s(GetParam());
  Workspace workspace(Mechanisms::kMaxRows, Mechanisms::kMaxContacts, 1);
  Written<double> vjp(s.sizes), jvp(s.sizes);
  step_vjp(s.mechanisms.step(), s.mechanisms.problem(), s.solution(), s.sizes.loss(s.given.data()),
           s.sizes.gradient(vjp.numbers.data(), vjp.reals.data(), vjp.status.data()), s.options,
           workspace);
  solve_jvp(s.with_W(), s.solution(), s.sizes.change(s.given.data()),
            s.sizes.solution_change(jvp.numbers.data(), jvp.reals.data(), jvp.status.data()),
            s.options, workspace);
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    kernels::PermutedGroup<1> group;
    group.seed = seed;
    Written<double> backward(s.sizes), forward(s.sizes);
    Scratch memory;
    step_on(group, s, backward, memory);
    tangent_on(group, s, forward, memory);
    EXPECT_EQ(backward, vjp) << seed;
    EXPECT_EQ(forward, jvp) << seed;
  }
  for (const int lanes : {3, 8}) {
    Written<double> backward(s.sizes), forward(s.sizes);
    Scratch memory;
    kernels::run_lanes(lanes, [&](const kernels::ThreadGroup& group) {
      step_on(group, s, backward, memory);
      tangent_on(group, s, forward, memory);
    });
    EXPECT_EQ(backward, vjp) << lanes;
    EXPECT_EQ(forward, jvp) << lanes;
  }
}

/// jvp of redundant contacts, whose W changes with the mass and with the friction of a body.
struct Chosen {
  SolveOptions options;
  HostProblems<double> batch;
  HostResults<double> results;
  reference::Matrix W;
  reference::Vector mu, impulse, velocity;
  GradientStatus status{};
  double kink_distance = 0.0, inconsistency = 0.0;

  Chosen(Law law, reference::Problem (*family)(support::Changing, double))
      : options{.law = law, .atol = 1e-12, .rtol = 1e-12},
        batch(support::to_batch<double>(std::vector{family(support::Changing::mass, 0.0)})),
        results(support::solve_batch(batch, options)),
        W(family(support::Changing::mass, 1.0).W - family(support::Changing::mass, 0.0).W),
        mu(reference::Vector::Constant(2 * batch.max_contacts(), 0.1)),
        impulse(reference::Vector::Zero(batch.max_rows())),
        velocity(impulse) {}
  SolutionBatch<double> solution() {
    return {{results.impulse(0), batch.max_rows()}, results.view().status};
  }
  ChangeBatch<double> change() const {
    ChangeBatch<double> c;
    c.W = {W.data(), 0};
    c.mu = {mu.data(), 0};
    return c;
  }
  SolutionChange<double> out() {
    return {{impulse.data(), 0}, {velocity.data(), 0}, {&status, &kink_distance, &inconsistency}};
  }
  support::AlignedBytes memory() const {
    support::AlignedBytes bytes(kernels::GradientEnv<double>::bytes(
        batch.max_rows(), batch.max_contacts(), kernels::kGivenMatrix));
    bytes.fill(0xff);
    return bytes;
  }
  template <class Group>
  void run(const Group& g, support::AlignedBytes& bytes) {
    kernels::GradientEnv<double> place(kernels::Arena(bytes.data()), batch.max_rows(),
                                       batch.max_contacts(), kernels::kGivenMatrix);
    kernels::jvp_env(g, batch.view(), solution(), change(), out(), options, 0, place);
  }
  auto numbers() const { return std::tie(impulse, velocity, status, kink_distance, inconsistency); }
};

TEST_P(GradientGroups, give_the_bits_of_the_cpu_for_redundant_contacts) {
  for (const auto family : {support::gripper, support::groove}) {
    Chosen cpu(GetParam(), family), permuted(GetParam(), family), lanes(GetParam(), family);
    Workspace workspace(cpu.batch.max_rows(), cpu.batch.max_contacts(), 1);
    solve_jvp(cpu.batch.view(), cpu.solution(), cpu.change(), cpu.out(), cpu.options, workspace);
    EXPECT_NE(cpu.status, GradientStatus::unsolved);
    EXPECT_GT(cpu.impulse.lpNorm<1>(), 0.0);
    kernels::PermutedGroup<1> group;
    group.seed = 1;
    auto bytes = permuted.memory();
    permuted.run(group, bytes);
    EXPECT_EQ(permuted.numbers(), cpu.numbers());
    for (const int count : {3, 8}) {
      bytes.fill(0xff);
      kernels::run_lanes(count, [&](const kernels::ThreadGroup& g) { lanes.run(g, bytes); });
      EXPECT_EQ(lanes.numbers(), cpu.numbers()) << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, GradientGroups,
                         testing::Values(Law::coulomb, Law::convex, Law::box, Law::frictionless,
                                         Law::pyramid),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
