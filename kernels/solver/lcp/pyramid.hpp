// The law `pyramid` as a mixed LCP (Stewart & Trinkle 1996), for rows of every kind:
//
//   u_n >= 0 ⟂ r_n >= 0,   D_k . u_t + lambda >= 0 ⟂ beta_k >= 0,
//   mu r_n - sum beta >= 0 ⟂ lambda >= 0,   r_t = sum beta_k D_k
//
// in circular coordinates. D_k are d directions of the sliding plane and +- each torsional and
// rolling row. Rows without friction have no directions. Free, nonneg and box rows stay rows.
//
// The unknowns r, beta are in units of a velocity, times 1 / rho of their row or block. In
// impulses, the scaling to largest entries of 1 would stop at the +-1 of lambda where W is small
// (heavy bodies), and leave entries of W below the least pivot.
#pragma once
#include "kernels/cone/directions.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/lcp/solve.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Most rows of the LCP of a contact problem.
SS_HD int pyramid_rows(int max_rows, int max_contacts, int directions) {
  return 2 * max_rows + (directions - 4) * max_contacts;
}

struct PyramidLcp {
  enum Role : int { row, beta, lambda };
  int n;            ///< rows of the LCP
  double *M, *q;    ///< [n][n] row-major, [n]
  double *lo, *hi;  ///< [n]
  double* z;        ///< [n] solution
  // Variable v is an impulse of unit c_a along row a (and unit c_b along row b, or b = -1) of the
  // problem.
  int *role, *block;  ///< [n] block: contact, or -1
  int *a, *b;         ///< [n]
  double *c_a, *c_b;  ///< [n]
  double* unit;       ///< [n] a power of two; 1 for lambda, which is a velocity
  int* first;         ///< [max_contacts + 1] variable of each contact's normal; then n

  SS_HD PyramidLcp(Arena& arena, int max_n, int max_contacts)
      : n(0),
        M(arena.take<double>(std::size_t(max_n) * max_n)),
        q(arena.take<double>(max_n)),
        lo(arena.take<double>(max_n)),
        hi(arena.take<double>(max_n)),
        z(arena.take<double>(max_n)),
        role(arena.take<int>(max_n)),
        block(arena.take<int>(max_n)),
        a(arena.take<int>(max_n)),
        b(arena.take<int>(max_n)),
        c_a(arena.take<double>(max_n)),
        c_b(arena.take<double>(max_n)),
        unit(arena.take<double>(max_n)),
        first(arena.take<int>(max_contacts + 1)) {}

  SS_HD void set(int v, Role what, int k, int i, double along_i, int j, double along_j) const {
    role[v] = what;
    block[v] = k;
    a[v] = i;
    b[v] = j;
    c_a[v] = along_i;
    c_b[v] = along_j;
    unit[v] = 1.0;
    lo[v] = 0.0;
    hi[v] = Limits<double>::infinity;
  }
};

/// The impulse that changes the velocity of a row or block (`item` of inverse_rho) by about 1.
template <class Scalar>
SS_HD double impulse_unit(const EnvProblem<Scalar>& p, int item) {
  return 1.0 / power_of_two_below(max(double(p.inverse_rho[item]), 1e-290));
}

/// Whether both rows of the sliding plane of contact k have friction.
template <class Scalar>
SS_HD bool slides_in_plane(const EnvProblem<Scalar>& p, int k) {
  return p.circular[p.block[k] + 1] > 0.0 && p.circular[p.block[k] + 2] > 0.0;
}

/// Variables of contact k: its normal, its directions, lambda.
template <class Scalar>
SS_HD int count_pyramid(const EnvProblem<Scalar>& p, int k) {
  const int row = p.block[k], dim = p.block[k + 1] - row;
  int count = slides_in_plane(p, k) ? p.directions : 0;
  for (int j = count > 0 ? 3 : 1; j < dim; ++j) count += p.circular[row + j] > 0.0 ? 2 : 0;
  return count == 0 ? 1 : count + 2;
}

