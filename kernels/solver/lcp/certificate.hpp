// Proofs that the standard problem has no solution (docs/mathematics.md §14). Its linear conditions
// w' = A y + q' >= 0, = 0 on free rows, y >= 0 contradict each other if there is a c, c >= 0 except
// on free rows, with
//
//   A^T c <= 0, = 0 for free y,    q' . c < 0:    then c . w' < 0, though no term is negative.
//
// Where A^T c is not 0, c still excludes every y up to a size: its share of c . w' is that small.
// For copositive-plus matrices Lemke's rays are such proofs (Cottle, Pang & Stone 1992, theorem
// 4.4.7). For others a ray proves nothing, so every candidate is checked.
#pragma once
#include "kernels/linalg/compensated.hpp"
#include "kernels/residual/certificate.hpp"
#include "kernels/solver/lcp/lemke.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether c[m] proves that no y of size up to kReach meets the conditions up to `tolerance`; q'
/// and the entries of A are of the order of 1.
template <class G>
SS_HD bool lcp_certificate_holds(const G& g, const StandardLcp& s, double tolerance,
                                 const double* c) {
  const bool wrong_sign =
      g.any(s.m, [&](int i) { return !is_finite(c[i]) || (c[i] < 0.0 && s.free[i] == 0); });
  if (wrong_sign) return false;
  const double unit = Limits<double>::epsilon * double(s.m + 4);
  const double excess = g.sum(s.m, [&](int j) {
    CompensatedSum sum;
    for (int i = 0; i < s.m; ++i) sum.add_product(s.col(j)[i], c[i]);
    const double value = sum.value();
    return (s.free[j] != 0 ? abs(value) : max(value, 0.0)) + sum.error();
  });
  const double power = g.sum(s.m, [&](int i) { return s.q[i] * c[i]; });
  const double size = g.sum(s.m, [&](int i) { return abs(s.q[i] * c[i]); });
  const double slack = 4.0 * tolerance * s.q_scale;
  const double allowed = g.sum(s.m, [&](int i) { return slack * s.row[i] * abs(c[i]); });
  return power < -(fma(kReach, excess, unit * size) + allowed);
}

/// Whether the direction of the ray that ended a path is a certificate; c: scratch [m]. The
/// direction y is converted to impulses along the rows: A is monotone in the unscaled variables.
template <class Real, class G>
SS_HD bool ray_is_certificate(const G& g, const StandardLcp& s, const Dictionary<Real>& d,
                              double tolerance, double* c) {
  g.for_each(s.m, [&](int i) {
    const int place = d.place[d.m + i];
    double y = place >= 0 ? double(d.at(place, d.end)) : place == -1 - d.end ? 1.0 : 0.0;
    if (s.free[i] == 0) y = max(y, 0.0);
    c[i] = y * s.column[i] / s.row[i];
  });
  const double largest = g.max(s.m, [&](int i) { return abs(c[i]); });
  g.for_each(s.m, [&](int i) { c[i] = largest > 0.0 ? c[i] / largest : 0.0; });
  return lcp_certificate_holds(g, s, tolerance, c);
}

/// Whether the free row that contradicts others, w_i = sum t_ij w_j + constant in the dictionary,
/// is a certificate.
template <class Real, class G>
SS_HD bool contradiction_is_certificate(const G& g, const StandardLcp& s, const Dictionary<Real>& d,
                                        double tolerance, double* c) {
  const double sign = d.constant()[d.end] > Real(0) ? -1.0 : 1.0;
  g.for_each(s.m, [&](int i) {
    const int place = d.place[i];
    c[i] = place >= 0 ? (place == d.end ? sign : 0.0) : -sign * double(d.at(d.end, -1 - place));
    if (s.free[i] == 0) c[i] = 0.0;
  });
  return lcp_certificate_holds(g, s, tolerance, c);
}

}  // namespace stickslip::kernels::inline SS_ISA
