// Newton's method does not depend on coordinates: x = M^-1 J^T lambda maps the iterates of the
// problem of impulses, with W, to those of velocities step by step.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/env/convex_env.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/solver/newton/primal.hpp"
#include "stickslip/stickslip.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/velocity_problem.hpp"

namespace stickslip {
namespace {

using namespace kernels;
using reference::Vector;
using Setup = support::VelocitySetup;
using Posed = support::VelocityProblem;

const SolveOptions kConvex{.law = Law::convex};
const HostGroup kGroup;
constexpr int kMostSteps = 100;
constexpr double kNever = std::numeric_limits<double>::infinity();

double largest(const Vector& v) { return v.size() == 0 ? 0.0 : v.cwiseAbs().maxCoeff(); }

/// Where a method stands after some steps, in scaled velocities.
struct Iterate {
  int steps = 0;  ///< fewer than were allowed: it has ended
  Vector u;       ///< velocities
};

Vector copy(const double* values, int n) { return Eigen::Map<const Vector>(values, n); }

/// One problem in both forms.
class Methods {
 public:
  explicit Methods(const Posed& p)
      : n_(p.n),
        with_W_(p.view()),
        without_W_(p.without_W()),
        mechanism_(p.mechanism.view()),
        memory_(1 << 22),
        arena_(memory_.data()),
        view_(arena_, with_W_.max_rows, with_W_.max_contacts),
        scaled_(arena_, with_W_.max_rows, with_W_.max_contacts),
        judge_memory_(arena_, with_W_.max_rows),
        judge_(arena_),
        primal_(arena_, with_W_.max_rows),
        convex_(arena_, mechanism_.tree.n, with_W_.max_rows, with_W_.max_contacts),
        best_(std::size_t(with_W_.max_rows)) {
    int rows = 0;
    EXPECT_EQ(open_problem(kGroup, with_W_, 0, view_, problem_, rows), EnvStatus::solved);
    EXPECT_TRUE(check_values(kGroup, problem_, true));
    enter_circular_coordinates(kGroup, problem_, false, view_);
    scale_problem(kGroup, problem_, Law::convex, scaled_);
    const auto given = [&](int, SparseMechanism& its) {
      its = mechanism_;
      return true;
    };
    EXPECT_EQ(
        open_without_W(kGroup, without_W_, 0, given, convex_, mechanism_, diagonal_problem_, rows),
        EnvStatus::solved);
    enter_circular_coordinates(kGroup, diagonal_problem_, false, convex_.view);
    scale_vectors(kGroup, diagonal_problem_, Law::convex, convex_.scaled);
  }

  Iterate with_W(int budget) {
    open_judge(kGroup, problem_, kConvex, judge_memory_, best_.data(), nullptr, judge_);
    std::fill_n(judge_memory_.start, n_, 0.0);
    const int steps = run_primal(kGroup, problem_, scaled_, primal_, budget, judge_);
    return {steps, copy(primal_.u, n_)};
  }
  Iterate without_W(int budget) {
    open_judge(kGroup, diagonal_problem_, kConvex, convex_.judge_memory, best_.data(), nullptr,
               convex_.judge);
    const VelocityNewton& newton = convex_.newton;
    std::fill_n(newton.x, mechanism_.tree.n, 0.0);
    const SparseVelocity velocity{diagonal_problem_, mechanism_,      convex_.change,
                                  convex_.left,      convex_.partial, convex_.spread};
    const int steps = run_velocity_newton(kGroup, diagonal_problem_, mechanism_, convex_.scaled,
                                          newton, budget, velocity, convex_.judge);
    return {steps, copy(newton.u, n_)};
  }

