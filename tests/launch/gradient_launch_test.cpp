// Derivatives have the same bits for any number of threads, in one call with the solve or after it,
// and, as in launch_test.cpp, on a device.
#include <cmath>
#include <limits>

#include "stickslip/stickslip.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/dyadic_mechanism.hpp"
#include "tests/support/gradient_arrays.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

using support::GradientSizes;
using support::PlainResults;
using support::Written;

constexpr int kEnvs = 24;

struct Case {
  Law law;
  int directions = 4;
};

void PrintTo(const Case& c, std::ostream* out) { *out << name(c.law) << c.directions; }

/// Problems of both forms, solved, and a loss that is not finite in environment 3.
template <class Scalar>
struct Solved {
  SolveOptions options;
  support::DyadicBatch<Scalar> batch;
  support::DyadicMechanisms<Scalar> mechanisms;
  PlainResults<Scalar> results, step_results;
  GradientSizes sizes, step_sizes;
  std::vector<Scalar> given, step_given;

  explicit Solved(const Case& c)
      : batch(kEnvs, c.law),
        mechanisms(kEnvs, c.law),
        results(kEnvs, batch.kMaxRows),
        step_results(kEnvs, mechanisms.kMaxRows),
        sizes{kEnvs, batch.kMaxRows, 0},
        step_sizes{kEnvs, mechanisms.kMaxRows, mechanisms.kDofs},
        given(support::random_numbers<Scalar>(sizes.numbers())),
        step_given(support::random_numbers<Scalar>(step_sizes.numbers())) {
    options.law = c.law;
    options.directions = c.directions;
    options.precision = sizeof(Scalar) == 4 ? Precision::float32 : Precision::float64;
    solve(batch.view(), results.view(), options);
    Workspace workspace(mechanisms.kMaxRows, mechanisms.kMaxContacts, 1);
    solve_mechanism(mechanisms.step(), mechanisms.problem(), step_results.view(), options,
                    workspace);
    given[3 * std::size_t(batch.kMaxRows)] = std::numeric_limits<Scalar>::quiet_NaN();
    step_given[3 * std::size_t(mechanisms.kMaxRows)] = std::numeric_limits<Scalar>::infinity();
  }
  static SolutionBatch<Scalar> solution(const PlainResults<Scalar>& r) {
    return {{r.impulse.data(), r.max_rows}, r.status.data()};
  }
};

template <class Scalar>
Written<Scalar> vjp_on_host(const Solved<Scalar>& s, int threads) {
  Written<Scalar> out(s.sizes);
  Workspace workspace(s.batch.kMaxRows, s.batch.kMaxContacts, threads);
  solve_vjp(s.batch.view(), s.solution(s.results), s.sizes.loss(s.given.data()).contacts,
            s.sizes.gradient(out.numbers.data(), out.reals.data(), out.status.data()).contacts,
            s.options, workspace);
  return out;
}

template <class Scalar>
Written<Scalar> jvp_on_host(const Solved<Scalar>& s, int threads) {
  Written<Scalar> out(s.sizes);
  Workspace workspace(s.batch.kMaxRows, s.batch.kMaxContacts, threads);
  solve_jvp(s.batch.view(), s.solution(s.results), s.sizes.change(s.given.data()),
            s.sizes.solution_change(out.numbers.data(), out.reals.data(), out.status.data()),
            s.options, workspace);
  return out;
}

template <class Scalar>
Written<Scalar> step_on_host(Solved<Scalar>& s, int threads) {
  Written<Scalar> out(s.step_sizes);
  Workspace workspace(s.mechanisms.kMaxRows, s.mechanisms.kMaxContacts, threads);
  step_vjp(s.mechanisms.step(), s.mechanisms.problem(), s.solution(s.step_results),
           s.step_sizes.loss(s.step_given.data()),
           s.step_sizes.gradient(out.numbers.data(), out.reals.data(), out.status.data()),
           s.options, workspace);
  return out;
}

