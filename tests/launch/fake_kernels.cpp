// The kernels of kernels/gpu/gpu_*.cu on the CPU: the same bodies on a HostGroup, in scratch of
// the size that the launch specifies.
#include "tests/launch/fake_kernels.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/delassus/delassus.hpp"
#include "kernels/env/convex_env.hpp"
#include "kernels/env/gradient_env.hpp"
#include "kernels/env/lcp_env.hpp"
#include "kernels/env/solve_env.hpp"
#include "kernels/env/sparse_env.hpp"
#include "kernels/gpu/gpu_kernels.hpp"
#include "kernels/gpu/work_list.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/problem/contact_friction.hpp"
#include "tests/launch/fake_runtime.hpp"
#include "tests/support/aligned.hpp"

namespace stickslip::fake {

std::vector<int>& solved_by_launch() {
  static std::vector<int> counts;
  return counts;
}

namespace {

using kernels::Arena;
using kernels::HostGroup;

/// Scratch of a group, full of NaN: a launch must not use values that another left there.
class GroupMemory {
 public:
  GroupMemory(const kernels::GroupScratch& scratch, std::size_t shared_bytes)
      : own_(scratch.bytes) {
    if (shared_bytes > 0 && scratch.bytes > shared_bytes)
      throw std::runtime_error("less shared memory than a group needs");
    std::memset(own_.data(), 0xff, scratch.bytes);
  }
  Arena arena() { return Arena(own_.data()); }

