// The boxed problem as a mixed LCP with rows that are free or nonneg only, scaled:
//   w' = A y + q',    w' = 0 on free rows,    0 <= y ⟂ w' >= 0 on the others.
//
// Row by row, with sigma = ±1 and c the finite bound from which y is measured:
//   z_i = sigma y_i + c            bounds without friction index
//   z_i = y_i + lo_i s_j           with friction index j; s_j = max(0, z_j)
// A finite upper bound in addition gives a row of its own: lambda >= 0 ⟂ (hi - lo) s - y_i >= 0,
// and w'_i = w_i + lambda. s_j is y_j itself if row j is nonneg (2D friction of Glocker &
// Pfeiffer), else one more variable: s >= 0 ⟂ s - z_j >= 0.
#pragma once
#include "kernels/solver/lcp/problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct StandardLcp {
  int m;                 ///< rows
  int ld;                ///< padded(m)
  double q_scale;        ///< q' = q_scale * row scale * q
  double* A;             ///< [m][ld] column-major
  double* q;             ///< [ld]
  double *row, *column;  ///< [m] scales, powers of two
  int* free;             ///< [m] 1 where w' = 0 and y is free
  // For the conversion back, [n]:
  double *sign, *offset;
  int* upper;   ///< row of lambda, or -1
  int* scale;   ///< variable that holds s, or -1
  int* helper;  ///< extra variable max(0, z_i), or -1
  int* size;    ///< [1] m, written by one lane

  SS_HD StandardLcp(Arena& arena, int max_rows, int max_m)
      : m(0),
        ld(padded(max_m)),
        q_scale(1.0),
        A(arena.take<double>(std::size_t(max_m) * padded(max_m))),
        q(arena.take<double>(padded(max_m))),
        row(arena.take<double>(max_m)),
        column(arena.take<double>(max_m)),
        free(arena.take<int>(max_m)),
        sign(arena.take<double>(max_rows)),
        offset(arena.take<double>(max_rows)),
        upper(arena.take<int>(max_rows)),
        scale(arena.take<int>(max_rows)),
        helper(arena.take<int>(max_rows)),
        size(arena.take<int>(1)) {}

  SS_HD double* col(int j) const { return A + std::int64_t(j) * ld; }
  /// The unscaled variable k for the scaled value y, and the inverse.
  SS_HD double given(int k, double y) const { return y * column[k] / q_scale; }
  SS_HD double scaled(int k, double value) const { return value / column[k] * q_scale; }
};

/// Upper bound of the rows for a problem of `max_rows` rows.
SS_HD int standard_rows(int max_rows, bool boxed) { return boxed ? 3 * max_rows : max_rows; }

/// Numbers the extra variables; the result is the place of a variable. y_i stays at i.
template <class G, class Scalar>
SS_HD void number_variables(const G& g, const LcpProblem<Scalar>& p, StandardLcp& s) {
  g.for_each(p.n, [&](int i) {
    const double lo = p.lower(i), hi = p.upper(i);
    const bool reflect = !is_finite(lo) && is_finite(hi);
    s.sign[i] = reflect ? -1.0 : 1.0;
    s.offset[i] = reflect ? hi : is_finite(lo) ? lo : 0.0;
    s.free[i] = p.is_free(i) ? 1 : 0;
    s.helper[i] = -1;
  });
  g.once([&] {
    int next = p.n;
    for (int i = 0; i < p.n; ++i) {
      s.upper[i] = is_finite(p.lower(i)) && is_finite(p.upper(i)) ? next++ : -1;
    }
    for (int i = 0; i < p.n; ++i) {
      const int j = p.index(i);
      s.scale[i] = -1;
      if (j < 0) continue;
      const bool plain = p.lower(j) == 0.0 && !is_finite(p.upper(j)) && p.index(j) < 0;
      if (!plain && s.helper[j] < 0) s.helper[j] = next++;
      s.scale[i] = plain ? j : s.helper[j];
    }
    for (int i = p.n; i < next; ++i) s.free[i] = 0;
    *s.size = next;
  });
  s.m = *s.size;
  s.ld = padded(s.m);
}

/// The rows of M: sigma_i (M z + q)_i + lambda_i, for row r, which one lane owns.
template <class Scalar>
SS_HD void fill_given_row(const LcpProblem<Scalar>& p, const StandardLcp& s, int r) {
  double constant = double(p.q[r]);
  for (int k = 0; k < p.n; ++k) {
    const double entry = s.sign[r] * p.m(r, k);
    s.col(k)[r] = fma(entry, s.sign[k], s.col(k)[r]);
    if (s.scale[k] < 0) {
      constant = fma(p.m(r, k), s.offset[k], constant);
    } else {
      s.col(s.scale[k])[r] = fma(entry, s.offset[k], s.col(s.scale[k])[r]);
    }
  }
  s.q[r] = s.sign[r] * constant;
}

