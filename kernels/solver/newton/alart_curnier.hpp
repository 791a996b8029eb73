// The equations that semismooth Newton solves: Alart-Curnier's reformulation for coulomb, the
// natural map of the cone for convex, Alart-Curnier's applied axis by axis for box, and clamps for
// scalar rows. All in velocity units.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The state of a row in the current linearisation. A contact block stores its state in its first
/// row.
enum class RowState : std::int32_t {
  fixed = 0,   ///< the impulse takes a known value: dz = target - z
  active = 1,  ///< u = 0 (stick)
  sliding = 2  ///< on the surface of the cone
};

/// The linearisation at (z, u): states, residual F and the tangent of sliding blocks.
template <class Real>
struct Linearisation {
  std::int32_t* state;  ///< [n] RowState
  Real* F;              ///< [n]
  Real* target;         ///< [n] value that a fixed row takes
  /// [n] sliding block: row a holds kappa = radius / |y_t|, rows a+j the direction e; for a square
  /// e_j is the sign of t_j at its bound, 0 inside.
  Real* slide;
  Friction friction = Friction::disk;
  bool sticks = false;     ///< all contacts (disk)
  bool steep = false;      ///< rho of normals divided by mu^2 where mu > 1 (not cone)
  Real factor = Real(1);   ///< multiplies 1/rho: the same equations with kinks at other places
  Real inverse = Real(1);  ///< 1 / factor