 private:
  support::AlignedBytes own_;
};

template <class Scalar>
void note(const kernels::WorkList& work, const ProblemBatch<Scalar>& batch,
          const ResultBatch<Scalar>& result, int env) {
  kernels::note_result(HostGroup{}, work, batch, result, env,
                       [](std::int32_t* end) { return (*end)++; });
}

template <class Real, class Factor, class Scalar, kernels::KernelVariant kVariant>
void solve_list(const LaunchShape& shape, const ProblemBatch<Scalar>& batch,
                const ResultBatch<Scalar>& result, const kernels::Ladder& ladder,
                const kernels::MatrixSource<Scalar>& source, const kernels::GroupScratch& scratch,
                const kernels::WorkList& work) {
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::EnvScratch<Real, Factor, Scalar, kVariant> place(
      memory.arena(), scratch.max_rows, scratch.max_contacts, scratch.directions, scratch.matrix);
  solved_by_launch().push_back(*work.end - *work.next);
  for (int ticket = *work.next; ticket < *work.end; ticket = ++*work.next) {
    kernels::solve_env<Real, Factor>(HostGroup{}, batch, result, ladder, work.envs[ticket], place,
                                     kernels::rungs_of(kVariant), source);
    note(work, batch, result, work.envs[ticket]);
  }
}

void solve_sparse(const LaunchShape& /*shape*/, const ProblemBatch<double>& batch,
                  const ResultBatch<double>& result, const kernels::Ladder& ladder,
                  const kernels::MatrixSource<double>& source, const kernels::GroupScratch& scratch,
                  const kernels::WorkList& work) {
  GroupMemory memory(scratch, 0);
  const HostGroup g;
  solved_by_launch().push_back(*work.end - *work.next);
  for (int ticket = *work.next; ticket < *work.end; ticket = ++*work.next) {
    auto& place = kernels::SparseEnvScratch::make(g, memory.arena(), source.engine.nv,
                                                  scratch.max_rows, scratch.max_contacts);
    kernels::solve_sparse_env(g, source, batch, result, ladder, work.envs[ticket], place);
    note(work, batch, result, work.envs[ticket]);
  }
}

void solve_convex(const LaunchShape& shape, const ProblemBatch<double>& batch,
                  const EngineMechanism& mechanism, const EnvArray<const double>& start,
                  const ResultBatch<double>& result, const SolveOptions& options,
                  const kernels::GroupScratch& scratch, const kernels::WorkList& work) {
  GroupMemory memory(scratch, shape.shared_bytes);
  Arena arena = memory.arena();
  kernels::EngineConvexScratch place(arena, mechanism.nv, scratch.max_rows, scratch.max_contacts);
  if (arena.used() > scratch.bytes) throw std::runtime_error("less scratch than the solve needs");
  for (int ticket = *work.next; ticket < *work.end; ticket = ++*work.next) {
    kernels::solve_convex(HostGroup{}, batch, mechanism, start, result, options, work.envs[ticket],
                          place);
    note(work, batch, result, work.envs[ticket]);
  }
}

/// Calls f(env, scratch) for every environment of the list.
template <class Scalar, class F>
void for_gradients(const LaunchShape& shape, const kernels::GroupScratch& scratch,
                   const kernels::WorkList& work, F&& f) {
  GroupMemory memory(scratch, shape.shared_bytes);
  kernels::GradientEnv<Scalar> place(memory.arena(), scratch.max_rows, scratch.max_contacts,
                                     scratch.matrix.nv);
  if (place.step.end() > scratch.bytes) throw std::runtime_error("less scratch than is needed");
  for (int ticket = *work.next; ticket < *work.end; ticket = ++*work.next)
    f(work.envs[ticket], place);
}

template <class Scalar>
void vjp(const LaunchShape& shape, const ProblemBatch<Scalar>& batch,
         const MechanismStep<Scalar>& step, const SolutionBatch<Scalar>& solution,
         const StepLoss<Scalar>& loss, const StepGradient<Scalar>& out, const SolveOptions& options,
         const kernels::GroupScratch& scratch, const kernels::WorkList& work) {
  for_gradients<Scalar>(shape, scratch, work, [&](int env, auto& place) {
    kernels::vjp_env(HostGroup{}, batch, step, solution, loss, out, options, env, place);
  });
}

template <class Scalar>
void jvp(const LaunchShape& shape, const ProblemBatch<Scalar>& batch,
         const SolutionBatch<Scalar>& solution, const ChangeBatch<Scalar>& change,
         const SolutionChange<Scalar>& out, const SolveOptions& options,
         const kernels::GroupScratch& scratch, const kernels::WorkList& work) {
  for_gradients<Scalar>(shape, scratch, work, [&](int env, auto& place) {
    kernels::jvp_env(HostGroup{}, batch, solution, change, out, options, env, place);
  });
}

/// A kernel of a function of each environment.
template <class Scalar, auto function>
void for_environments(const LaunchShape& shape, const ProblemBatch<Scalar>& problem,
                      const EnvArray<const Scalar>& from, const EnvArray<Scalar>& to) {
  if (shape.blocks * shape.threads < problem.num_envs) throw std::runtime_error("too few threads");
  for (int env = 0; env < problem.num_envs; ++env) function(problem, from, to, env);
}

void round_numbers(const LaunchShape& shape, const double* const& from, float* const& to,
                   const int& count) {
  if (shape.blocks * shape.threads < count) throw std::runtime_error("too few threads");
  for (int i = 0; i < count; ++i) to[i] = float(from[i]);
}

template <class Scalar>
void form(const LaunchShape& shape, const MechanismBatch<Scalar>& batch, const EnvArray<Scalar>& W,
          const int& ld_W, std::int32_t* const& ok, const kernels::GroupScratch& scratch) {
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::DelassusScratch<Scalar> place(memory.arena(), batch.nv, scratch.max_rows);
  for (int env = 0; env < batch.num_envs; ++env) {
    kernels::form_delassus(HostGroup{}, batch, W, ld_W, ok, env, place);
  }
}

template <class Scalar>
void apply(const LaunchShape& shape, const MechanismBatch<Scalar>& batch,
           const EnvArray<const Scalar>& impulse, const EnvArray<const Scalar>& v_free,
           const EnvArray<Scalar>& v_next, std::int32_t* const& ok,
           const kernels::GroupScratch& scratch) {
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::DelassusScratch<Scalar> place(memory.arena(), batch.nv, scratch.max_rows);
  for (int env = 0; env < batch.num_envs; ++env) {
    kernels::apply_env_impulse(HostGroup{}, batch, impulse, v_free, v_next, ok, env, place);
  }
}

template <class Real, class Scalar>
void solve_lcps(const LaunchShape& shape, const LcpBatch<Scalar>& batch,
                const LcpResult<Scalar>& result, const LcpOptions& options,
                const kernels::GroupScratch& scratch, std::int32_t* const& next) {
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::LcpScratch<Real, Scalar> place(
      memory.arena(), scratch.max_rows,
      kernels::standard_rows(scratch.max_rows, batch.lo.data != nullptr));
  for (int env = *next; env < batch.num_envs; env = ++*next)
    kernels::solve_lcp_env<Real>(HostGroup{}, batch, result, options, env, place);
}

}  // namespace
}  // namespace stickslip::fake