  /// How far a decision of the line search in step `budget` is from the other way, relative to its
  /// numbers: the least of all. Below rounding, the search may go either way.
  double doubt(int budget) {
    with_W(budget - 1);
    const Vector lambda = copy(primal_.lambda, n_), u = copy(primal_.u, n_);
    with_W(budget);
    const Vector d = copy(primal_.d, n_), w = copy(primal_.w, n_);
    double here = 0.0, alpha = 0.0, low = 0.0, high = kNever, least = kNever;
    const auto derivative = [&](double at) {
      alpha = at;
      const Vector moved = u + alpha * w;
      penalise(kGroup, scaled_, primal_.penalty, moved.data());
      return here = w.dot(lambda + alpha * d - copy(primal_.penalty.r, n_));
    };
    const double slope = derivative(0.0);
    const auto look = [&](double number, double other, double size) {
      least = std::min(least, std::abs(number - other) / size);
    };
    const auto observed = [&](double at) {
      derivative(at);
      look(std::abs(here), (at == 1.0 ? 0.3 : 0.05) * -slope, -slope);  // whether it is small
      return here;
    };
    const auto second = [&] {
      double sum = w.dot(d);
      for (int i = 0; i < scaled_.scalars + scaled_.n_contacts; ++i)
        sum += curvature(scaled_, primal_.penalty, i, w.data());
      (here > 0.0 ? high : low) = alpha;
      const double next = alpha - here / sum;  // whether it lies where a step may end
      look(next, low, alpha);
      look(next, high < kNever ? high : 10.0 * alpha, alpha);
      return sum;
    };
    exact_step(slope, observed, second);
    return least;
  }

 private:
  int n_;
  ProblemBatch<double> with_W_, without_W_;
  SparseMechanism mechanism_;
  support::AlignedBytes memory_;
  Arena arena_;
  ViewScratch<double> view_;
  Scaled<double> scaled_;
  JudgeMemory<double> judge_memory_;
  Judge<double> judge_;
  Primal<double> primal_;
  ConvexScratch convex_;
  std::vector<double> best_;
  EnvProblem<double> problem_{}, diagonal_problem_{};
};

class VelocitySteps : public testing::TestWithParam<Setup> {};

// One step more or less is rounding near the solution. Rounding may also decide a line search,
// after which the steps are others: the iterates are compared up to there.
TEST_P(VelocitySteps, are_those_of_Newton_with_W) {
  constexpr double kRounding = 1e-6;  // of ill-conditioned problems
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Posed p(GetParam(), seed);
    Methods methods(p);
    bool same = true;
    for (int k = 0, ended = 0; k <= kMostSteps && ended == 0 && same; ++k) {
      const Iterate a = methods.with_W(k), b = methods.without_W(k);
      same = largest(a.u - b.u) <= kRounding * largest(a.u);
      if (!same) {
        EXPECT_LE(methods.doubt(k), kRounding) << "seed " << seed << ", step " << k;
      }
      ended = int(a.steps < k) + int(b.steps < k);
    }
    if (!same) continue;
    const int more = methods.without_W(kMostSteps).steps - methods.with_W(kMostSteps).steps;
    EXPECT_LE(std::abs(more), 1) << "seed " << seed;
  }
}

// What is compared above is what `solve` and `solve_convex` do.
TEST_P(VelocitySteps, are_those_of_solves) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Posed p(GetParam(), seed);
    Methods methods(p);
    HostResults<double> by_W(1, std::max(p.n, 1)), by_velocity(1, std::max(p.n, 1));
    solve(p.view(), by_W.view(), {.law = Law::convex, .solver = Solver::newton});
    Workspace workspace(1, 1, 1);
    solve_convex(p.without_W(), p.mechanism.view(), p.start.data(), by_velocity.view(), kConvex,
                 workspace);
    EXPECT_EQ(methods.without_W(kMostSteps).steps, by_velocity.iterations(0)) << seed;
    if (by_W.iterations(0) > 0) {
      EXPECT_EQ(methods.with_W(kMostSteps).steps, by_W.iterations(0)) << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, VelocitySteps, testing::ValuesIn(support::velocity_setups(1e-4)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stickslip