/// The rows of the extra variables that belong to row i.
template <class Scalar>
SS_HD void fill_extra_rows(const LcpProblem<Scalar>& p, const StandardLcp& s, int i) {
  const int u = s.upper[i], h = s.helper[i];
  if (u >= 0) {
    s.col(u)[i] = 1.0;
    s.col(i)[u] = -1.0;
    const double range = p.upper(i) - p.lower(i);
    if (s.scale[i] < 0) {
      s.q[u] = range;
    } else {
      s.col(s.scale[i])[u] += range;
    }
  }
  if (h >= 0) {  // s - z_i
    s.col(h)[h] = 1.0;
    s.col(i)[h] = -s.sign[i];
    if (s.scale[i] < 0) {
      s.q[h] = -s.offset[i];
    } else {
      s.col(s.scale[i])[h] -= s.offset[i];
    }
  }
}

/// Scales rows and columns towards largest entries of 1 (Ruiz 2001), by powers of two; then q, so
/// that max|q'| is in [1, 2).
template <class G>
SS_HD void equilibrate(const G& g, StandardLcp& s) {
  g.for_each(s.m, [&](int i) { s.row[i] = s.column[i] = 1.0; });
  const auto weight = [](double largest, double scale) {
    return largest > 0.0 && is_finite(largest) ? scale / sqrt(largest) : scale;
  };
  for (int pass = 0; pass < 3; ++pass) {
    g.for_each(s.m, [&](int j) {  // columns, with the scales of the previous pass
      double largest = 0.0;
      for (int i = 0; i < s.m; ++i) largest = max(largest, abs(s.col(j)[i]) * s.row[i]);
      s.column[j] = weight(largest * s.column[j], s.column[j]);
    });
    g.for_each(s.m, [&](int i) {
      double largest = 0.0;
      for (int j = 0; j < s.m; ++j) largest = max(largest, abs(s.col(j)[i]) * s.column[j]);
      s.row[i] = weight(largest * s.row[i], s.row[i]);
    });
  }
  g.for_each(s.m, [&](int i) {
    s.row[i] = power_of_two_below(s.row[i]);
    s.column[i] = power_of_two_below(s.column[i]);
  });
  g.for_each_2d(s.m, s.m, [&](int j, int i) { s.col(j)[i] *= s.row[i] * s.column[j]; });
  const double largest = g.max(s.m, [&](int i) { return abs(s.q[i]) * s.row[i]; });
  s.q_scale = largest > 1e-290 ? 1.0 / power_of_two_below(largest) : 1.0;
  g.for_each(s.ld, [&](int i) { s.q[i] = i < s.m ? s.q[i] * s.row[i] * s.q_scale : 0.0; });
}

template <class G, class Scalar>
SS_PART void standardise(const G& g, const LcpProblem<Scalar>& p, StandardLcp& s) {
  number_variables(g, p, s);
  g.for_each_2d(s.m, s.ld, [&](int j, int i) { s.col(j)[i] = 0.0; });
  g.for_each(s.ld, [&](int i) { s.q[i] = 0.0; });
  g.for_each(p.n, [&](int r) {
    fill_given_row(p, s, r);
    fill_extra_rows(p, s, r);
  });
  equilibrate(g, s);
}

/// Judges y, converted to z and clamped exactly to its bounds. Returns the residual.
template <class G, class Scalar>
SS_HD double judge_standard(const G& g, const LcpProblem<Scalar>& p, const StandardLcp& s,
                            const double* y, LcpJudge<Scalar>& judge) {
  const auto value = [&](int k) {
    const double v = s.given(k, y[k]);
    return s.free[k] != 0 ? v : max(v, 0.0);
  };
  double* z = judge.w;
  g.for_each(p.n, [&](int i) {
    const double range = s.scale[i] < 0 ? 1.0 : value(s.scale[i]);
    z[i] = fma(s.sign[i], value(i), s.offset[i] * range);
    if (s.scale[i] < 0) z[i] = clamp(z[i], p.lower(i), p.upper(i));
  });
  g.for_each(p.n, [&](int i) {  // bounds that scale with another row, by its current value
    const int j = p.index(i);
    const double range = j < 0 ? 1.0 : max(z[j], 0.0);
    judge.candidate[i] = Scalar(j < 0 ? z[i] : clamp(z[i], p.lower(i) * range, p.upper(i) * range));
  });
  return judge_lcp(g, p, judge);
}

/// The inverse: y for a given z, as needed for a start (lambda and helpers from w and z).
template <class G, class Scalar>
SS_HD void start_from(const G& g, const LcpProblem<Scalar>& p, const StandardLcp& s,
                      const Scalar* z, const double* w, double* y) {
  g.for_each(p.n, [&](int i) {
    const int j = p.index(i);
    const double range = j < 0 ? 1.0 : max(0.0, double(z[j]));
    const auto set = [&](int k, double value) { y[k] = s.scaled(k, value); };
    set(i, s.sign[i] * (double(z[i]) - s.offset[i] * range));
    if (s.upper[i] >= 0) set(s.upper[i], max(0.0, -w[i]));
    if (s.helper[i] >= 0) set(s.helper[i], max(0.0, double(z[i])));
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
