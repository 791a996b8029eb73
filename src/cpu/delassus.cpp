#include "stickslip/delassus.hpp"

#include "src/api/check.hpp"
#include "src/cpu/workspace.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip {

namespace {

/// Runs f(kernels, begin, end, scratch) over the batch with scratch for its mechanism.
template <class Scalar, class F>
void for_mechanisms(const MechanismBatch<Scalar>& m, std::int32_t* ok, Workspace& workspace,
                    F&& f) {
  check_mechanism(m);
  require(ok != nullptr || m.num_envs == 0, "ok", "an array", "none");
  const auto& kernels = kernels::typed<Scalar>(kernels::kernel_table());
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.reserve(kernels.delassus_bytes(m.nv, m.max_rows));
  memory.for_chunks(m.num_envs, memory.work_of(std::max(m.nv, m.max_rows)),
                    [&](std::int64_t begin, std::int64_t end, void* scratch) {
                      f(kernels, begin, end, scratch);
                    });
}

}  // namespace

template <class Scalar>
void delassus(const MechanismBatch<Scalar>& m, EnvArray<Scalar> W, std::int32_t ld_W,
              std::int32_t* ok, Workspace& workspace) {
  if (m.num_envs > 0 && m.max_rows > 0) require_array(W, "W");
  require(ld_W >= m.max_rows, "ld_W", "at least mechanism.max_rows", ld_W);
  for_mechanisms(m, ok, workspace, [&](const auto& kernels, auto begin, auto end, void* scratch) {
    kernels.delassus(m, W, ld_W, ok, begin, end, scratch);
  });
}

void delassus(const SparseMechanism& m, double* W, std::int32_t ld_W, Workspace& workspace) {
  require(m.tree.n >= 0, "mechanism.tree.n", "a number >= 0", m.tree.n);
  require(m.rows >= 0, "mechanism.rows", "a number >= 0", m.rows);
  require(ld_W >= m.rows, "ld_W", "at least mechanism.rows", ld_W);
  const auto& kernels = kernels::kernel_table();
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.reserve(kernels.sparse_delassus_bytes(m.tree.n, std::max(m.rows, workspace.max_rows())));
  kernels.sparse_delassus(m, W, ld_W, memory.scratch(0));
}

void solve_convex(const ProblemBatch<double>& problem, const SparseMechanism& m,
                  const double* start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace) {
  require(problem.num_envs == 1, "problem.num_envs", "1", problem.num_envs);
  require(options.law == Law::convex, "options.law", "convex", int(options.law));
  require(start != nullptr || m.tree.n == 0, "start", "an array", "none");
  const auto& kernels = kernels::kernel_table();
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.reserve(kernels.solve_convex_bytes(m.tree.n, problem.max_rows, problem.max_contacts));
  kernels.solve_convex(problem, m, start, result, options, memory.scratch(0));
}

void solve_convex(const ProblemBatch<double>& problem, const EngineMechanism& m,
                  EnvArray<const double> start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace) {
  check_engine_convex(problem, m, result, options);
  check_bounds(problem);
  const auto& kernels = kernels::kernel_table();
  Workspace::Impl& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.reserve(kernels.solve_engine_convex_bytes(m.nv, problem.max_rows, problem.max_contacts));
  memory.for_chunks(problem.num_envs, memory.work_of(std::max(m.nv, problem.max_rows)),
                    [&](std::int64_t begin, std::int64_t end, void* scratch) {
                      kernels.solve_engine_convex(problem, m, start, result, options, begin, end,
                                                  scratch);
                    });
}

template <class Scalar>
void apply_impulse(const MechanismBatch<Scalar>& m, EnvArray<const Scalar> impulse,
                   EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next, std::int32_t* ok,
                   Workspace& workspace) {
  if (m.num_envs > 0 && m.nv > 0) {
    if (m.max_rows > 0) require_array(impulse, "impulse");
    require_array(v_free, "v_free");
    require_array(v_next, "v_next");
  }
  for_mechanisms(m, ok, workspace, [&](const auto& kernels, auto begin, auto end, void* scratch) {
    kernels.apply(m, impulse, v_free, v_next, ok, begin, end, scratch);
  });
}

template void delassus(const MechanismBatch<double>&, EnvArray<double>, std::int32_t, std::int32_t*,
                       Workspace&);
template void delassus(const MechanismBatch<float>&, EnvArray<float>, std::int32_t, std::int32_t*,
                       Workspace&);
template void apply_impulse(const MechanismBatch<double>&, EnvArray<const double>,
                            EnvArray<const double>, EnvArray<double>, std::int32_t*, Workspace&);
template void apply_impulse(const MechanismBatch<float>&, EnvArray<const float>,
                            EnvArray<const float>, EnvArray<float>, std::int32_t*, Workspace&);

}  // namespace stickslip