template <class Scalar>
SS_HD void number_pyramid(const EnvProblem<Scalar>& p, int k, const PyramidLcp& s) {
  const int row = p.block[k], dim = p.block[k + 1] - row;
  int v = s.first[k];
  s.set(v++, PyramidLcp::row, k, row, 1.0, -1, 0.0);
  int j = 1;
  if (slides_in_plane(p, k)) {
    for (int i = 0; i < p.directions; ++i) {
      const Direction d = pyramid_direction(i, p.directions);
      s.set(v++, PyramidLcp::beta, k, row + 1, d.c * p.circular[row + 1], row + 2,
            d.s * p.circular[row + 2]);
    }
    j = 3;
  }
  for (; j < dim; ++j) {
    if (!(p.circular[row + j] > 0.0)) continue;
    s.set(v++, PyramidLcp::beta, k, row + j, p.circular[row + j], -1, 0.0);
    s.set(v++, PyramidLcp::beta, k, row + j, -p.circular[row + j], -1, 0.0);
  }
  const double unit = impulse_unit(p, p.first_contact_row() + k);
  for (int i = s.first[k]; i < v; ++i) s.unit[i] = unit;
  if (v < s.first[k + 1]) s.set(v, PyramidLcp::lambda, k, -1, 0.0, -1, 0.0);
}

/// Entry (v, w) of the LCP's matrix. The unit of a contact cancels in the row of its lambda.
template <class Scalar>
SS_HD double pyramid_entry(const EnvProblem<Scalar>& p, const PyramidLcp& s, int v, int w) {
  const bool same = s.block[v] >= 0 && s.block[v] == s.block[w];
  if (s.role[v] == PyramidLcp::lambda) {
    if (!same || s.role[w] == PyramidLcp::lambda) return 0.0;
    return s.role[w] == PyramidLcp::beta ? -1.0 : p.slope[s.block[v]];
  }
  if (s.role[w] == PyramidLcp::lambda) return same && s.role[v] == PyramidLcp::beta ? 1.0 : 0.0;
  const auto delassus = [&](int i, int j) { return i == j ? p.diagonal(i) : p.w(i, j); };
  const auto along = [&](int i) {  // row i of (W + diag R) times the impulse of variable w
    const double part = s.c_a[w] * delassus(i, s.a[w]);
    return s.b[w] < 0 ? part : fma(s.c_b[w], delassus(i, s.b[w]), part);
  };
  const double part = s.c_a[v] * along(s.a[v]);
  return s.unit[w] * (s.b[v] < 0 ? part : fma(s.c_b[v], along(s.b[v]), part));
}

/// Fills the LCP of a contact problem in circular coordinates, with compliance `soften` W_nn added
/// to contact normals, and returns its view.
template <class G, class Scalar>
SS_HD LcpProblem<double> pyramid_lcp(const G& g, const EnvProblem<Scalar>& p, double soften,
                                     PyramidLcp& s) {
  const int scalars = p.first_contact_row();
  g.for_each(scalars, [&](int i) {
    s.set(i, PyramidLcp::row, -1, i, 1.0, -1, 0.0);
    s.unit[i] = impulse_unit(p, i);
    s.lo[i] = p.lower(i) / s.unit[i];
    s.hi[i] = p.upper(i) / s.unit[i];
  });
  g.once([&] {
    int next = scalars;
    for (int k = 0; k < p.n_contacts; ++k) {
      s.first[k] = next;
      next += count_pyramid(p, k);
    }
    s.first[p.n_contacts] = next;
  });
  s.n = s.first[p.n_contacts];
  g.for_each(p.n_contacts, [&](int k) { number_pyramid(p, k, s); });
  g.for_each_2d(s.n, s.n,
                [&](int v, int w) { s.M[std::int64_t(v) * s.n + w] = pyramid_entry(p, s, v, w); });
  g.for_each(p.n_contacts, [&](int k) {
    const int v = s.first[k];
    double& normal = s.M[std::int64_t(v) * s.n + v];
    normal = fma(soften, s.unit[v] * normal_diagonal(p, k), normal);
  });
  g.for_each(s.n, [&](int v) {
    const double part = s.a[v] < 0 ? 0.0 : s.c_a[v] * double(p.b[s.a[v]]);
    s.q[v] = s.b[v] < 0 ? part : fma(s.c_b[v], double(p.b[s.b[v]]), part);
  });
  const bool boxed = p.n_box > 0;
  return {s.n,     p.n_free, s.n, s.M, s.q, boxed ? s.lo : nullptr, boxed ? s.hi : nullptr,
          nullptr, nullptr,  0.0};
}

