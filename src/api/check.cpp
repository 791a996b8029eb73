#include "src/api/check.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "kernels/problem/env_problem.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

void require_memory(double bytes, const char* arguments) {
  static const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return;
  const auto gigabytes = [](double amount) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g GB", amount / 1e9);
    return std::string(text);
  };
  const std::string expected = "sizes that fit this machine's memory, " + gigabytes(memory);
  require(false, arguments, expected.c_str(), gigabytes(bytes));
}

template <class Scalar>
void check_problem(const ProblemBatch<Scalar>& p, MatrixOf matrix) {
  require(p.num_envs >= 0, "problem.num_envs", "a number >= 0", p.num_envs);
  require(p.max_rows >= 0, "problem.max_rows", "a number >= 0", p.max_rows);
  require(p.max_contacts >= 0, "problem.max_contacts", "a number >= 0", p.max_contacts);
  require(p.ld_W == 0 || p.ld_W >= p.max_rows, "problem.ld_W", "0 or at least max_rows", p.ld_W);
  if (p.num_envs == 0) return;
  require_array(p.counts, "problem.counts");
  if (p.max_rows == 0) return;
  if (matrix == MatrixOf::problem) require_array(p.W, "problem.W");
  require_array(p.b, "problem.b");
  if (p.max_contacts > 0) require_array(p.mu, "problem.mu");
  require((p.lo.data == nullptr) == (p.hi.data == nullptr), "problem.lo, problem.hi",
          "both or neither", "one of them");
}

template <class Scalar>
void check_solve(const ProblemBatch<Scalar>& p, const ResultBatch<Scalar>& r, const SolveOptions& o,
                 MatrixOf matrix) {
  check_problem(p, matrix);
  if (p.num_envs > 0) {
    if (p.max_rows > 0) require_array(r.impulse, "result.impulse");
    // Slots that overlap, as with the stride 0 of a forgotten one, would be written by two threads.
    require(p.num_envs == 1 || r.impulse.stride >= p.max_rows, "result.impulse.stride",
            "at least max_rows", r.impulse.stride);
    require(r.residual != nullptr, "result.residual", "an array", "none");
    require(r.status != nullptr, "result.status", "an array", "none");
    require(r.iterations != nullptr, "result.iterations", "an array", "none");
  }
  check_options(o);
}

void check_options(const SolveOptions& o) {
  require(name(o.solver) != std::string("unknown"), "options.solver", "auto, pgs, newton or lemke",
          std::int32_t(o.solver));
  if (!supports(o.solver, o.law)) {
    const std::string expected = std::string("a law that solver ") + name(o.solver) + " supports";
    require(false, "options.law", expected.c_str(), name(o.law));
  }
  const auto precision = std::int32_t(o.precision);
  require(precision >= 0 && precision < 3, "options.precision", "float64, float32 or mixed",
          name(o.precision));
  require(o.max_sweeps >= 0, "options.max_sweeps", "a number >= 0", o.max_sweeps);
  require(o.max_newton >= 0, "options.max_newton", "a number >= 0", o.max_newton);
  require(o.max_rung >= 0, "options.max_rung", "a number >= 0", o.max_rung);
  require(std::isfinite(o.max_work) && o.max_work >= 0.0, "options.max_work",
          "a finite number >= 0", o.max_work);
  require(!o.fixed_sweeps || o.solver == Solver::pgs, "options.fixed_sweeps",
          "solver pgs, the only one that counts sweeps", name(o.solver));
  require(o.max_pivots >= 0, "options.max_pivots", "a number >= 0", o.max_pivots);
  require(!o.fixed_pivots || o.solver == Solver::lemke, "options.fixed_pivots",
          "solver lemke, the only one that counts pivots", name(o.solver));
  check_directions(o.directions, "options.directions");
  check_tolerances(o.atol, o.rtol);
}

void check_tolerances(double atol, double rtol) {
  require(std::isfinite(atol), "options.atol", "a finite number", atol);
  require(std::isfinite(rtol), "options.rtol", "a finite number", rtol);
}

void check_directions(std::int32_t directions, const char* argument) {
  const bool power = directions > 0 && (directions & (directions - 1)) == 0;
  require(power && directions >= 4 && directions <= 64, argument, "4, 8, 16, 32 or 64", directions);
}

template <class Scalar>
void check_bounds(const ProblemBatch<Scalar>& p) {
  if (p.lo.data != nullptr) return;
  for (std::int64_t env = 0; env < p.num_envs; ++env) {
    const RowCounts& counts = p.counts.data[env * p.counts.stride];
    const std::int32_t* dims = p.dims.data ? p.dims.data + env * p.dims.stride : nullptr;
    const bool beyond = counts.n_contacts > p.max_contacts ||  // over_capacity: bounds are not read
                        kernels::rows_of(counts, dims, p.max_contacts) > p.max_rows;
    require(counts.n_box <= 0 || beyond, "problem.lo, problem.hi",
            "arrays, because an environment has box rows", "none");
  }
}

