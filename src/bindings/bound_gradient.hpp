// The derivatives of a bound solve: their arrays are checked once, as its own are.
#pragma once
#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "src/bindings/bound_arrays.hpp"
#include "src/bindings/gradient_zeros.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// A call on a stream; in host memory the stream is not used.
using Call = std::function<void(cuda::Stream)>;

/// What `solve_vjp` takes for the problem and the results that `solve` wrote.
template <class Scalar>
struct VjpTask {
  ProblemBatch<Scalar> problem;
  SolutionBatch<Scalar> solution;
  LossBatch<Scalar> loss;
  GradientBatch<Scalar> gradient;
  SolveOptions options;

  VjpTask(const ProblemBatch<Scalar>& p, const ResultBatch<Scalar>& result, const SolveOptions& o)
      : problem(p), options(o) {
    solution.impulse = {result.impulse.data, result.impulse.stride};
    solution.status = result.status;
  }
  /// `of` and `out` are arrays by name; `box` and `mu` are the columns of the derivatives.
  void bind(BoundArrays& arrays, const nb::dict& of, const nb::dict& out, std::int64_t box,
            std::int64_t mu) {
    const std::int64_t n = problem.max_rows;
    loss.impulse = arrays.input<Scalar>("d_impulse", of["d_impulse"], {n});
    loss.velocity = arrays.input<Scalar>("d_velocity", of["d_velocity"], {n});
    GradientBatch<Scalar>& g = gradient;
    g.b = arrays.output<Scalar>("b", out, {n});
    g.mu = arrays.output<Scalar>("mu", out, {mu});
    g.R = arrays.output<Scalar>("R", out, {n});
    g.lo = arrays.output<Scalar>("lo", out, {box});
    g.hi = arrays.output<Scalar>("hi", out, {box});
    const auto status = arrays.output<std::int32_t>("status", out, {});
    g.report.status = reinterpret_cast<GradientStatus*>(status.data);
    g.report.kink_distance = arrays.output<double>("kink_distance", out, {}).data;
    g.report.inconsistency = arrays.output<double>("inconsistency", out, {}).data;
    g.report.redundant = arrays.output<std::int32_t>("redundant", out, {}).data;
    arrays.require_outputs_of_their_own();
  }
};

/// A call of a task whose arrays are bound, on the CPU.
template <class Scalar>
Call vjp_on_cpu(const VjpTask<Scalar>& task, BoundArrays held, int threads) {
  const ProblemBatch<Scalar>& p = task.problem;
  const auto workspace = take_workspace(p.max_rows, p.max_contacts, threads);
  return [=, held = std::move(held)](cuda::Stream) {
    clear(task.gradient, task.problem.num_envs);  // environments may have fewer rows than before
    solve_vjp(task.problem, task.solution, task.loss, task.gradient, task.options, *workspace);
  };
}

/// The same on a GPU. `workspace` is made in the first call and then used again: graphs that
/// captured an earlier task may still be replayed.
template <class Scalar>
Call vjp_on_gpu(const VjpTask<Scalar>& task, BoundArrays held,
                std::shared_ptr<cuda::Workspace>& workspace) {
  const ProblemBatch<Scalar>& p = task.problem;
  const int gpu = held.leader().place.gpu;
  if (workspace == nullptr) {
    const cuda::DeviceScope current(gpu);
    workspace = std::make_shared<cuda::Workspace>(p.num_envs, p.max_rows, p.max_contacts, -1, 0,
                                                  false, true);
  }
  return [=, held = std::move(held), used = workspace](cuda::Stream stream) {
    const cuda::DeviceScope current(gpu);
    clear(task.gradient, task.problem.num_envs, stream);
    cuda::solve_vjp(task.problem, task.solution, task.loss, task.gradient, task.options, *used,
                    stream);
  };
}

}  // namespace stickslip::bindings
