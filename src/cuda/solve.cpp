// Enqueues solves. Nothing here allocates, waits, or reads results of the device.
#include "kernels/law/dispatch.hpp"
#include "src/batch/check.hpp"
#include "src/batch/matrix_sources.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/workspace.hpp"

namespace stickslip::cuda {

namespace {

kernels::GroupScratch scratch_of(const LaunchPlan& plan, const Workspace::Impl& w) {
  return {plan.max_rows, plan.max_contacts, plan.directions,
          plan.nv,       plan.group_bytes,  w.scratch_memory()};
}

void check_workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts,
                     const Workspace::Impl& w) {
  require(w.num_envs >= num_envs, "workspace.num_envs", "at least the batch's num_envs",
          w.num_envs);
  require(w.max_rows >= max_rows, "workspace.max_rows", "at least the batch's max_rows",
          w.max_rows);
  require(w.max_contacts >= max_contacts, "workspace.max_contacts",
          "at least the batch's max_contacts", w.max_contacts);
}

/// A workspace without memory for mechanisms has nv -1.
template <class In>
void check_workspace(const MechanismBatch<In>& m, const Workspace::Impl& w) {
  check_workspace(m.num_envs, m.max_rows, 0, w);
  require(w.nv >= m.nv, "workspace.nv", "at least the mechanism's nv", w.nv);
}

/// The lists of work of one pass: their addresses, and how environments are added to them.
class WorkLists {
 public:
  WorkLists(const Workspace::Impl& w, std::int32_t num_envs, int pass)
      : w_(w),
        num_envs_(num_envs),
        envs_(static_cast<std::int32_t*>(w.envs.data())),
        counters_(static_cast<std::int32_t*>(w.counters.data()) + 2 * pass * w.classes.count) {}

  /// Lists the environments by class: all, or, if `status` is given, those that are unsolved.
  template <class In>
  void fill(const ProblemBatch<In>& p, const EnvStatus* status, Stream stream) const {
    const int blocks = (num_envs_ + kernels::kListThreads - 1) / kernels::kListThreads;
    launch(kernels::list_kernel(), blocks, kernels::kListThreads, 0, stream, p.shape, p.dims,
           p.num_envs, p.max_rows, p.max_contacts, w_.classes, status, envs_, counters_);
  }
  kernels::WorkList operator[](int c) const {
    return {envs_ + std::int64_t(c) * num_envs_, counters_ + c, counters_ + w_.classes.count + c};
  }

 private:
  const Workspace::Impl& w_;
  std::int32_t num_envs_;
  std::int32_t *envs_, *counters_;
};

template <class In>
void enqueue(const kernels::MatrixSource<In>& source, const ProblemBatch<In>& problem,
             const ResultBatch<In>& result, const kernels::Ladder& ladder, const Plans& plans,
             const Workspace::Impl& w, Stream stream) {
  SS_CUDA(cudaMemsetAsync(w.counters.data(), 0, w.counters.bytes(), stream));
  const Passes passes = passes_of(ladder, w.directions);
  for (int pass = 0; pass < passes.count; ++pass) {
    const WorkLists lists(w, problem.num_envs, pass);
    lists.fill(problem, pass == 0 ? nullptr : result.status, stream);
    int c = 0;
    for (const LaunchPlan& plan :
         plans.of(passes.programs[pass], types_of<In>(ladder.options.precision)))
      launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, problem, result,
             ladder, source, scratch_of(plan, w), lists[c++]);
  }
}

void check_directions(const SolveOptions& options, const Workspace::Impl& w) {
  if (kernels::lcp_directions(options) <= 4) return;
  require(w.directions >= options.directions, "workspace.directions", "at least options.directions",
          w.directions);
}

/// A solve of the caller's arrays, in double or in float.
template <class In>
void enqueue_given(const MechanismStep<In>& step, const ProblemBatch<In>& problem,
                   const ResultBatch<In>& result, const SolveOptions& options,
                   const Workspace::Impl& w, Stream stream) {
  check_directions(options, w);
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  if (problem.num_envs == 0) return;
  if constexpr (sizeof(In) == 4) {
    if (options.precision != Precision::fp32) {
      require(w.float_storage, "workspace.float_storage",
              "true, because arrays in float are solved in double", "false");
      const auto results = widened(result, problem, static_cast<double*>(w.impulses.data()));
      enqueue(source_of(problem, result, step), shape_of(problem), results, options, w.fused, w,
              stream);
      return;
    }
  }
  enqueue(source_of(step), problem, result, options,
          step.mechanism.num_envs > 0 ? w.fused : w.given, w, stream);
}

}  // namespace

