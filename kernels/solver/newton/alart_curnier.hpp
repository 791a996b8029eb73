// The equations that semismooth Newton solves: Alart-Curnier's reformulation for coulomb, or the
// natural map of the cone (convex; coulomb with De Saxcé's Gamma, where Alart-Curnier stalls), and
// clamps for scalar rows. All in velocity units.
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
  Real* drift;  ///< [n] natural map of coulomb: mu u_t / |u_t|, the derivative of Gamma; else 0
  bool cone = false;      ///< natural map of the cone, not Alart-Curnier
  Real factor = Real(1);  ///< multiplies 1/rho: the same equations with other kinks

  SS_HD Linearisation(Arena& arena, int max_rows)
      : state(arena.take<std::int32_t>(max_rows)),
        F(arena.take<Real>(max_rows)),
        target(arena.take<Real>(max_rows)),
        slide(arena.take<Real>(max_rows)),
        drift(arena.take<Real>(max_rows)) {}
  SS_HD bool is(int row, RowState s) const { return state[row] == std::int32_t(s); }
  /// 1/rho of row i of a block whose first row is a. The cone is projected as a whole and takes one
  /// number for all rows; under convex the two are that number already.
  SS_HD Real stiffness(const Scaled<Real>& s, int a, int i) const {
    const bool sum = cone && s.law != Law::convex;
    return factor * (sum ? s.rho_inv[a] + s.rho_inv[a + 1] : s.rho_inv[i]);
  }
};

/// Scalar row: y = z - rho u clamped to its bounds. Returns the row's share of the merit.
template <class Real>
SS_HD double linearise_row(const Scaled<Real>& s, const Linearisation<Real>& l, int i,
                           const Real* z, const Real* u) {
  const Real y = fma(-s.rho[i] * (Real(1) / l.factor), u[i], z[i]);
  const bool low = y <= s.lo[i], high = y >= s.hi[i];
  const Real bound = low ? s.lo[i] : s.hi[i];
  l.state[i] = std::int32_t(low || high ? RowState::fixed : RowState::active);
  l.target[i] = bound;
  l.F[i] = low || high ? (z[i] - bound) * (s.rho_inv[i] * l.factor) : u[i];
  return double(l.F[i]) * double(l.F[i]) * double(s.rho[i]);
}

/// Contact block k.
/// Alart-Curnier: F_n = u_n, F_t = (r_t - P_disk(mu y_n)(y_t)) / rho_t while y_n = r_n - rho_n u_n
/// > 0. Natural map:   F = (r - P_K(r - rho (u + Gamma))) / rho, Gamma = mu ||u_t|| e_n for
/// coulomb.
template <class Real>
SS_HD double linearise_block(const Scaled<Real>& s, const Linearisation<Real>& l, int k,
                             const Real* z, const Real* u) {
  const int a = s.block[k], dim = s.dim(k);
  const Real stiffness_n = l.stiffness(s, a, a), stiffness_t = l.stiffness(s, a, a + 1);
  const Real rho_n = Real(1) / stiffness_n, rho_t = Real(1) / stiffness_t;
  const Real mu = s.mu[k];
  Real length = Real(0), speed = Real(0);
  for (int j = 1; j < dim; ++j) {
    const Real y = fma(-rho_t, u[a + j], z[a + j]);
    length = fma(y, y, length);
    speed = fma(u[a + j], u[a + j], speed);
  }
  length = sqrt(length);
  const bool drifts = l.cone && s.law != Law::convex;
  speed = drifts ? sqrt(speed) : Real(0);
  const Real y_n = fma(-rho_n, fma(mu, speed, u[a]), z[a]);
  const Real inverse_length = Real(1) / max(length, Real(1e-30));
  const Real drift = drifts ? mu / max(speed, Real(1e-30)) : Real(0);
  const auto cone = l.cone ? project_cone(mu, y_n, length) : ConeProjection<Real>{};
  const bool open = l.cone ? !cone.inside && !(cone.normal > Real(0)) : y_n <= Real(0);
  const bool stick = !open && length <= mu * y_n;
  const RowState state = open ? RowState::fixed : (stick ? RowState::active : RowState::sliding);
  // Sliding: tangential impulse kappa y_t; normal impulse P_n, or y_n (Alart-Curnier: F_n = u_n).
  const Real kappa = l.cone ? cone.factor : mu * y_n * inverse_length;
  const bool normal_closes = stick || (!l.cone && !open);  // F_n = u_n
  const Real normal_gap = open ? z[a] : (normal_closes ? u[a] * rho_n : z[a] - cone.normal);
  l.state[a] = std::int32_t(state);
  l.target[a] = Real(0);
  l.slide[a] = kappa;
  l.F[a] = normal_closes ? u[a] : normal_gap * stiffness_n;
  double merit = double(normal_gap) * double(normal_gap);
  for (int j = 1; j < dim; ++j) {
    const int i = a + j;
    const Real y = fma(-rho_t, u[i], z[i]);
    const Real gap = open ? z[i] : (stick ? u[i] * rho_t : fma(-kappa, y, z[i]));
    l.state[i] = std::int32_t(state);
    l.target[i] = Real(0);
    l.slide[i] = y * inverse_length;
    l.drift[i] = drift * u[i];
    l.F[i] = stick ? u[i] : gap * stiffness_t;
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
    return linearise_block(s, l, item - s.scalars, z, u);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