namespace stickslip::kernels {

template <class Real, class Factor, class Scalar, KernelVariant kVariant>
SolveKernels<Scalar> solve_kernels() {
  const SolveKernel<Scalar> solve =
      fake::kernel<&fake::solve_list<Real, Factor, Scalar, kVariant>>();
  const bool few = kVariant == KernelVariant::general;
  return {.narrow = few || kVariant == KernelVariant::later ? nullptr : solve,
          .wide = few ? nullptr : solve,
          .pair = has_pairs(kVariant, sizeof(Real)) ? solve : nullptr,
          .block = few ? nullptr : solve,
          .block_global = solve,
          .bytes = &EnvScratch<Real, Factor, Scalar, kVariant>::bytes,
          .narrow_rows = narrow_rows_of(kVariant),
          .narrow_envs = narrow_envs_of(kVariant),
          .most_warps = most_warps(kVariant, sizeof(Real))};
}
template SolveKernels<double> solve_kernels<double, double, double, KernelVariant::sweeping>();
template SolveKernels<double> solve_kernels<float, float, double, KernelVariant::sweeping>();
template SolveKernels<float> solve_kernels<float, float, float, KernelVariant::sweeping>();
template SolveKernels<double> solve_kernels<double, double, double, KernelVariant::rung0>();
template SolveKernels<double> solve_kernels<double, float, double, KernelVariant::rung0>();
template SolveKernels<double> solve_kernels<float, float, double, KernelVariant::rung0>();
template SolveKernels<float> solve_kernels<float, float, float, KernelVariant::rung0>();
template SolveKernels<double> solve_kernels<double, double, double, KernelVariant::later>();
template SolveKernels<double> solve_kernels<float, float, double, KernelVariant::later>();
template SolveKernels<float> solve_kernels<float, float, float, KernelVariant::later>();
template SolveKernels<double> solve_kernels<double, double, double, KernelVariant::pivoting>();
template SolveKernels<double> solve_kernels<double, float, double, KernelVariant::pivoting>();
template SolveKernels<double> solve_kernels<float, float, double, KernelVariant::pivoting>();
template SolveKernels<float> solve_kernels<float, float, float, KernelVariant::pivoting>();
template SolveKernels<double> solve_kernels<double, double, double, KernelVariant::general>();
template SolveKernels<float> solve_kernels<float, float, float, KernelVariant::general>();

template <class Scalar>
MechanismKernels<Scalar> mechanism_kernels() {
  const auto form = fake::kernel<&fake::form<Scalar>>();
  const auto apply = fake::kernel<&fake::apply<Scalar>>();
  return {{form, form}, {apply, apply}, &DelassusScratch<Scalar>::bytes};
}
template MechanismKernels<double> mechanism_kernels<double>();
template MechanismKernels<float> mechanism_kernels<float>();

template <class Real, class Scalar>
LcpKernels<Scalar> lcp_kernels() {
  const auto solve = fake::kernel<&fake::solve_lcps<Real, Scalar>>();
  return {solve, solve, [](int max_rows, bool boxed) {
            return LcpScratch<Real, Scalar>::bytes(max_rows, standard_rows(max_rows, boxed));
          }};
}
template LcpKernels<double> lcp_kernels<double, double>();
template LcpKernels<double> lcp_kernels<float, double>();
template LcpKernels<float> lcp_kernels<float, float>();

SolveKernels<double> sparse_kernels() {
  return {.block_global = fake::kernel<&fake::solve_sparse>(), .bytes = &sparse_bytes};
}

GroupKernels<ConvexKernel> convex_kernels() {
  const auto solve = fake::kernel<&fake::solve_convex>();
  return {.wide = solve, .block = solve, .block_global = solve, .bytes = &convex_bytes};
}

template <class Scalar>
GradientKernels<Scalar> gradient_kernels() {
  const auto vjp = fake::kernel<&fake::vjp<Scalar>>();
  const auto jvp = fake::kernel<&fake::jvp<Scalar>>();
  return {{.wide = vjp, .block_global = vjp, .bytes = &gradient_bytes<Scalar>},
          {.wide = jvp, .block_global = jvp, .bytes = &gradient_bytes<Scalar>}};
}
template GradientKernels<double> gradient_kernels<double>();
template GradientKernels<float> gradient_kernels<float>();

template <class Scalar>
FrictionKernels<Scalar> friction_kernels() {
  return {fake::kernel<&fake::for_environments<Scalar, &spread_friction<Scalar>>>(),
          fake::kernel<&fake::for_environments<Scalar, &sum_friction<Scalar>>>()};
}
template FrictionKernels<double> friction_kernels<double>();
template FrictionKernels<float> friction_kernels<float>();

RoundKernel round_kernel() { return fake::kernel<&fake::round_numbers>(); }

}  // namespace stickslip::kernels
