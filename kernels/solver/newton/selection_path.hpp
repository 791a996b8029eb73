// The path on which Newton's method selects one solution among many: to the solution of the problem
// with the compliance epsilon D, and on over proximal points (docs/mathematics.md §9).
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/solver/newton/line_search.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// max|z|^2
template <class Real, class G>
SS_HD double squared_size(const G& g, const Scaled<Real>& s, const Real* z) {
  const double size = g.max(s.n, [&](int i) { return abs(double(z[i])); });
  return size * size;
}

/// What tells one set of rows at their bounds from another, for little impulses more or less.
template <class Real, class Factor, class G>
SS_HD double rows_at_bounds(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w) {
  constexpr double kLittle = 1e-3;  // of the largest: more than what compliance of 1e-4 changes
  const Real little = Real(kLittle * sqrt(squared_size(g, s, w.z)));
  return g.sum(s.scalars + s.n_contacts, [&](int item) {
    const int i = first_row(s, item);
    const bool contact = item >= s.scalars;
    const bool low = w.z[i] <= (contact ? Real(0) : s.lo[i]) + little;
    const bool high = !contact && w.z[i] >= s.hi[i] - little;
    return low || high ? double(hashed_bits(i, 1, 0)) : 0.0;
  });
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

/// Whether the path has the choice of its start still: rows that have come to their bounds or left
/// them change which impulses are the least.
template <class Real, class Factor, class G>
SS_HD bool keeps_choice(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                        const NewtonProgress<Real, Factor>& path) {
  return rows_at_bounds(g, s, w) == path.at_bounds;
}

/// Whether some contact slides.
template <class Real, class Factor, class G>
SS_HD bool any_slides(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w) {
  return g.any(s.n, [&](int i) { return w.at.is(i, RowState::sliding); });
}

/// Begins to select at the solution z, where the equations are linearised.
template <class Real, class Factor, class G, class Scalar>
SS_HD void begin_selection(const G& g, Scaled<Real>& s, const Newton<Real, Factor>& w,
                           const Judge<Scalar>& judge, NewtonProgress<Real, Factor>& path) {
  keep_at_bounds(g, s, w, double(judge.at->tolerance), kSelecting<Scalar>);
  path.first = true;
  path.soft = Real(kSelecting<Scalar>);
  path.more.proximal = Factor(path.soft);
  path.anew = true;
}

enum class Moved : std::int32_t { yes, no, found };

/// Whether the first step of the path is done. `selected`: merit for that.
template <class S, class Real, class Factor, class G>
SS_HD bool is_first_done(const G& g, const S& s, const Newton<Real, Factor>& w,
                         const NewtonProgress<Real, Factor>& path, Moved moved, double selected,
                         int steps) {
  if (moved == Moved::found) return true;
  if (steps == 0 || moved == Moved::no) return false;
  // Or the merit is all rounding, and steps change nothing else.
  const double enough = path.waited > 1 ? max(selected, kRoundedMerit) : selected;
  return path.merit < enough * squared_size(g, s, w.z);
}

/// Whether the iterate is near enough to the proximal point.
template <class Real, class Factor>
SS_HD bool is_point_done(const NewtonProgress<Real, Factor>& path, Moved moved, int steps) {
  constexpr double kNearPoint = 0.3;  // merit, of that of the anchor
  if (!is_proximal(path) || moved != Moved::yes || steps == 0) return false;
  return sizeof(Real) == 4 || path.merit < max(kNearPoint * path.natural, kTinyMerit);
}

/// Ends a step of the path at z, from where the next begins: with less compliance where the last
/// has contracted slowly. Gives up where little compliance has changed nothing: at a kink.
template <class S, class Real, class Factor, class G>
SS_HD void next_point(const G& g, const S& s, const Newton<Real, Factor>& w,
                      NewtonProgress<Real, Factor>& path) {
  constexpr Real kLeast = sizeof(Factor) == 4 ? Real(kFloatEpsilon) : Real(1e-12);
  constexpr Real kLittle = sizeof(Factor) == 4 ? Real(1e-5) : Real(2e-7);
  for_chunks(g, s.n, [&](int i) {
    w.u[i] = fma(-path.soft * s.selecting[i], w.z[i] - w.anchor[i], w.u[i]);
    w.anchor[i] = w.z[i];
  });
  begin_search(g, s, w, path);
  path.contraction = path.first ? 0.0 : path.merit / path.natural;
  path.natural = path.merit;
  path.leapt = false;
  if (path.first) path.at_bounds = rows_at_bounds(g, s, w);
  path.first = false;
  if (!(path.contraction > kSlow)) return;
  if (path.contraction > 0.9 && path.contraction < 1.01 && path.soft < kLittle)
    path.more.epsilon = Factor(kGivenUp);
  path.soft = max(path.soft * Real(0.1), kLeast);
  path.more.proximal = Factor(path.soft);
  path.keeps = false;
}

}  // namespace stickslip::kernels::inline SS_ISA
