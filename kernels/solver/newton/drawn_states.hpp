// A start for Newton from random states: each contact open, sticking or sliding in some direction,
// each bounded row at a bound or between. One step of the equations linearised there finds the
// impulses of these states, of any size. If only impulses are random, their velocities determine
// the states, and some states never occur.
#pragma once
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// z and u of scalar row i.
template <class Real>
SS_HD void draw_row(const Scaled<Real>& s, int i, double draw, Real* z, Real* u) {
  const bool low = is_finite(s.lo[i]), high = is_finite(s.hi[i]);
  const double bounds = (low ? 1.0 : 0.0) + (high ? 1.0 : 0.0);
  const bool at_bound = draw < bounds / (bounds + 1.0);
  const bool at_low = low && (!high || draw < 1.0 / (bounds + 1.0));
  const Real between = low && high ? Real(0.5) * (s.lo[i] + s.hi[i])
                       : low       ? s.lo[i] + Real(1)
                       : high      ? s.hi[i] - Real(1)
                                   : Real(0);
  z[i] = !at_bound ? between : (at_low ? s.lo[i] : s.hi[i]);
  u[i] = !at_bound ? Real(0) : (at_low ? s.rho_inv[i] : -s.rho_inv[i]);
}

/// z and u of contact block k. For sliding along e, r_t = mu r_n e, and rho_t |u_t| is such that
/// kappa = mu r_n / |r_t - rho_t u_t| is a number in (0, 1).
template <class Real>
SS_HD void draw_contact(const Scaled<Real>& s, int k, int seed, Real* z, Real* u) {
  const auto draw = [&](int i, std::uint32_t use) {
    return fraction_of(hashed_bits(i, seed, 977U + use));
  };
  const int a = s.block[k];
  const double kind = 3.0 * draw(a, 0);
  z[a] = Real(kind < 1.0 ? 0 : 1);
  u[a] = kind < 1.0 ? s.rho_inv[a] : Real(0);
  double square = 0.0;
  for (int i = a + 1; i < s.block[k + 1]; ++i) {
    const double e = draw(i, 1) - 0.5;
    square = fma(e, e, square);
  }
  const double slide = kind < 2.0 || !(square > 0.0) ? 0.0 : double(s.mu[k]) / sqrt(square);
  const double kappa = 0.01 + 0.98 * draw(a, 2);
  for (int i = a + 1; i < s.block[k + 1]; ++i) {
    z[i] = Real(slide * (draw(i, 1) - 0.5));
    u[i] = -z[i] * Real(1.0 / kappa - 1.0) * s.rho_inv[i];
  }
}

/// Fills z and u; u need not be the velocity of z.
template <class Real, class G>
SS_HD void draw_states(const G& g, const Scaled<Real>& s, int seed, Real* z, Real* u) {
  g.for_each(s.ld, [&](int i) { z[i] = u[i] = Real(0); });
  g.for_each(s.scalars + s.n_contacts, [&](int item) {
    if (item < s.scalars) {
      draw_row(s, item, fraction_of(hashed_bits(item, seed, 971U)), z, u);
    } else {
      draw_contact(s, item - s.scalars, seed, z, u);
    }
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
