// Enqueues solves. Nothing here allocates, waits, or reads results of the device.
#include "kernels/ladder/mechanism_scratch.hpp"
#include "kernels/law/dispatch.hpp"
#include "src/api/check.hpp"
#include "src/api/matrix_sources.hpp"
#include "src/cuda/enqueue.hpp"

namespace stickslip::cuda {

namespace {

/// The launch of a pass for class c. The largest environments may begin without W.
template <class Scalar>
const auto& plan_of(const kernels::MatrixSource<Scalar>& source, const kernels::Ladder& ladder,
                    const SolvePlans<Scalar>& plans, const Workspace::Impl& w,
                    kernels::KernelVariant variant, int c) {
  if constexpr (sizeof(Scalar) == 8) {
    if (variant == ladder.variant && kernels::begins_without_W(source, ladder, w.classes.rows[c]))
      return w.sparse;
  }
  return plans.of(variant, ladder.options.precision)[std::size_t(c)];
}

template <class Scalar>
void enqueue(const kernels::MatrixSource<Scalar>& source, const ProblemBatch<Scalar>& problem,
             const ResultBatch<Scalar>& result, const kernels::Ladder& ladder,
             const SolvePlans<Scalar>& plans, const Workspace::Impl& w, Stream stream) {
  const Passes passes = passes_of(ladder, w.config.directions);
  const WorkLists lists(w, problem.num_envs);
  lists.fill(problem, stream);
  // The passes of a class follow each other; the classes need nothing of one another.
  w.branches.run(w.classes.count, stream, [&](int c, Stream branch) {
    for (int pass = 0; pass < passes.count; ++pass) {
      const auto& plan = plan_of(source, ladder, plans, w, passes.variants[pass], c);
      const kernels::WorkList list = pass == 0 ? lists.first(c, passes.count) : lists.second(c);
      launch(plan, branch, problem, result, ladder, source, scratch_of(plan, w), list);
    }
  });
}

void check_directions(const SolveOptions& options, const Workspace::Impl& w) {
  if (kernels::lcp_directions(options) <= 4) return;
  require(w.config.directions >= options.directions, "workspace.directions",
          "at least options.directions", w.config.directions);
}

/// A solve of the caller's arrays, in double or in float.
template <class Scalar>
void enqueue_given(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                   const ResultBatch<Scalar>& result, const SolveOptions& options,
                   const Workspace::Impl& w, Stream stream) {
  check_directions(options, w);
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  if (problem.num_envs == 0) return;
  if constexpr (sizeof(Scalar) == 4) {
    if (options.precision != Precision::float32) {
      require(w.config.float_storage, "workspace.float_storage",
              "true, because arrays in float are solved in double", "false");
      const auto results = widened(result, problem, static_cast<double*>(w.impulses.data()));
      enqueue(source_of(problem, result, step), counts_of(problem), results, options,
              std::get<SolvePlans<double>>(w.fused), w, stream);
      return;
    }
  }
  const auto& plans = step.mechanism.num_envs > 0 ? w.fused : w.given;
  enqueue(source_of(step), problem, result, options, std::get<SolvePlans<Scalar>>(plans), w,
          stream);
}

}  // namespace

template <class Scalar>
void solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
           const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_solve(problem, result, options);
  enqueue_given({}, problem, result, options, impl_of(workspace), stream);
}

template <class Scalar>
void solve_mechanism(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                     const ResultBatch<Scalar>& result, const SolveOptions& options,
                     Workspace& workspace, Stream stream) {
  check_solve_mechanism(step, problem, result, options);
  check_workspace(step.mechanism, impl_of(workspace));
  enqueue_given(step, problem, result, options, impl_of(workspace), stream);
}

void solve_mechanism(const EngineStep& step, const ProblemBatch<double>& problem,
                     const ResultBatch<double>& result, const SolveOptions& options,
                     Workspace& workspace, Stream stream) {
  check_engine_step(step, problem, result, options);
  const Workspace::Impl& w = impl_of(workspace);
  check_directions(options, w);
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  check_nv(step.mechanism.nv, w);
  if (problem.num_envs == 0) return;
  enqueue(source_of(step), problem, result, options, std::get<SolvePlans<double>>(w.fused), w,
          stream);
}

void solve_convex(const ProblemBatch<double>& problem, const EngineMechanism& mechanism,
                  EnvArray<const double> start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_engine_convex(problem, mechanism, result, options);
  const Workspace::Impl& w = impl_of(workspace);
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  check_nv(mechanism.nv, w);
  if (problem.num_envs == 0) return;
  enqueue_classes(w.convex, w, stream, problem, mechanism, start, result, options);
}

void round_to_float(const double* from, float* to, std::int32_t count, Stream stream) {
  require(count >= 0, "count", "a number >= 0", count);
  if (count == 0) return;
  const int blocks = (count - 1) / kernels::kRoundThreads + 1;
  launch(kernels::round_kernel(), blocks, kernels::kRoundThreads, 0, stream, from, to, count);
}

template <class Scalar>
void delassus(const MechanismBatch<Scalar>& m, EnvArray<Scalar> W, std::int32_t ld_W,
              std::int32_t* ok, Workspace& workspace, Stream stream) {
  check_mechanism(m);
  if (m.num_envs > 0 && m.max_rows > 0) require_array(W, "W");
  require(ld_W >= m.max_rows, "ld_W", "at least mechanism.max_rows", ld_W);
  require(ok != nullptr || m.num_envs == 0, "ok", "an array", "none");
  const Workspace::Impl& w = impl_of(workspace);
  check_workspace(m, w);
  if (m.num_envs == 0) return;
  const auto& plan = std::get<MechanismPlans<Scalar>>(w.mechanism).delassus;
  launch(plan, stream, m, W, ld_W, ok, scratch_of(plan, w));
}

template <class Scalar>
void apply_impulse(const MechanismBatch<Scalar>& m, EnvArray<const Scalar> impulse,
                   EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next, std::int32_t* ok,
                   Workspace& workspace, Stream stream) {
  check_mechanism(m);
  if (m.num_envs > 0 && m.nv > 0) {
    if (m.max_rows > 0) require_array(impulse, "impulse");
    require_array(v_free, "v_free");
    require_array(v_next, "v_next");
  }
  require(ok != nullptr || m.num_envs == 0, "ok", "an array", "none");
  const Workspace::Impl& w = impl_of(workspace);
  check_workspace(m, w);
  if (m.num_envs == 0) return;
  const auto& plan = std::get<MechanismPlans<Scalar>>(w.mechanism).apply;
  launch(plan, stream, m, impulse, v_free, v_next, ok, scratch_of(plan, w));
}

#define SS_INSTANTIATE(Scalar)                                                                     \
  template void solve(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&,                     \
                      const SolveOptions&, Workspace&, Stream);                                    \
  template void solve_mechanism(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,         \
                                const ResultBatch<Scalar>&, const SolveOptions&, Workspace&,       \
                                Stream);                                                           \
  template void delassus(const MechanismBatch<Scalar>&, EnvArray<Scalar>, std::int32_t,            \
                         std::int32_t*, Workspace&, Stream);                                       \
  template void apply_impulse(const MechanismBatch<Scalar>&, EnvArray<const Scalar>,               \
                              EnvArray<const Scalar>, EnvArray<Scalar>, std::int32_t*, Workspace&, \
                              Stream);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