/// Copies of the inputs, and room for the outputs, in device memory.
template <class Scalar>
class Device {
 public:
  Device(const GradientSizes& sizes, const std::vector<Scalar>& given,
         const PlainResults<Scalar>& results)
      : written_(sizes),
        stream(support::stream(1)),
        memory(stream),
        given(copy(given)),
        numbers(const_cast<Scalar*>(copy(written_.numbers))),
        reals(const_cast<double*>(copy(written_.reals))),
        status(const_cast<GradientStatus*>(copy(written_.status))),
        solution{{copy(results.impulse), results.max_rows}, copy(results.status)} {}
  template <class T>
  const T* copy(const std::vector<T>& host) {
    return memory.copy(EnvArray<const T>{host.data(), std::int64_t(host.size())}, 1).data;
  }
  Written<Scalar> download() {
    const auto back = [&](auto* place, auto& to) {
      to = memory.download(
          EnvArray<std::remove_reference_t<decltype(*place)>>{place, std::int64_t(to.size())}, 1);
    };
    back(numbers, written_.numbers);
    back(reals, written_.reals);
    back(status, written_.status);
    return written_;
  }

 private:
  Written<Scalar> written_;

 public:
  cuda::Stream stream;
  support::DeviceMemory memory;
  const Scalar* given;
  Scalar* numbers;
  double* reals;
  GradientStatus* status;
  SolutionBatch<Scalar> solution;
};

/// Runs `enqueue` as a graph, twice.
template <class F>
void replay(cuda::Stream stream, F&& enqueue) {
  support::Capture graph(stream);
  enqueue();
  graph.end();
  graph.replay();
  graph.replay();
}

template <class Scalar>
void compare_on_device(Solved<Scalar>& s) {
  const int directions = s.options.directions;
  // Room for more than the batch has: these derivatives do not fit into shared memory.
  const int rows = 96, contacts = 32;
  {
    Device<Scalar> d(s.sizes, s.given, s.results);
    const ProblemBatch<Scalar> problem = d.memory.copy(s.batch.view());
    cuda::Workspace workspace({.num_envs = kEnvs + 1,
                               .max_rows = rows,
                               .max_contacts = contacts,
                               .directions = directions,
                               .gradients = true});
    replay(d.stream, [&] {
      cuda::solve_vjp(problem, d.solution, s.sizes.loss(d.given).contacts,
                      s.sizes.gradient(d.numbers, d.reals, d.status).contacts, s.options, workspace,
                      d.stream);
    });
    EXPECT_EQ(d.download(), vjp_on_host(s, 1));
  }
  {
    Device<Scalar> d(s.sizes, s.given, s.results);
    const ProblemBatch<Scalar> problem = d.memory.copy(s.batch.view());
    cuda::Workspace workspace({.num_envs = kEnvs,
                               .max_rows = rows,
                               .max_contacts = contacts,
                               .directions = directions,
                               .gradients = true});
    replay(d.stream, [&] {
      cuda::solve_jvp(problem, d.solution, s.sizes.change(d.given),
                      s.sizes.solution_change(d.numbers, d.reals, d.status), s.options, workspace,
                      d.stream);
    });
    EXPECT_EQ(d.download(), jvp_on_host(s, 1));
  }
  Device<Scalar> d(s.step_sizes, s.step_given, s.step_results);
  const ProblemBatch<Scalar> problem = d.memory.copy(s.mechanisms.problem());
  const MechanismStep<Scalar> step = d.memory.copy(s.mechanisms.step());
  cuda::Workspace workspace({.num_envs = kEnvs,
                             .max_rows = s.mechanisms.kMaxRows,
                             .max_contacts = s.mechanisms.kMaxContacts,
                             .nv = s.mechanisms.kDofs + 2,
                             .directions = directions,
                             .gradients = true});
  replay(d.stream, [&] {
    cuda::step_vjp(step, problem, d.solution, s.step_sizes.loss(d.given),
                   s.step_sizes.gradient(d.numbers, d.reals, d.status), s.options, workspace,
                   d.stream);
  });
  EXPECT_EQ(d.download(), step_on_host(s, 1));
}

class Derivatives : public testing::TestWithParam<Case> {};

