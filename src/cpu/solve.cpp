#include "stickslip/solve.hpp"

#include "kernels/delassus/delassus.hpp"
#include "kernels/law/dispatch.hpp"
#include "kernels/residual/tolerance.hpp"
#include "src/api/check.hpp"
#include "src/api/matrix_sources.hpp"
#include "src/cpu/workspace.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

namespace {

template <class Scalar>
const kernels::TypedKernels<Scalar>& kernels_of() {
  return kernels::typed<Scalar>(kernels::kernel_table());
}

constexpr double kHardness = 50.0;  ///< work of the later rungs relative to rung 0, roughly

/// Rung 0 for all environments, one after the other.
template <class Scalar, class Run>
void solve_rung_0(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                  const kernels::Ladder& ladder, const kernels::MatrixSource<Scalar>& source,
                  Workspace::Impl& workspace, Run run) {
  const auto first = [&](std::int64_t begin, std::int64_t end, void* scratch) {
    run(problem, result, ladder, source, begin, end, scratch, kernels::Rungs::opening, nullptr);
  };
  workspace.for_chunks(problem.num_envs, workspace.work_of(problem.max_rows), first);
}

/// The other rungs for the environments that rung 0 left unsolved, one by one, so that hard
/// environments that are adjacent in the batch do not all go to one thread.
template <class Scalar, class Run>
void solve_later_rungs(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                       const kernels::Ladder& ladder, const kernels::MatrixSource<Scalar>& source,
                       Workspace::Impl& workspace, Run run) {
  auto& queue = workspace.queue;
  queue.clear();
  queue.reserve(std::size_t(problem.num_envs));
  for (std::int64_t env = 0; env < problem.num_envs; ++env) {
    const EnvStatus status = result.status[env];
    if (status == EnvStatus::not_converged) queue.push_back(env);
  }
  const auto climb = [&](std::int64_t begin, std::int64_t end, void* scratch) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t env = queue[std::size_t(i)];
      run(problem, result, ladder, source, env, env + 1, scratch, kernels::Rungs::later, nullptr);
    }
  };
  const double work = workspace.work_of(problem.max_rows);
  workspace.for_chunks(std::int64_t(queue.size()), kHardness * work, climb, 1);
}

/// Rung 0 if it consists of sweeps only: environments of equal layout in packs; chunks are large,
/// so that packs are full.
template <class Scalar>
void solve_in_packs(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                    const kernels::Ladder& ladder, Workspace::Impl& workspace) {
  const auto& kernels = kernels_of<Scalar>();
  workspace.reserve(kernels.sweep_bytes(problem.max_rows, problem.max_contacts));
  const auto run = kernels.sweep[int(ladder.options.precision)];
  const auto single = kernels.solve[int(ladder.options.precision)];
  workspace.for_chunks(
      problem.num_envs, workspace.work_of(problem.max_rows),
      [&](std::int64_t begin, std::int64_t end, void* scratch) {
        run(problem, result, ladder, begin, end, scratch, single);
      },
      256);
}

/// A solve of given matrices, or of those of a mechanism, within the caller's turn of the
/// workspace.
template <class Scalar>
void solve_checked(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                   const SolveOptions& options, const kernels::MatrixSource<Scalar>& source,
                   Workspace& workspace) {
  const kernels::MatrixKind matrix = kernels::kind_of(source);
  const int directions = kernels::lcp_directions(options);
  if (directions > 0 || matrix.has_matrix() || matrix.sparse_nv > 0) {  // grows the workspace once
    impl_of(workspace).reserve(kernels_of<Scalar>().solve_bytes(
        problem.max_rows, problem.max_contacts, directions, matrix));
  }
  const auto run = kernels_of<Scalar>().solve[int(options.precision)];
  const kernels::Ladder& ladder = impl_of(workspace).ladder_of(options);
  const bool climbs = ladder.has_later_rungs;
  if (!matrix.has_matrix() && source.sparse == nullptr &&
      ladder.variant == kernels::KernelVariant::sweeping) {
    solve_in_packs(problem, result, ladder, impl_of(workspace));
    if (climbs) solve_later_rungs(problem, result, ladder, source, impl_of(workspace), run);
    return;
  }
  if (climbs && workspace.threads() > 1 && problem.num_envs > 1) {
    solve_rung_0(problem, result, ladder, source, impl_of(workspace), run);
    solve_later_rungs(problem, result, ladder, source, impl_of(workspace), run);
    return;
  }
  impl_of(workspace).for_chunks(problem.num_envs, Workspace::Impl::work_of(problem.max_rows),
                                [&](std::int64_t begin, std::int64_t end, void* scratch) {
                                  run(problem, result, ladder, source, begin, end, scratch,
                                      kernels::Rungs::all, nullptr);
                                });
}

/// The same for the caller's problem, in double or widened.
template <class Scalar>
void solve_given(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                 const SolveOptions& options, const MechanismStep<Scalar>& step,
                 Workspace& workspace) {
  check_workspace(problem, workspace);
  check_bounds(problem);
  const auto turn = impl_of(workspace).caller.enter();
  if constexpr (sizeof(Scalar) == 4) {
    if (options.precision != Precision::float32) {
      auto& impulses = impl_of(workspace).impulses;
      impulses.resize(std::size_t(problem.num_envs) * std::size_t(problem.max_rows));
      solve_checked(counts_of(problem), widened(result, problem, impulses.data()), options,
                    source_of(problem, result, step), workspace);
      return;
    }
  }
  solve_checked(problem, result, options, source_of(step), workspace);
}

}  // namespace

