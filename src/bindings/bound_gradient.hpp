// The derivatives of a bound solve: their arrays are checked once, as its own are.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "src/bindings/bound_call.hpp"
#include "src/bindings/gradient_zeros.hpp"
#include "src/bindings/problem.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// What `solve_vjp` takes for the problem and the results that `solve` wrote.
template <class Scalar>
struct VjpTask {
  ProblemBatch<Scalar> problem;
  SolutionBatch<Scalar> solution;
  LossBatch<Scalar> loss;
  GradientBatch<Scalar> gradient;
  SolveOptions options;

  VjpTask(Arrays& arrays, const nb::dict& by, const nb::dict& out, const Layout& layout,
          const ProblemBatch<Scalar>& p, const ResultBatch<Scalar>& result, const SolveOptions& o)
      : problem(p),
        solution{{result.impulse.data, result.impulse.stride}, result.status},
        loss(loss_of<Scalar>(arrays, FromDict{by}, layout.rows)),
        gradient(gradient_of<Scalar>(arrays, FromDict{out, true}, layout)),
        options(o) {
    arrays.require_outputs_of_their_own();
  }
};

/// A call of a task whose arrays are bound, on the CPU.
template <class Scalar>
Call vjp_on_cpu(const VjpTask<Scalar>& task, Arrays held, int threads) {
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
Call vjp_on_gpu(const VjpTask<Scalar>& task, Arrays held,
                std::shared_ptr<cuda::Workspace>& workspace) {
  const ProblemBatch<Scalar>& p = task.problem;
  const int gpu = held.leader().place.gpu;
  if (workspace == nullptr) {
    const cuda::DeviceScope current(gpu);
    workspace =
        std::make_shared<cuda::Workspace>(cuda::WorkspaceConfig{.num_envs = p.num_envs,
                                                                .max_rows = p.max_rows,
                                                                .max_contacts = p.max_contacts,
                                                                .gradients = true});
  }
  return [=, held = std::move(held), used = workspace](cuda::Stream stream) {
    const cuda::DeviceScope current(gpu);
    clear(task.gradient, task.problem.num_envs, stream);
    cuda::solve_vjp(task.problem, task.solution, task.loss, task.gradient, task.options, *used,
                    stream);
  };
}

}  // namespace stickslip::bindings