/// The contact impulses that correspond to z.
template <class G, class Scalar>
SS_HD void carry_back(const G& g, const EnvProblem<Scalar>& p, const PyramidLcp& s, const double* z,
                      Scalar* r) {
  const int scalars = p.first_contact_row();
  g.for_each(scalars, [&](int i) { r[i] = Scalar(z[i] * s.unit[i]); });
  g.for_each(p.n_contacts, [&](int k) {
    for (int i = p.block[k]; i < p.block[k + 1]; ++i) {
      double sum = 0.0;
      for (int v = s.first[k]; v < s.first[k + 1]; ++v) {
        if (s.a[v] == i) sum = fma(s.c_a[v], z[v], sum);
        if (s.b[v] == i) sum = fma(s.c_b[v], z[v], sum);
      }
      r[i] = Scalar(sum * s.unit[s.first[k]]);
    }
  });
}

/// Scratch of a contact problem solved through its LCP.
template <class Real>
struct PyramidScratch {
  PyramidLcp lcp;
  // In memory, because a GPU has no registers for them during the pivots:
  PyramidLcp* kept;  ///< lcp
  LcpProblem<double>* problem;
  LcpScratch<Real, double> solver;

  SS_HD PyramidScratch(Arena arena, int max_rows, int max_contacts, int directions)
      : lcp(arena, pyramid_rows(max_rows, max_contacts, directions), max_contacts),
        kept(arena.take<PyramidLcp>(1)),
        problem(arena.take<LcpProblem<double>>(1)),
        solver(arena, pyramid_rows(max_rows, max_contacts, directions),
               pyramid_rows(max_rows, max_contacts, directions) + max_rows) {}

  SS_HD static std::size_t bytes(int max_rows, int max_contacts, int directions) {
    const int n = pyramid_rows(max_rows, max_contacts, directions);
    Arena arena(nullptr);
    PyramidLcp(arena, n, max_contacts);
    arena.take<PyramidLcp>(1);
    arena.take<LcpProblem<double>>(1);
    return arena.used() + LcpScratch<Real, double>::bytes(n, n + max_rows);
  }
};

/// Up to `attempts` attempts by Lemke, judged as contact impulses, with at most `budget` pivots in
/// total; returns the pivots done. With `soften` on contact normals, it ends with the first
/// solution of the softened problem, judged by the problem as given.
template <class Real, class G, class Scalar>
SS_HD int run_pyramid(const G& g, const EnvProblem<Scalar>& p, Attempts attempts, int budget,
                      double soften, PyramidScratch<Real>& scratch, Judge<Scalar>& judge) {
  const LcpProblem<double> posed = pyramid_lcp(g, p, soften, scratch.lcp);
  g.once([&] {
    *scratch.kept = scratch.lcp;
    *scratch.problem = posed;
  });
  const LcpProblem<double>& lcp = *scratch.problem;
  LcpJudge<double>& inner = scratch.solver.judge;
  inner.best = scratch.lcp.z;
  inner.tolerance = 1e-3 * judge.at->tolerance;  // the residuals are of the same order
  g.for_each(lcp.n, [&](int i) { inner.best[i] = 0.0; });
  standardise(g, lcp, scratch.solver.standard);
  LcpOptions o;
  LcpOutcome out;
  const int count = attempt_count<Scalar>(attempts, steepest_friction(p));
  for (int i = 0; i < count && !judge.solved(); ++i) {
    if (out.iterations >= budget) break;
    o.max_pivots = min(100 + 20 * scratch.solver.standard.m, budget - out.iterations);
    const LemkeEnd end = attempt_lemke(g, lcp, o, attempts.first + i, scratch.solver, out);
    if (end != LemkeEnd::solution) continue;
    carry_back(g, p, *scratch.kept, inner.best, judge.at->candidate);
    judge_candidate(g, p, judge, Guess::solution);
    if (soften > 0.0) break;
  }
  return out.iterations;
}

}  // namespace stickslip::kernels::inline SS_ISA
