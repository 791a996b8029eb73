// The equations that semismooth Newton solves: Alart-Curnier's reformulation for coulomb, the
// natural map of the convex cone for convex, clamps for scalar rows. All in velocity units.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/law/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What a row does in the current linearisation. A contact block carries its state in its first row.
enum class RowState : std::int32_t {
  fixed = 0,   ///< the impulse goes to a known value: dz = target - z
  active = 1,  ///< u = 0 (stick)
  sliding = 2  ///< on the surface of the cone
};

/// The linearisation at (z, u): states, residual F and the tangent of sliding blocks.
template <class Real>
struct Linearisation {
  std::int32_t* state;  ///< [n] RowState
  Real* F;              ///< [n]
  Real* target;         ///< [n] value that a fixed row takes
  Real* slide;  ///< [n] sliding block: row a holds kappa = radius / |y_t|, rows a+j the direction e

  SS_HD Linearisation(Arena& arena, int max_rows)
      : state(arena.take<std::int32_t>(max_rows)),
        F(arena.take<Real>(max_rows)),
        target(arena.take<Real>(max_rows)),
        slide(arena.take<Real>(max_rows)) {}
  SS_HD bool is(int row, RowState s) const { return state[row] == std::int32_t(s); }
};

/// Scalar row: y = z - rho u clamped to its bounds; rho is divided by `factor`. Returns the row's
/// share of the merit.
template <class Real>
SS_HD double linearise_row(const Scaled<Real>& s, const Linearisation<Real>& l, int i, Real factor,
                           const Real* z, const Real* u) {
  const Real y = fma(-s.rho[i] * (Real(1) / factor), u[i], z[i]);
  const bool low = y <= s.lo[i], high = y >= s.hi[i];
  const Real bound = low ? s.lo[i] : s.hi[i];
  l.state[i] = std::int32_t(low || high ? RowState::fixed : RowState::active);
  l.target[i] = bound;
  l.F[i] = low || high ? (z[i] - bound) * (s.rho_inv[i] * factor) : u[i];
  return double(l.F[i]) * double(l.F[i]) * double(s.rho[i]);
}

/// Contact block k; 1/rho of the normal and tangential rows are multiplied by `factor`.
/// coulomb: F_n = u_n, F_t = (r_t - P_disk(mu y_n)(y_t)) / rho_t while y_n = r_n - rho_n u_n > 0.
/// convex:  F = (r - P_K(r - rho u)) / rho.
template <class Real>
SS_HD double linearise_block(const Scaled<Real>& s, const Linearisation<Real>& l, int k, Real factor,
                             const Real* z, const Real* u) {
  const int a = s.block[k], dim = s.dim(k);
  const Real rho_n = s.rho[a] * (Real(1) / factor), rho_t = s.rho[a + 1] * (Real(1) / factor);
  const Real y_n = fma(-rho_n, u[a], z[a]);
  Real length = Real(0);
  for (int j = 1; j < dim; ++j) {
    const Real y = fma(-rho_t, u[a + j], z[a + j]);
    length = fma(y, y, length);
  }
  length = sqrt(length);
  const Real inverse_length = Real(1) / max(length, Real(1e-30));
  const Real mu = s.mu[k];
  const bool convex = s.law == Law::convex;
  const auto cone = convex ? project_cone(mu, y_n, length) : ConeProjection<Real>{};
  const bool open = convex ? !cone.inside && !(cone.normal > Real(0)) : y_n <= Real(0);
  const bool stick = !open && length <= mu * y_n;
  const RowState state = open ? RowState::fixed : (stick ? RowState::active : RowState::sliding);
  // Sliding: tangential impulse kappa y_t; normal impulse P_n (convex) or y_n (coulomb: F_n = u_n).
  const Real kappa = convex ? cone.factor : mu * y_n * inverse_length;
  const bool normal_closes = stick || (!convex && !open);  // F_n = u_n
  const Real normal_gap = open ? z[a] : (normal_closes ? u[a] * rho_n : z[a] - cone.normal);
  l.state[a] = std::int32_t(state);
  l.target[a] = Real(0);
  l.slide[a] = kappa;
  l.F[a] = normal_closes ? u[a] : normal_gap * (s.rho_inv[a] * factor);
  double merit = double(normal_gap) * double(normal_gap);
  for (int j = 1; j < dim; ++j) {
    const int i = a + j;
    const Real y = fma(-rho_t, u[i], z[i]);
    const Real gap = open ? z[i] : (stick ? u[i] * rho_t : fma(-kappa, y, z[i]));
    l.state[i] = std::int32_t(state);
    l.target[i] = Real(0);
    l.slide[i] = y * inverse_length;
    l.F[i] = stick ? u[i] : gap * (s.rho_inv[i] * factor);
    merit = fma(double(gap), double(gap), merit);
  }
  return merit * double(s.rho_inv[a]);
}

/// Linearises at (z, u) and returns the merit function sum |F_i|^2 rho (an energy).
template <class Real, class G>
SS_HD double linearise(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l, Real factor,
                       const Real* z, const Real* u) {
  return g.sum(s.scalars + s.n_contacts, [&](int item) {
    if (item < s.scalars) return linearise_row(s, l, item, factor, z, u);
    return linearise_block(s, l, item - s.scalars, factor, z, u);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