template <class Scalar>
void solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
           const SolveOptions& options, Workspace& workspace) {
  check_solve(problem, result, options);
  solve_given(problem, result, options, {}, workspace);
}

template <class Scalar>
void solve_mechanism(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                     const ResultBatch<Scalar>& result, const SolveOptions& options,
                     Workspace& workspace) {
  check_solve_mechanism(step, problem, result, options);
  solve_given(problem, result, options, step, workspace);
}

void solve_mechanism(const EngineStep& step, const ProblemBatch<double>& problem,
                     const ResultBatch<double>& result, const SolveOptions& options,
                     Workspace& workspace) {
  check_engine_step(step, problem, result, options);
  check_workspace(problem, workspace);
  check_bounds(problem);
  const auto turn = impl_of(workspace).caller.enter();
  solve_checked(problem, result, options, source_of(step), workspace);
}

void solve_mechanism(const SparseMechanism& mechanism, const ProblemBatch<double>& problem,
                     const ResultBatch<double>& result, const SolveOptions& options,
                     Workspace& workspace) {
  check_solve(problem, result, options, MatrixOf::mechanism);
  require(problem.num_envs == 1, "problem.num_envs", "1", problem.num_envs);
  check_workspace(problem, workspace);
  check_bounds(problem);
  const auto turn = impl_of(workspace).caller.enter();
  solve_checked(problem, result, options, source_of(mechanism), workspace);
}

template <class Scalar>
void solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
           const SolveOptions& options) {
  check_solve(problem, result, options);
  Workspace workspace(problem.max_rows, problem.max_contacts);
  solve(problem, result, options, workspace);
}

template <class Scalar>
void measure(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> impulse, Law law,
             Measures* measures, Workspace& workspace, int directions) {
  check_problem(problem);
  require(name(law) != std::string("unknown"), "law", "a law of this library", std::int32_t(law));
  check_directions(directions, "directions");
  check_workspace(problem, workspace);
  check_bounds(problem);
  if (problem.num_envs > 0) {
    if (problem.max_rows > 0) require_array(impulse, "impulse");
    require(measures != nullptr, "measures", "an array", "none");
  }
  const auto turn = impl_of(workspace).caller.enter();
  impl_of(workspace).for_chunks(problem.num_envs, Workspace::Impl::work_of(problem.max_rows),
                                [&](std::int64_t begin, std::int64_t end, void* scratch) {
                                  kernels_of<Scalar>().measure(problem, impulse, law, measures,
                                                               directions, begin, end, scratch);
                                });
}

template <class Scalar>
void check_certificates(const ProblemBatch<Scalar>& problem, EnvArray<const double> certificate,
                        const SolveOptions& options, std::uint8_t* holds, Workspace& workspace) {
  check_problem(problem);
  check_workspace(problem, workspace);
  check_bounds(problem);
  if (problem.num_envs > 0) {
    if (problem.max_rows > 0) require_array(certificate, "certificate");
    require(holds != nullptr, "holds", "an array", "none");
  }
  const auto turn = impl_of(workspace).caller.enter();
  impl_of(workspace).for_chunks(problem.num_envs, Workspace::Impl::work_of(problem.max_rows),
                                [&](std::int64_t begin, std::int64_t end, void* scratch) {
                                  kernels_of<Scalar>().certify(problem, certificate, options, holds,
                                                               begin, end, scratch);
                                });
}

double tolerance(const SolveOptions& options, double max_abs_b) {
  return kernels::tolerance_of(options.atol, options.rtol, options.precision, max_abs_b);
}

template void solve(const ProblemBatch<double>&, const ResultBatch<double>&, const SolveOptions&,
                    Workspace&);
template void solve(const ProblemBatch<float>&, const ResultBatch<float>&, const SolveOptions&,
                    Workspace&);
template void solve(const ProblemBatch<double>&, const ResultBatch<double>&, const SolveOptions&);
template void solve(const ProblemBatch<float>&, const ResultBatch<float>&, const SolveOptions&);
template void solve_mechanism(const MechanismStep<double>&, const ProblemBatch<double>&,
                              const ResultBatch<double>&, const SolveOptions&, Workspace&);
template void solve_mechanism(const MechanismStep<float>&, const ProblemBatch<float>&,
                              const ResultBatch<float>&, const SolveOptions&, Workspace&);
template void check_certificates(const ProblemBatch<double>&, EnvArray<const double>,
                                 const SolveOptions&, std::uint8_t*, Workspace&);
template void check_certificates(const ProblemBatch<float>&, EnvArray<const double>,
                                 const SolveOptions&, std::uint8_t*, Workspace&);
template void measure(const ProblemBatch<double>&, EnvArray<const double>, Law, Measures*,
                      Workspace&, int);
template void measure(const ProblemBatch<float>&, EnvArray<const float>, Law, Measures*, Workspace&,
                      int);

}  // namespace stickslip
