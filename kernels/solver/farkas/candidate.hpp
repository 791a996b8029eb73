// The candidate for a proof that there is no solution (kernels/residual/certificate.hpp). Over the
// rows that y may use, scaled to a diagonal near 1 (A, c from W + diag R, b),
//
// |  minimise  1/2 y^T (A + delta I) y + c^T y,   y >= 0 except on free rows,
//
// has a solution of the order of c if some velocities satisfy the gaps. Otherwise its solution
// grows like 1 / delta along a certificate: there A y = 0, c^T y < 0, and only delta bounds it.
// Block principal pivoting solves it (Judice & Pires 1994), each pass by one Cholesky
// factorisation.
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/linalg/cholesky.hpp"
#include "kernels/residual/certificate.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Farkas {
  int* row;           ///< [m] rows of the problem that y may use
  int *support, *in;  ///< [m] rows of the support, as a list; as flags
  int* count;         ///< [2] m and the size of the support, written by one lane
  double *scale, *c;  ///< [m] near 1 / sqrt(W_ii), negative if y <= 0; c
  double *y, *w, *x;  ///< [m] y, A y + c, right side and solution
  double* start;      ///< [m] y before it is projected onto the null space
  double* full;       ///< [n] y in the rows of the problem
  double* weight;     ///< [n] 1 / sqrt(W_ii + R_ii); 0 for a row that never carries an impulse
  double* factor;     ///< [m][ld]
  int ld;

  SS_HD Farkas(Arena& arena, int max_rows)
      : row(arena.take<int>(max_rows)),
        support(arena.take<int>(max_rows)),
        in(arena.take<int>(max_rows)),
        count(arena.take<int>(2)),
        scale(arena.take<double>(max_rows)),
        c(arena.take<double>(max_rows)),
        y(arena.take<double>(max_rows)),
        w(arena.take<double>(max_rows)),
        x(arena.take<double>(max_rows)),
        start(arena.take<double>(max_rows)),
        full(arena.take<double>(max_rows)),
        weight(arena.take<double>(max_rows)),
        factor(arena.take<double>(std::size_t(max_rows) * max_rows)),
        ld(max_rows) {}

  SS_HD int m() const { return count[0]; }
  SS_HD int size() const { return count[1]; }
};

/// A_ab of the rows a, b that y may use; if W is not symmetric, the mean of both entries.
template <class Scalar>
SS_HD double farkas_entry(const EnvProblem<Scalar>& p, const Farkas& f, int a, int b) {
  const int i = f.row[a], j = f.row[b];
  const double given = i == j ? p.diagonal(i) : 0.5 * (p.w(i, j) + p.w(j, i));
  return given * f.scale[a] * f.scale[b];
}

template <class Scalar>
SS_HD bool is_free_row(const EnvProblem<Scalar>& p, const Farkas& f, int a) {
  const CertificateSign may = certificate_sign(p, f.row[a], false);
  return may.positive && may.negative;
}

/// Lists the rows and scales them.
template <class G, class Scalar>
SS_HD void open_farkas(const G& g, const EnvProblem<Scalar>& p, const Farkas& f) {
  g.once([&] {
    int m = 0;
    const auto list = [&](int i) SS_INLINE {
      const CertificateSign may = certificate_sign(p, i, false);
      if (may.positive || may.negative) f.row[m++] = i;
    };
    for (int i = 0; i < p.first_contact_row(); ++i) list(i);
    for (int k = 0; k < p.n_contacts; ++k) list(p.block[k]);
    f.count[0] = m;
  });
  const double largest = g.max(f.m(), [&](int a) { return p.diagonal(f.row[a]); });
  g.for_each(f.m(), [&](int a) {
    const double own = p.diagonal(f.row[a]), typical = own > 0.0 ? own : largest;
    const double size = typical > 1e-290 ? inverse_root_power(typical) : 1.0;  // no rounding
    f.scale[a] = certificate_sign(p, f.row[a], false).positive ? size : -size;
    f.c[a] = double(p.b[f.row[a]]) * f.scale[a];
  });
  g.for_each(p.n, [&](int i) {
    const double diagonal = p.diagonal(i);
    f.weight[i] = p.circular[i] > 0.0 && diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
  });
  const double c_max = g.max(f.m(), [&](int a) { return abs(f.c[a]); });
  g.for_each(f.m(), [&](int a) {
    if (c_max > 0.0) f.c[a] /= c_max;
    f.in[a] = is_free_row(p, f, a) || f.c[a] < 0.0 ? 1 : 0;
    f.y[a] = 0.0;  // because the first pass may fail
  });
}

