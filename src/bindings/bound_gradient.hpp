// The derivatives of a bound solve: their arrays are checked once, as its own are.
#pragma once
#include <nanobind/nanobind.h>

#include <functional>

#include "src/bindings/bound_arrays.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// `solve_vjp` of the problem and the results that `solve` wrote, all in host memory. `loss` and
/// `out` are arrays by name; `arrays` are those of the solve, with which `out` shares no memory.
template <class In>
std::function<void()> bound_vjp(BoundArrays arrays, const ProblemBatch<In>& problem,
                                const ResultBatch<In>& result, const nb::dict& loss,
                                const nb::dict& out, std::int64_t box, std::int64_t mu,
                                const SolveOptions& options, int threads) {
  const std::int64_t n = problem.max_rows;
  LossBatch<In> l;
  l.impulse = arrays.input<In>("impulse", loss["impulse"], {n});
  l.velocity = arrays.input<In>("velocity", loss["velocity"], {n});
  GradientBatch<In> g;
  g.b = arrays.output<In>("b", out, {n});
  g.mu = arrays.output<In>("mu", out, {mu});
  g.R = arrays.output<In>("R", out, {n});
  g.lo = arrays.output<In>("lo", out, {box});
  g.hi = arrays.output<In>("hi", out, {box});
  const auto status = arrays.output<std::int32_t>("status", out, {});
  g.report.status = reinterpret_cast<GradientStatus*>(status.data);
  g.report.margin = arrays.output<double>("margin", out, {}).data;
  g.report.lost = arrays.output<double>("lost", out, {}).data;
  arrays.require_outputs_of_their_own();
  SolutionBatch<In> solution;
  solution.impulse = {result.impulse.data, result.impulse.stride};
  solution.status = result.status;
  const auto workspace = take_workspace(problem.max_rows, problem.max_contacts, threads);
  return [=, held = std::move(arrays)] { solve_vjp(problem, solution, l, g, options, *workspace); };
}

}  // namespace stickslip::bindings