template <class In>
void solve(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
           const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_solve(problem, result, options);
  enqueue_given({}, problem, result, options, impl_of(workspace), stream);
}

template <class In>
void solve_mechanism(const MechanismStep<In>& step, const ProblemBatch<In>& problem,
                     const ResultBatch<In>& result, const SolveOptions& options,
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
  require(w.nv >= step.mechanism.nv, "workspace.nv", "at least the mechanism's nv", w.nv);
  if (problem.num_envs == 0) return;
  enqueue(source_of(step), problem, result, options, w.fused, w, stream);
}

void solve_convex(const ProblemBatch<double>& problem, const EngineMechanism& mechanism,
                  EnvArray<const double> start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace, Stream stream) {
  check_engine_convex(problem, mechanism, result, options);
  const Workspace::Impl& w = impl_of(workspace);
  check_workspace(problem.num_envs, problem.max_rows, problem.max_contacts, w);
  require(w.nv >= mechanism.nv, "workspace.nv", "at least the mechanism's nv", w.nv);
  if (problem.num_envs == 0) return;
  SS_CUDA(cudaMemsetAsync(w.counters.data(), 0, w.counters.bytes(), stream));
  const WorkLists lists(w, problem.num_envs, 0);
  lists.fill(problem, nullptr, stream);
  int c = 0;
  for (const LaunchPlan& plan : w.convex)
    launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, problem, mechanism,
           start, result, options, scratch_of(plan, w), lists[c++]);
}

void round_to_float(const double* from, float* to, std::int32_t count, Stream stream) {
  require(count >= 0, "count", "a number >= 0", count);
  if (count == 0) return;
  const int blocks = (count - 1) / kernels::kRoundThreads + 1;
  launch(kernels::round_kernel(), blocks, kernels::kRoundThreads, 0, stream, from, to, count);
}

template <class In>
void delassus(const MechanismBatch<In>& m, EnvArray<In> W, std::int32_t ld_W, std::int32_t* ok,
              Workspace& workspace, Stream stream) {
  check_mechanism(m);
  if (m.num_envs > 0 && m.max_rows > 0) require_array(W, "W");
  require(ld_W >= m.max_rows, "ld_W", "at least mechanism.max_rows", ld_W);
  require(ok != nullptr || m.num_envs == 0, "ok", "an array", "none");
  const Workspace::Impl& w = impl_of(workspace);
  check_workspace(m, w);
  if (m.num_envs == 0) return;
  const LaunchPlan& plan = w.mechanism_plans<In>().delassus;
  launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, m, W, ld_W, ok,
         scratch_of(plan, w));
}

template <class In>
void apply_impulse(const MechanismBatch<In>& m, EnvArray<const In> impulse,
                   EnvArray<const In> v_free, EnvArray<In> v_next, std::int32_t* ok,
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
  const LaunchPlan& plan = w.mechanism_plans<In>().apply;
  launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, m, impulse, v_free,
         v_next, ok, scratch_of(plan, w));
}

#define SS_INSTANTIATE(In)                                                                        \
  template void solve(const ProblemBatch<In>&, const ResultBatch<In>&, const SolveOptions&,       \
                      Workspace&, Stream);                                                        \
  template void solve_mechanism(const MechanismStep<In>&, const ProblemBatch<In>&,                \
                                const ResultBatch<In>&, const SolveOptions&, Workspace&, Stream); \
  template void delassus(const MechanismBatch<In>&, EnvArray<In>, std::int32_t, std::int32_t*,    \
                         Workspace&, Stream);                                                     \
  template void apply_impulse(const MechanismBatch<In>&, EnvArray<const In>, EnvArray<const In>,  \
                              EnvArray<In>, std::int32_t*, Workspace&, Stream);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
