// One environment of law `convex` from its mechanism to its verdict, without forming W: the
// residual needs only the diagonal of W and the velocities W r + b = J M^-1 J^T r + b.
#pragma once
#include "kernels/delassus/tree.hpp"
#include "kernels/delassus/widen_mechanism.hpp"
#include "kernels/env/solve_env.hpp"
#include "kernels/solver/newton/velocity.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct ConvexScratch {
  ViewScratch<double> view;
  Judge<double> judge;
  JudgeMemory<double> judge_memory;
  Scaled<double> scaled;  ///< without its matrix
  TreeScratch tree;
  double* diagonal;                         ///< [rows] of W
  double *change, *left, *partial, *reach;  ///< [nv]
  VelocityNewton newton;

  SS_HD ConvexScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : view(arena, max_rows, max_contacts),
        judge(arena),
        judge_memory(arena, max_rows),
        scaled(arena, max_rows, max_contacts, 0),
        tree(arena, nv, max_rows),
        diagonal(arena.take<double>(padded(max_rows))),
        change(arena.take<double>(nv)),
        left(arena.take<double>(nv)),
        partial(arena.take<double>(nv)),
        reach(arena.take<double>(nv)),
        newton(arena, nv, max_rows) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    ConvexScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

/// u_R of impulses r without W: u = J x + R r + b, M x = J^T r.
struct SparseVelocity {
  const EnvProblem<double>& p;
  const SparseMechanism& m;
  double* change;                  ///< [nv] x
  double *left, *partial, *reach;  ///< [nv] scratch
  template <class G>
  SS_HD void operator()(const G& g, const double* r, double* u) const {
    g.for_each(m.tree.n, [&](int k) { change[k] = 0.0; });
    add_J_transposed(
        g, m, [&](int i) { return r[i]; }, change);
    solve_ltdl(g, m.tree, m.L, m.D_inv, change);
    multiply_J(g, m, change,
               [&](int i, double sum) { u[i] = sum + fma(p.compliance(i), r[i], p.b[i]); });
  }

  template <class G>
  SS_HD void operator()(const G& g, const double* r, double* u, double* e) const {
    (*this)(g, r, u);
    error(g, r, e);
  }

  /// Bound of the errors of u; x must belong to u. With y = J^T r - M x, the error of J_i x is J_i
  /// M^-1 y, at most sqrt(W_ii) sum_k |y_k| sqrt((M^-1)_kk). Running error of sums: at most half an
  /// ulp of every partial sum (Higham 2002, section 3.3).
  template <class G>
  SS_HD void error(const G& g, const double* r, double* e) const {
    double off = 0.0;
    left_over(g, r);
    for (int k = 0; k < m.tree.n; ++k) {
      off = fma(fma(kUnit, partial[k], abs(left[k])), sqrt(inverse_diagonal(g, k)), off);
    }
    g.for_each(p.n, [&](int i) {
      double sum = 0.0, sizes = 0.0;
      for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) {
        sum = fma(m.J[c], change[m.J_col[c]], sum);
        sizes += abs(sum);
      }
      const double rest = fma(p.compliance(i), r[i], p.b[i]);
      sizes += abs(rest) + abs(sum + rest);
      e[i] = fma(kUnit, sizes, 1.01 * sqrt(p.w(i, i)) * off);
    });
  }

 private:
  static constexpr double kUnit = 1.01 * kRoundoff;  ///< includes second-order terms

  /// left = J^T r - M x, and the sizes of its partial sums.
  template <class G>
  SS_HD void left_over(const G& g, const double* r) const {
    const TreeSparsity& t = m.tree;
    const auto add = [&](int k, double a, double b) {
      left[k] = fma(a, b, left[k]);
      partial[k] += abs(left[k]);
    };
    g.once([&] {
      for (int k = 0; k < t.n; ++k) left[k] = partial[k] = 0.0;
      for (int i = 0; i < m.rows; ++i) {
        for (int c = m.J_row[i]; c < m.J_row[i + 1]; ++c) add(m.J_col[c], m.J[c], r[i]);
      }
      for (int i = 0; i < t.n; ++i) {
        const int end = t.row_adr[i] + t.row_nnz[i] - 1;
        for (int c = t.row_adr[i]; c < end; ++c) {
          add(t.col[c], -m.M[c], change[i]);
          add(i, -m.M[c], change[t.col[c]]);
        }
        add(i, -m.M[end], change[i]);
      }
    });
  }

  /// (M^-1)_kk = |D^-1/2 L^-T e_k|^2, non-zero only on k and its ancestors.
  template <class G>
  SS_HD double inverse_diagonal(const G& g, int k) const {
    const TreeSparsity& t = m.tree;
    const int depth = t.row_nnz[k] - 1;
    const std::int32_t* path = t.col + t.row_adr[k];
    g.once([&] {
      for (int a = 0; a < depth; ++a) reach[a] = 0.0;
      reach[depth] = 1.0;
      for (int a = depth; a > 0; --a) {
        const double* row = m.L + t.row_adr[path[a]];
        for (int c = 0; c < a; ++c) reach[c] = fma(-row[c], reach[a], reach[c]);
      }
    });
    return g.sum(depth + 1, [&](int a) { return reach[a] * reach[a] * m.D_inv[path[a]]; });
  }
};