template <class G>
SS_HD void list_support(const G& g, const Farkas& f) {
  g.once([&] {
    int size = 0;
    for (int a = 0; a < f.m(); ++a) {
      if (f.in[a] != 0) f.support[size++] = a;
    }
    f.count[1] = size;
  });
}

/// Factorises A + delta I on the support. False if it is not positive definite.
template <class G, class Scalar>
SS_HD bool factor_support(const G& g, const EnvProblem<Scalar>& p, double delta, const Farkas& f) {
  list_support(g, f);
  g.for_each_2d(f.size(), f.size(), [&](int a, int b) {
    if (b < a) return;
    const double entry = farkas_entry(p, f, f.support[a], f.support[b]);
    f.factor[std::int64_t(a) * f.ld + b] = a == b ? entry + delta : entry;
  });
  return cholesky(g, f.size(), f.factor, f.ld);
}

/// x <- the inverse of the factorised matrix times x.
template <class G>
SS_HD void solve_factor(const G& g, const Farkas& f) {
  forward_substitute(g, f.size(), f.factor, f.ld, f.x);
  back_substitute(g, f.size(), f.factor, f.ld, f.x);
}

/// y = x on the support, 0 elsewhere.
template <class G>
SS_HD void take_solution(const G& g, const Farkas& f) {
  g.for_each(f.m(), [&](int a) { f.y[a] = 0.0; });
  g.for_each(f.size(), [&](int a) { f.y[f.support[a]] = f.x[a]; });
}

/// By how much row a violates y >= 0 or A y + c >= 0, beyond rounding.
template <class Scalar>
SS_HD double violation(const EnvProblem<Scalar>& p, const Farkas& f, double y_max, int a) {
  const double unit = 4.0 * Limits<double>::epsilon * y_max;
  const double value = f.in[a] != 0 ? (is_free_row(p, f, a) ? 0.0 : -f.y[a] - unit)
                                    : -f.w[a] - unit * double(f.m()) - 1e-12;
  return max(value, 0.0);
}

/// Solves the problem above for y, in up to `budget` passes; returns the passes done. The resulting
/// y is only a candidate.
template <class G, class Scalar>
SS_HD int pivot_blocks(const G& g, const EnvProblem<Scalar>& p, double delta, int budget,
                       const Farkas& f) {
  constexpr int kPatience = 3;  // exchanges of all violated rows without progress that are allowed
  double fewest = Limits<double>::infinity;
  int patience = kPatience;
  for (int pass = 1;; ++pass) {
    if (!factor_support(g, p, delta, f)) return pass;
    g.for_each(f.size(), [&](int a) { f.x[a] = -f.c[f.support[a]]; });
    solve_factor(g, f);
    take_solution(g, f);
    const double y_max = g.max(f.m(), [&](int a) { return abs(f.y[a]); });
    g.for_each(f.m(), [&](int a) {
      double sum = f.c[a];
      if (f.in[a] == 0) {
        for (int k = 0; k < f.size(); ++k) {
          const int b = f.support[k];
          sum = fma(farkas_entry(p, f, a, b), f.y[b], sum);
        }
      }
      f.w[a] = sum;
    });
    const double violated =
        g.sum(f.m(), [&](int a) { return violation(p, f, y_max, a) > 0.0 ? 1.0 : 0.0; });
    if (violated == 0.0 || pass == budget || stopped(g)) return pass;
    patience = violated < fewest ? kPatience : patience - 1;
    fewest = min(fewest, violated);
    // Exchanging one row at a time, the last violated one, ends for any such matrix (Murty 1974).
    const int last = g.argmax(f.m(), [&](int a) {
                        return violation(p, f, y_max, a) > 0.0 ? double(a + 1) : 0.0;
                      }).index;
    g.for_each(f.m(), [&](int a) {
      const bool flips = violation(p, f, y_max, a) > 0.0 && (patience >= 0 || a == last);
      f.x[a] = flips ? 1.0 : 0.0;
    });
    g.for_each(f.m(), [&](int a) { f.in[a] = f.x[a] != 0.0 ? 1 - f.in[a] : f.in[a]; });
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
