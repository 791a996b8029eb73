// Rows at their bounds while one solution among many is selected.
#pragma once
#include "kernels/solver/newton/line_search.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What tells one set of rows at their bounds from another.
template <class Real, class Factor, class G>
SS_HD double rows_at_bounds(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w) {
  return g.sum(
      s.n, [&](int i) { return w.at.is(i, RowState::fixed) ? double(hashed_bits(i, 1, 0)) : 0.0; });
}

/// max|z|^2
template <class Real, class G>
SS_HD double squared_size(const G& g, const Scaled<Real>& s, const Real* z) {
  const double size = g.max(s.n, [&](int i) { return abs(double(z[i])); });
  return size * size;
}

/// Velocity with which row i, the first of `item`, moves from its bound; not on the cone's edge.
template <class Real, class Factor>
SS_HD Real parting_velocity(const Scaled<Real>& s, const Newton<Real, Factor>& w, int item, int i) {
  if (item < s.scalars || w.at.friction != Friction::cone) return w.u[i];
  const int k = item - s.scalars;
  Real square = Real(0);
  for (int j = i + 1; j < s.block[k + 1]; ++j) square = fma(w.u[j], w.u[j], square);
  return fma(-s.mu[k], sqrt(square), w.u[i]);
}

/// What moves from its bound at the solution z by more than `least`, but by little more than the
/// compliance that selects would let it yield, takes no part in the selection: changes b of these
/// rows by a share of the velocity that the largest impulse would give them. The steps then leave
/// them there.
template <class Real, class Factor, class G>
SS_HD void keep_at_bounds(const G& g, Scaled<Real>& s, const Newton<Real, Factor>& w, double least,
                          double compliance) {
  const Real size = Real(sqrt(squared_size(g, s, w.z)));
  g.for_each(s.scalars + s.n_contacts, [&](int item) {
    const int i = first_row(s, item);
    if (!w.at.is(i, RowState::fixed)) return;
    const Real own = s.W_diag[i] * size, speed = parting_velocity(s, w, item, i);
    const bool moves = abs(double(speed)) > least * s.d[i] * s.q;
    if (!moves || abs(double(speed)) > 10.0 * compliance * double(own)) return;
    s.b[i] = fma(speed > Real(0) ? Real(0.1) : Real(-0.1), own, s.b[i]);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
