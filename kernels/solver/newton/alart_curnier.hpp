// The equations that semismooth Newton solves: Alart-Curnier's reformulation for coulomb, or the
// natural map of the cone for convex, and clamps for scalar rows. All in velocity units.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/law/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What a row does in the current linearisation. A contact block carries its state in its first
/// row.
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
  bool cone = false;       ///< natural map of the cone, not Alart-Curnier
  Real factor = Real(1);   ///< multiplies 1/rho: the same equations with other kinks
  Real inverse = Real(1);  ///< 1 / factor

  SS_HD Linearisation(Arena& arena, int max_rows)
      : state(arena.take<std::int32_t>(max_rows)),
        F(arena.take<Real>(max_rows)),
        target(arena.take<Real>(max_rows)),
        slide(arena.take<Real>(max_rows)) {}
  SS_HD bool is(int row, RowState s) const { return state[row] == std::int32_t(s); }
  /// 1/rho of row i.
  SS_HD Real stiffness(const Scaled<Real>& s, int i) const { return factor * s.rho_inv[i]; }
};

/// Scalar row: y = z - rho u clamped to its bounds. Returns the row's share of the merit.
template <class Real>
SS_HD double linearise_row(const Scaled<Real>& s, const Linearisation<Real>& l, int i,
                           const Real* z, const Real* u) {
  const Real y = fma(-s.rho[i] * l.inverse, u[i], z[i]);
  const bool low = y <= s.lo[i], high = y >= s.hi[i];
  const Real bound = low ? s.lo[i] : s.hi[i];
  l.state[i] = std::int32_t(low || high ? RowState::fixed : RowState::active);
  l.target[i] = bound;
  l.F[i] = low || high ? (z[i] - bound) * (s.rho_inv[i] * l.factor) : u[i];
  return double(l.F[i]) * double(l.F[i]) * double(s.rho[i]);
}

/// Contact block k by Alart-Curnier: while y_n = r_n - rho_n u_n > 0,
///   F_n = u_n,  F_t = (r_t - P_disk(mu y_n)(y_t)) / rho_t  with y_t = r_t - rho_t u_t.
template <int dim, class Real>
SS_HD double linearise_alart_curnier(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                                     const Real* z, const Real* u) {
  const int a = s.block[k];
  const Real rho_n = s.rho[a] * l.inverse, rho_t = s.rho[a + 1] * l.inverse;
  const Real stiffness_t = s.rho_inv[a + 1] * l.factor;
  const Real y_n = fma(-rho_n, u[a], z[a]), limit = s.mu[k] * y_n;
  Real y[dim], square = Real(0);
  for (int j = 1; j < dim; ++j) {
    y[j] = fma(-rho_t, u[a + j], z[a + j]);
    square = fma(y[j], y[j], square);
  }
  const bool open = y_n <= Real(0), stick = !open && square <= limit * limit;
  const bool slides = !open && !stick;
  const RowState state = open ? RowState::fixed : (stick ? RowState::active : RowState::sliding);
  const Real inverse_length = slides ? Real(1) / sqrt(square) : Real(0);
  const Real kappa = limit * inverse_length;
  const Real gap_n = open ? z[a] : u[a] * rho_n;
  l.state[a] = std::int32_t(state);
  l.target[a] = Real(0);
  l.slide[a] = kappa;
  l.F[a] = open ? z[a] * (s.rho_inv[a] * l.factor) : u[a];
  double merit = double(gap_n) * double(gap_n);
  for (int j = 1; j < dim; ++j) {
    const int i = a + j;
    const Real gap = stick ? u[i] * rho_t : (open ? z[i] : fma(-kappa, y[j], z[i]));
    l.state[i] = std::int32_t(state);
    l.target[i] = Real(0);
    l.slide[i] = y[j] * inverse_length;
    l.F[i] = stick ? u[i] : gap * stiffness_t;
    merit = fma(double(gap), double(gap), merit);
  }
  return merit * double(s.rho_inv[a]);
}

/// Contact block k by the natural map of the cone: F = (r - P_K(r - rho u)) / rho.
template <class Real>
SS_HD double linearise_cone(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                            const Real* z, const Real* u) {
  const int a = s.block[k], dim = s.dim(k);
  const Real stiffness = l.stiffness(s, a), rho = Real(1) / stiffness, mu = s.mu[k];
  Real length = Real(0);
  for (int j = 1; j < dim; ++j) {
    const Real y = fma(-rho, u[a + j], z[a + j]);
    length = fma(y, y, length);
  }
  length = sqrt(length);
  const Real y_n = fma(-rho, u[a], z[a]);
  const Real inverse_length = Real(1) / max(length, Real(1e-30));
  const auto cone = project_cone(mu, y_n, length);
  const bool stick = cone.inside, open = !stick && !(cone.normal > Real(0));
  const RowState state = open ? RowState::fixed : (stick ? RowState::active : RowState::sliding);
  double merit = 0.0;
  for (int j = 0; j < dim; ++j) {
    const int i = a + j;
    const Real y = fma(-rho, u[i], z[i]);
    const Real image = j == 0 ? cone.normal : cone.factor * y;
    const Real gap = stick ? u[i] * rho : z[i] - image;
    l.state[i] = std::int32_t(state);
    l.target[i] = Real(0);
    l.slide[i] = j == 0 ? cone.factor : y * inverse_length;
    l.F[i] = stick ? u[i] : gap * stiffness;
    merit = fma(double(gap), double(gap), merit);
  }
  return merit * double(s.rho_inv[a]);
}

/// Linearises at (z, u) and returns the merit function sum |F_i|^2 rho (an energy).
template <class Real, class G>
SS_HD double linearise(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                       const Real* z, const Real* u) {
  return g.sum(s.scalars + s.n_contacts, [&](int item) {
    if (item < s.scalars) return linearise_row(s, l, item, z, u);
    const int k = item - s.scalars;
    if (l.cone) return linearise_cone(s, l, k, z, u);
    double merit = 0.0;
    with_dim(s.dim(k), [&](auto dim) { merit = linearise_alart_curnier<dim()>(s, l, k, z, u); });
    return merit;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
