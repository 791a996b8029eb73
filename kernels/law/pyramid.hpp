// The friction pyramid (Stewart & Trinkle 1996): Coulomb's disk as a polygon of `directions`
// corners in the sliding plane (4: the diamond sum |r_j| <= mu r_n), of maximal dissipation: a
// linear complementarity problem, for Lemke's method. Rows beyond the sliding plane join the
// diamond.
#pragma once
#include "kernels/law/facets.hpp"
#include "kernels/law/facts.hpp"
#include "kernels/law/limits.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Pyramid {
  SS_HD static constexpr LawFacts facts() { return {.ladder = LadderKind::pivots}; }
  SS_HD static constexpr bool supports(Solver solver) {
    return solver == Solver::automatic || solver == Solver::lemke;
  }

  /// ||F||_inf / rho of a block and its rounding, m/s.
  template <class In>
  SS_HD static Wide<In> residual(const BlockView<In>& v) {
    return faceted_block_residual(v, true);
  }

  /// Moves the impulse of block k onto the set.
  template <int dim, class In>
  SS_HD static void make_feasible(const EnvProblem<In>& p, int k, In* r) {
    using Number = Wide<In>;
    const bool polygon = kIsPlain<In> && p.has_polygon(k);
    Number used = 0.0;  // the share of the allowed friction that is used: <= 1 inside the set
    [[maybe_unused]] PlanePoint plane{0.0, 0.0};
    limit_friction<dim>(p, k, r, [&](int j, Number r_j, Number, Number share) {
      if (polygon && j < 3) {
        if constexpr (kIsPlain<In>) (j == 1 ? plane.x : plane.y) = share;
      } else {
        used = Number(used + abs(share));
      }
      return r_j;
    });
    if constexpr (kIsPlain<In>) {
      if (polygon) used += polygon_gauge(p.directions, plane.x, plane.y);
    }
    shorten_friction<dim>(p, k, r, used > 1.0, [&] { return Number(1.0 / used); });
  }

  /// How far the impulse of a block lies outside the set, N s.
  template <class In>
  SS_HD static double violation(const BlockView<In>& v) {
    const double r_n = double(v.r[v.row()]);
    const bool polygon = v.p.has_polygon(v.k);
    double used = polygon ? polygon_gauge(v.p.directions, v.r_hat(1), v.r_hat(2)) : 0.0;
    double worst = max(0.0, -r_n);
    for (int j = polygon ? 3 : 1; j < v.dim; ++j) {
      if (v.scale(j) > 0.0) {
        used += abs(v.r_hat(j));
      } else {
        worst = max(worst, abs(v.r_hat(j)));
      }
    }
    return max(worst, used - v.mu * max(r_n, 0.0));
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