/// Opens the problem with the diagonal of W in place of W: a matrix whose rows all begin at the
/// same place, so that only the diagonal may be read. `mechanism` as in solve_convex.
template <class G, class Mechanism>
SS_HD EnvStatus open_without_W(const G& g, const ProblemBatch<double>& batch, std::int64_t env,
                               const Mechanism& mechanism, const ConvexScratch& scratch,
                               SparseMechanism& m, EnvProblem<double>& p, int& rows_needed) {
  const EnvStatus status = open_problem(g, batch, env, scratch.view, p, rows_needed);
  if (status != EnvStatus::solved) return status;
  if (!mechanism(p.n, m)) return EnvStatus::bad_input;
  half_solve(g, m, tree_columns(p.n), scratch.tree);
  gram_diagonal(g, m, tree_columns(p.n), scratch.tree, scratch.diagonal);
  p.W = scratch.diagonal;
  p.ld_W = 0;
  p.symmetric = true;
  const bool broken = g.any(p.n, [&](int i) { return !is_finite(p.W[i]) || !row_is_valid(p, i); });
  return broken ? EnvStatus::bad_input : EnvStatus::solved;
}

/// Zero impulses, and no proof.
template <class G>
SS_HD void clear_result(const G& g, int max_rows, const ResultBatch<double>& result,
                        std::int64_t env) {
  double *impulse = slot(result.impulse, env), *certificate = slot(result.certificate, env);
  g.for_each(max_rows, [&](int i) {
    impulse[i] = 0.0;
    if (certificate != nullptr) certificate[i] = 0.0;
  });
}

/// Solves environment `env` of the batch without reading its W. `mechanism(n, m)` makes m that of
/// its n rows; false if it is not valid. Starts from the scaled velocities given by `start`[nv],
/// which are relative to the free velocity; null: 0.
template <IsGroup G, class Mechanism>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch, const Mechanism& mechanism,
                        const double* start, const ResultBatch<double>& result,
                        const SolveOptions& o, std::int64_t env, ConvexScratch& scratch) {
  clear_result(g, batch.max_rows, result, env);
  SparseMechanism m;
  EnvProblem<double> p{};
  int rows_needed = 0;
  EnvStatus status = open_without_W(g, batch, env, mechanism, scratch, m, p, rows_needed);
  if (status != EnvStatus::solved) {
    report(g, result, env, status, Limits<double>::infinity, 0, Solver::automatic, 0, rows_needed);
    return;
  }
  enter_circular_coordinates(g, p, facts_of(o.law).is_frictionless, scratch.view);
  Judge<double>& judge = scratch.judge;
  open_judge(g, p, o, scratch.judge_memory, slot(result.impulse, env), nullptr, judge);
  Scaled<double>& s = scratch.scaled;
  scale_vectors(g, p, o.law, s);
  g.for_each(m.tree.n,
             [&](int k) { scratch.newton.x[k] = start == nullptr ? 0.0 : s.q * start[k]; });
  const SparseVelocity velocity{p, m, scratch.change, scratch.left, scratch.partial, scratch.reach};
  const int steps = run_velocity_newton(g, p, m, s, scratch.newton, min(o.max_newton, kMostSteps),
                                        velocity, judge);
  close_judge(g, p, velocity, judge);
  status = verdict_of(judge);
  report(g, result, env, status, judge.best_residual, steps, Solver::newton, 0, p.n);
}

/// The same for the mechanism of one environment.
template <IsGroup G>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch,
                        const SparseMechanism& mechanism, const double* start,
                        const ResultBatch<double>& result, const SolveOptions& o, std::int64_t env,
                        ConvexScratch& scratch) {
  const auto given = [&](int, SparseMechanism& m) {
    m = mechanism;
    return true;
  };
  solve_convex(g, batch, given, start, result, o, env, scratch);
}

/// Scratch of an environment whose mechanism an engine stores.
struct EngineConvexScratch {
  ConvexScratch convex;
  SparseScratch sparse;

  SS_HD EngineConvexScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : convex(arena, nv, max_rows, max_contacts), sparse(arena, nv, max_rows) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    Arena arena(nullptr);
    EngineConvexScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
};

/// EngineConvexScratch::bytes in the form of the kernels that know pyramids.
inline std::size_t convex_bytes(int max_rows, int max_contacts, int, MatrixKind matrix) {
  return EngineConvexScratch::bytes(matrix.nv, max_rows, max_contacts);
}

/// The same for environment `env` of an engine's mechanisms; `scratch` for exactly their nv.
template <IsGroup G>
SS_HD void solve_convex(const G& g, const ProblemBatch<double>& batch,
                        const EngineMechanism& mechanism, EnvArray<const double> start,
                        const ResultBatch<double>& result, const SolveOptions& o, std::int64_t env,
                        EngineConvexScratch& scratch) {
  const auto widened = [&, view = view_of(mechanism, env), nv = mechanism.nv](int n,
                                                                              SparseMechanism& m) {
    return widen_mechanism(g, view, nv, n, scratch.sparse, m);
  };
  solve_convex(g, batch, widened, slot(start, env), result, o, env, scratch.convex);
}

}  // namespace stickslip::kernels::inline SS_ISA