template <class Scalar>
void check_mechanism(const MechanismBatch<Scalar>& m) {
  require(m.num_envs >= 0, "mechanism.num_envs", "a number >= 0", m.num_envs);
  require(m.nv >= 0, "mechanism.nv", "a number >= 0", m.nv);
  require(m.max_rows >= 0, "mechanism.max_rows", "a number >= 0", m.max_rows);
  if (m.num_envs == 0 || m.nv == 0) return;
  require_array(m.M, "mechanism.M");
  if (m.max_rows > 0) require_array(m.J, "mechanism.J");
}

template <class Scalar>
void check_solve_mechanism(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& p,
                           const ResultBatch<Scalar>& r, const SolveOptions& o) {
  const MechanismBatch<Scalar>& m = step.mechanism;
  check_solve(p, r, o, MatrixOf::mechanism);
  check_mechanism_of(m, p);
  if (m.num_envs == 0 || m.nv == 0 || step.v_next.data == nullptr) return;
  require_array(step.v_free, "v_free");
}

template <class Scalar>
void check_mechanism_of(const MechanismBatch<Scalar>& m, const ProblemBatch<Scalar>& p) {
  check_mechanism(m);
  require(p.W.data == nullptr, "problem.W", "none, because the mechanism has it", "an array");
  require(m.rows.data == nullptr, "mechanism.rows", "none, because problem.counts has them",
          "an array");
  require(m.num_envs == p.num_envs, "mechanism.num_envs", "that of the problem", m.num_envs);
  require(m.max_rows == p.max_rows, "mechanism.max_rows", "that of the problem", m.max_rows);
}

void check_engine_step(const EngineStep& step, const ProblemBatch<double>& p,
                       const ResultBatch<double>& r, const SolveOptions& o) {
  const EngineMechanism& m = step.mechanism;
  check_solve(p, r, o, MatrixOf::mechanism);
  require(p.W.data == nullptr, "problem.W", "none, because the mechanism has it", "an array");
  require(m.num_envs == p.num_envs, "mechanism.num_envs", "that of the problem", m.num_envs);
  require(m.nv >= 0, "mechanism.nv", "a number >= 0", m.nv);
  if (m.num_envs == 0 || m.nv == 0) return;
  require_array(m.M, "mechanism.M");
  require(m.tree.n == 0 || m.tree.n == m.nv, "mechanism.tree.n", "0 or nv", m.tree.n);
  const TreeSparsity& tree = m.tree;
  require(tree.n == 0 || (tree.row_nnz && tree.row_adr && tree.col), "mechanism.tree", "arrays",
          "none");
  if (step.v_next.data != nullptr) require_array(step.v_free, "v_free");
  if (p.max_rows == 0) return;
  require_array(m.J, "mechanism.J");
  require(m.ld_J == 0 || m.ld_J >= m.nv, "mechanism.ld_J", "0 or at least nv", m.ld_J);
  require(m.row_of.data != nullptr || m.J_rows >= p.max_rows, "mechanism.J_rows",
          "at least problem.max_rows, because row_of is absent", m.J_rows);
  const int given =
      (m.J_nnz.data != nullptr) + (m.J_adr.data != nullptr) + (m.J_col.data != nullptr);
  require(given == 0 || given == 3, "mechanism.J_nnz, J_adr, J_col", "all or none of them", given);
}

void check_engine_convex(const ProblemBatch<double>& p, const EngineMechanism& m,
                         const ResultBatch<double>& r, const SolveOptions& o) {
  check_engine_step({m, {}, {}}, p, r, o);
  require(o.law == Law::convex, "options.law", "convex", name(o.law));
  if (m.num_envs == 0 || m.nv == 0) return;
  require(m.tree.n == m.nv, "mechanism.tree.n", "nv, because M is read along the tree", m.tree.n);
  const std::int64_t most = std::int64_t(m.nv) * (m.nv + 1) / 2;
  require(m.M_size >= 0 && m.M_size <= most, "mechanism.M_size", "at most nv (nv + 1) / 2",
          m.M_size);
}

template void check_problem(const ProblemBatch<double>&, MatrixOf);
template void check_problem(const ProblemBatch<float>&, MatrixOf);
template void check_solve_mechanism(const MechanismStep<double>&, const ProblemBatch<double>&,
                                    const ResultBatch<double>&, const SolveOptions&);
template void check_solve_mechanism(const MechanismStep<float>&, const ProblemBatch<float>&,
                                    const ResultBatch<float>&, const SolveOptions&);
template void check_mechanism_of(const MechanismBatch<double>&, const ProblemBatch<double>&);
template void check_mechanism_of(const MechanismBatch<float>&, const ProblemBatch<float>&);
template void check_bounds(const ProblemBatch<double>&);
template void check_bounds(const ProblemBatch<float>&);
template void check_solve(const ProblemBatch<double>&, const ResultBatch<double>&,
                          const SolveOptions&, MatrixOf);
template void check_solve(const ProblemBatch<float>&, const ResultBatch<float>&,
                          const SolveOptions&, MatrixOf);
template void check_mechanism(const MechanismBatch<double>&);
template void check_mechanism(const MechanismBatch<float>&);

}  // namespace stickslip
