// One linear complementarity problem as given, its checks and its residual (docs/mathematics.md
// §14). Bounds and friction indices are those of include/stickslip/lcp.hpp.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/linalg/matvec.hpp"
#include "stickslip/lcp.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
struct LcpProblem {
  int n, n_free, ld_M;
  const Scalar *M, *q, *lo, *hi, *start;
  const std::int32_t* findex;
  double cfm;

  SS_HD double m(int i, int j) const {
    const double value = double(M[std::int64_t(i) * ld_M + j]);
    return i == j ? fma(value, cfm, value) : value;
  }
  SS_HD int index(int i) const { return findex == nullptr || i < n_free ? -1 : findex[i]; }
  /// Bounds before the friction index scales them.
  SS_HD double lower(int i) const {
    if (i < n_free) return -Limits<double>::infinity;
    return lo == nullptr ? 0.0 : double(lo[i]);
  }
  SS_HD double upper(int i) const {
    return i < n_free || hi == nullptr ? Limits<double>::infinity : double(hi[i]);
  }
  SS_HD bool is_free(int i) const {
    return lower(i) == -Limits<double>::infinity && upper(i) == Limits<double>::infinity;
  }
};

/// Whether the numbers of row i are valid.
template <class Scalar>
SS_HD bool lcp_row_is_valid(const LcpProblem<Scalar>& p, int i) {
  const Scalar* row = p.M + std::int64_t(i) * p.ld_M;
  int wrong = is_finite(p.q[i]) ? 0 : 1;
  for (int j = 0; j < p.n; ++j) wrong |= is_finite(row[j]) ? 0 : 1;
  if (wrong != 0 || (p.start != nullptr && !is_finite(p.start[i]))) return false;
  const double lo = p.lower(i), hi = p.upper(i), infinity = Limits<double>::infinity;
  if (!(lo <= hi) || lo == infinity || hi == -infinity) return false;
  const int j = p.index(i);
  if (j < -1 || j >= p.n || j == i) return false;
  return j < 0 || (is_finite(lo) && is_finite(hi));  // infinity times max(0, z_j) is undefined
}

/// max |z - clamp(z - w, lo, hi)|, |w| on free rows; w: n doubles, receives M z + q. Infinite if
/// anything is not finite. Where the clamp is inactive, |w| is used, without cancellation.
template <class G, class Scalar>
SS_HD double lcp_residual(const G& g, const LcpProblem<Scalar>& p, const Scalar* z, double* w) {
  const auto start = [&](int i) {
    return fma(p.cfm * double(p.M[std::int64_t(i) * p.ld_M + i]), double(z[i]), double(p.q[i]));
  };
  matvec_given(g, p.n, p.M, p.ld_M, false, z, sum_into(w, start));
  const bool broken = g.any(p.n, [&](int i) { return !is_finite(w[i]) || !is_finite(z[i]); });
  if (broken) return Limits<double>::infinity;
  return g.max(p.n, [&](int i) {
    const int j = p.index(i);
    const double s = j < 0 ? 1.0 : max(0.0, double(z[j]));
    const double lo = p.lower(i) * s, hi = p.upper(i) * s, y = double(z[i]) - w[i];
    if (y > lo && y < hi) return abs(w[i]);
    return abs(double(z[i]) - clamp(y, lo, hi));
  });
}

/// Bound of the rounding of lcp_residual at z and its w, as for the residual of contacts
/// (kernels/law/rounding.hpp): n + 4 operations in a row of M z + q, a few in the rest.
template <class G, class Scalar>
SS_HD double lcp_rounding(const G& g, const LcpProblem<Scalar>& p, const Scalar* z,
                          const double* w) {
  return g.max(p.n, [&](int i) {
    double size = abs(double(p.q[i]));
    for (int j = 0; j < p.n; ++j) size = fma(abs(p.m(i, j)), abs(double(z[j])), size);
    const double rest = 4.0 * (abs(double(z[i])) + abs(w[i]));
    return 0.5 * Limits<double>::epsilon * fma(double(p.n + 4), size, rest);
  });
}

/// Keeps the best z seen, by the residual of the problem as given.
template <class Scalar>
struct LcpJudge {
  double tolerance = 0.0;
  double best_residual = Limits<double>::infinity;
  Scalar* best = nullptr;  ///< [n] the caller's slot of the result
  Scalar* candidate;       ///< [n] judged last
  double* w;               ///< [n] scratch

  SS_HD LcpJudge(Arena& arena, int max_rows)
      : candidate(arena.take<Scalar>(max_rows)), w(arena.take<double>(max_rows)) {}

  SS_HD bool solved() const { return best_residual <= tolerance; }
};

/// Keeps the candidate, whose residual is `value`, if it is the best so far.
template <class G, class Scalar>
SS_HD void keep_candidate(const G& g, int n, double value, LcpJudge<Scalar>& judge) {
  if (!(value < judge.best_residual)) return;
  judge.best_residual = value;
  g.for_each(n, [&](int i) { judge.best[i] = judge.candidate[i]; });
}

/// Judges the candidate, including rounding if it would be a solution; keeps it if it is the best
/// so far. Returns its residual.
template <class G, class Scalar>
SS_HD double judge_lcp(const G& g, const LcpProblem<Scalar>& p, LcpJudge<Scalar>& judge) {
  double value = lcp_residual(g, p, judge.candidate, judge.w);
  if (value <= judge.tolerance) value += lcp_rounding(g, p, judge.candidate, judge.w);
  keep_candidate(g, p.n, value, judge);
  return value;
}

}  // namespace stickslip::kernels::inline SS_ISA