template <class Scalar>
void compare(const Case& c) {
  Solved<Scalar> s(c);
  const Written<Scalar> vjp = vjp_on_host(s, 1);
  EXPECT_EQ(vjp_on_host(s, 3), vjp);
  EXPECT_EQ(jvp_on_host(s, 3), jvp_on_host(s, 1));
  EXPECT_EQ(step_on_host(s, 3), step_on_host(s, 1));
  EXPECT_EQ(vjp.status[3], GradientStatus::unsolved);
  EXPECT_GT(std::count(vjp.status.begin(), vjp.status.end(), GradientStatus::valid), kEnvs / 4);
  for (const Scalar x : vjp.numbers) EXPECT_TRUE(std::isfinite(x));
  if (cuda::available()) compare_on_device(s);
}

TEST_P(Derivatives, have_the_same_bits_everywhere) { compare<double>(GetParam()); }
TEST_P(Derivatives, of_float_have_the_same_bits_everywhere) { compare<float>(GetParam()); }

TEST_P(Derivatives, in_the_call_of_the_solve_have_the_bits_of_two_calls) {
  for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32}) {
    Solved<double> s(GetParam());
    s.options.precision = precision;
    PlainResults<double> results(kEnvs, s.batch.kMaxRows);
    solve(s.batch.view(), results.view(), s.options);
    s.results = results;
    const Written<double> expected = vjp_on_host(s, 1);
    for (const int threads : {1, 3}) {
      Written<double> out(s.sizes);
      PlainResults<double> together(kEnvs, s.batch.kMaxRows);
      Workspace workspace(s.batch.kMaxRows, s.batch.kMaxContacts, threads);
      solve_with_vjp(
          s.batch.view(), together.view(), s.sizes.loss(s.given.data()).contacts,
          s.sizes.gradient(out.numbers.data(), out.reals.data(), out.status.data()).contacts,
          s.options, workspace);
      EXPECT_EQ(out, expected) << int(precision);
      EXPECT_EQ(support::hashes(s.batch, together, kEnvs),
                support::hashes(s.batch, results, kEnvs));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Derivatives,
                         testing::Values(Case{Law::coulomb}, Case{Law::convex}, Case{Law::box},
                                         Case{Law::frictionless}, Case{Law::pyramid},
                                         Case{Law::pyramid, 16}),
                         [](const auto& info) {
                           return name(info.param.law) + std::to_string(info.param.directions);
                         });

TEST(DerivativesMisuse, is_refused_by_name) {
  Solved<double> s(Case{Law::coulomb});
  Written<double> out(s.sizes);
  Workspace workspace(s.batch.kMaxRows, s.batch.kMaxContacts, 1);
  const auto refusal = [&](auto change) {
    auto solution = s.solution(s.results);
    auto to = s.sizes.gradient(out.numbers.data(), out.reals.data(), out.status.data()).contacts;
    SolveOptions options = s.options;
    change(solution, to, options);
    return support::refusal_of(
        [&] { solve_vjp(s.batch.view(), solution, {}, to, options, workspace); });
  };
  EXPECT_EQ(refusal([](auto&, auto&, auto&) {}), "");
  EXPECT_EQ(refusal([](auto& solution, auto&, auto&) { solution.status = nullptr; }),
            "solution.status: expected an array, got none");
  EXPECT_EQ(refusal([](auto& solution, auto&, auto&) { solution.impulse = {}; }),
            "solution.impulse: expected an array, got none");
  EXPECT_EQ(refusal([](auto&, auto& to, auto&) { to.b = {}; }),
            "gradient.b: expected an array, got none");
  EXPECT_EQ(refusal([](auto&, auto& to, auto&) { to.report.inconsistency = nullptr; }),
            "report.inconsistency: expected an array, got none");
  EXPECT_EQ(refusal([](auto&, auto&, auto& options) { options.atol = std::nan(""); }).substr(0, 7),
            "options");
}

class DerivativesOnDevice : public support::GpuTest<> {};

TEST_F(DerivativesOnDevice, a_workspace_without_gradients_is_refused) {
  Solved<double> s(Case{Law::coulomb});
  Written<double> out(s.sizes);
  cuda::Workspace workspace(
      {.num_envs = kEnvs, .max_rows = s.batch.kMaxRows, .max_contacts = s.batch.kMaxContacts});
  EXPECT_THROW(
      cuda::solve_vjp(
          s.batch.view(), s.solution(s.results), {},
          s.sizes.gradient(out.numbers.data(), out.reals.data(), out.status.data()).contacts,
          s.options, workspace, nullptr),
      std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