  SS_HD Linearisation(Arena& arena, int max_rows)
      : state(arena.take<std::int32_t>(max_rows)),
        F(arena.take<Real>(max_rows)),
        target(arena.take<Real>(max_rows)),
        slide(arena.take<Real>(max_rows)) {}
  SS_HD bool is(int row, RowState s) const { return state[row] == std::int32_t(s); }
  /// Factor of rho of the normal of contact k. On a steep cone mu y_n exceeds the friction that
  /// occurs, and the error of y_n times mu dominates: it should be as small as that of y_t.
  SS_HD Real normal_share(const Scaled<Real>& s, int k) const {
    return steep && s.mu[k] > Real(1) ? Real(1) / (s.mu[k] * s.mu[k]) : Real(1);
  }
  /// 1/rho of row j of contact k. Where others carry its load too, its impulse changes less than
  /// its own mobility says: rho is larger.
  SS_HD Real inverse_rho(const Scaled<Real>& s, int k, int j) const {
    return factor * s.share[k] * s.rho_inv[s.block[k] + j];
  }
  SS_HD Real rho(const Scaled<Real>& s, int k, int j) const {
    return inverse * s.crowd[k] * s.rho[s.block[k] + j];
  }
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

/// The normal of a contact by Alart-Curnier, and the limit of its friction.
template <class Real>
struct NormalPart {
  bool open;      ///< y_n = r_n - rho_n u_n <= 0
  Real limit;     ///< mu y_n
  double square;  ///< of the normal's gap
};

template <class Real>
SS_HD NormalPart<Real> linearise_normal(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                                        const Real* z, const Real* u) {
  const int a = s.block[k];
  const Real share = l.normal_share(s, k), rho = l.rho(s, k, 0) * share;
  const Real y = fma(-rho, u[a], z[a]);
  const bool open = y <= Real(0) && !l.sticks;
  const Real gap = open ? z[a] : u[a] * rho;
  l.target[a] = Real(0);
  l.F[a] = open ? z[a] * l.inverse_rho(s, k, 0) / share : u[a];
  return {open, s.mu[k] * y, double(gap) * double(gap)};
}

/// Contact block k by Alart-Curnier: while y_n = r_n - rho_n u_n > 0,
///   F_n = u_n,  F_t = (r_t - P_disk(mu y_n)(y_t)) / rho_t  with y_t = r_t - rho_t u_t.
template <int dim, class Real>
SS_HD double linearise_alart_curnier(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                                     const Real* z, const Real* u) {
  const int a = s.block[k];
  const auto [open, limit, normal] = linearise_normal(s, l, k, z, u);
  const Real rho_t = l.rho(s, k, 1), inverse_rho_t = l.inverse_rho(s, k, 1);
  Real y[dim], square = Real(0);
  for (int j = 1; j < dim; ++j) {
    y[j] = fma(-rho_t, u[a + j], z[a + j]);
    square = fma(y[j], y[j], square);
  }
  const bool stick = !open && (l.sticks || square <= limit * limit), slides = !open && !stick;
  const RowState state = open ? RowState::fixed : (stick ? RowState::active : RowState::sliding);
  const Real inverse_length = slides ? Real(1) / sqrt(square) : Real(0);
  const Real kappa = limit * inverse_length;
  l.state[a] = std::int32_t(state);
  l.slide[a] = kappa;
  double merit = normal;
  for (int j = 1; j < dim; ++j) {
    const int i = a + j;
    const Real gap = stick ? u[i] * rho_t : (open ? z[i] : fma(-kappa, y[j], z[i]));
    l.state[i] = std::int32_t(state);
    l.target[i] = Real(0);
    l.slide[i] = y[j] * inverse_length;
    l.F[i] = stick ? u[i] : gap * inverse_rho_t;
    merit = fma(double(gap), double(gap), merit);
  }
  return merit * double(s.share[k] * s.rho_inv[a]);
}

/// The same axis by axis: F_j = (r_j - clamp(y_j, +-mu y_n)) / rho_t.
template <class Real>
SS_HD double linearise_square(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                              const Real* z, const Real* u) {
  const int a = s.block[k];
  const auto [open, limit, normal] = linearise_normal(s, l, k, z, u);
  const Real rho_t = l.rho(s, k, 1), inverse_rho_t = l.inverse_rho(s, k, 1);
  double merit = normal;
  bool slides = false;
  for (int i = a + 1; i < s.block[k + 1]; ++i) {
    const Real y = fma(-rho_t, u[i], z[i]);
    const Real sign = open || abs(y) <= limit ? Real(0) : Real(y > Real(0) ? 1 : -1);
    const bool within = !open && sign == Real(0);
    const Real gap = within ? u[i] * rho_t : (open ? z[i] : fma(-sign, limit, z[i]));
    slides = slides || sign != Real(0);
    l.target[i] = Real(0);
    l.slide[i] = sign;
    l.F[i] = within ? u[i] : gap * inverse_rho_t;
    merit = fma(double(gap), double(gap), merit);
  }
  const RowState state = open ? RowState::fixed : slides ? RowState::sliding : RowState::active;
  for (int i = a; i < s.block[k + 1]; ++i) l.state[i] = std::int32_t(state);
  l.slide[a] = Real(0);
  return merit * double(s.share[k] * s.rho_inv[a]);
}

/// Contact block k by the natural map of the cone: F = (r - P_K(r - rho u)) / rho.
template <class Real>
SS_HD double linearise_cone(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                            const Real* z, const Real* u) {
  const int a = s.block[k], dim = s.dim(k);
  const Real inverse_rho = l.inverse_rho(s, k, 0), rho = l.rho(s, k, 0), mu = s.mu[k];
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
    l.F[i] = stick ? u[i] : gap * inverse_rho;
    merit = fma(double(gap), double(gap), merit);
  }
  return merit * double(s.share[k] * s.rho_inv[a]);
}

/// Linearises at (z, u) and returns the merit function sum |F_i|^2 rho (an energy).
template <class Real, class G>
SS_PART double linearise(const G& g, const Scaled<Real>& s, const Linearisation<Real>& l,
                         const Real* z, const Real* u) {
  return g.sum(s.scalars + s.n_contacts, [&](int item) {
    if (item < s.scalars) return linearise_row(s, l, item, z, u);
    const int k = item - s.scalars;
    if (l.friction == Friction::cone) return linearise_cone(s, l, k, z, u);
    if (l.friction == Friction::square) return linearise_square(s, l, k, z, u);
    double merit = 0.0;
    with_dim(s.dim(k), [&](auto dim) { merit = linearise_alart_curnier<dim()>(s, l, k, z, u); });
    return merit;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
