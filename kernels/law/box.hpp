// Friction of each axis by itself (box friction; Bullet, ODE):
//
//   0 <= r_n ⟂ u_n >= 0,   -mu_j r_n <= r_j <= mu_j r_n,   u_j = 0 inside these bounds, and against
//
// r_j at them: a square around the disk of Coulomb's law.
#pragma once
#include "kernels/law/circular.hpp"
#include "kernels/law/facets.hpp"
#include "kernels/law/facts.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Box {
  SS_HD static constexpr LawFacts facts() {
    return {.friction = Friction::square, .ladder = LadderKind::sweeps, .may_jam = true};
  }
  SS_HD static constexpr bool supports(Solver solver) {
    return solver == Solver::automatic || solver == Solver::pgs || solver == Solver::newton;
  }

  /// ||F||_inf / rho of a block and its rounding, m/s.
  template <class Scalar>
  SS_HD static Wide<Scalar> residual(const BlockView<Scalar>& v) {
    return faceted_block_residual(v, false);
  }

  /// Moves the impulse of block k onto the set.
  template <int dim, class Scalar>
  SS_HD static void make_feasible(const EnvProblem<Scalar>& p, int k, Scalar* r) {
    using Number = Wide<Scalar>;
    limit_friction<dim>(p, k, r, [](int, Number r_j, Number limit, Number) {
      return Number(project_square(r_j, limit));
    });
  }

  /// How far the impulse of a block lies outside the set, N s.
  template <class Scalar>
  SS_HD static double violation(const BlockView<Scalar>& v) {
    const double r_n = double(v.r[v.row()]), limit = v.mu * max(r_n, 0.0);
    double worst = max(0.0, -r_n);
    for (int j = 1; j < v.dim; ++j) {
      worst = max(worst, abs(v.r_hat(j)) - (v.scale(j) > 0.0 ? limit : 0.0));
    }
    return worst;
  }

  /// The impulse of one block with the others fixed: axis by axis.
  template <class Block>
  SS_HD static void solve_block(Block& block) {
    block.clamp_axes();
  }

  /// Rows of a contact near a solution: du_n = 0; dz_j = +-mu dz_n at a bound, du_j = 0 inside.
  template <int dim>
  SS_HD static ContactState differentiate(const BlockRows<dim>& v) {
    const double y_n = v.y(0), limit = v.mu * y_n;
    if (y_n <= 0.0) return {Contact::open, -y_n, -y_n};
    const auto excess = [&](int j) { return abs(v.y(j)) - limit; };
    double softest = v.softness[0];  // of the normal and the axes that stick
    for (int j = 1; j < dim; ++j) {
      if (excess(j) <= 0.0) softest = max(softest, v.softness[j]);
    }
    const double normal = v.mu * v.mu * v.softness[0];
    Nearest nearest{y_n, y_n / sqrt(v.softness[0] * softest)};
    v.b(0, 0) = 1.0;
    for (int j = 1; j < dim; ++j) {
      const bool sticks = excess(j) <= 0.0;
      const double own = sticks ? v.softness[j] : 1.0;
      if (v.is_free(j)) nearest.see(abs(excess(j)), sqrt((own + normal) * softest));
      if (sticks) {
        v.b(j, j) = 1.0;
      } else {
        v.a(j, j) = 1.0;
        v.a(j, 0) = v.y(j) > 0.0 ? -v.mu : v.mu;
      }
    }
    return {Contact::slide, nearest.margin, nearest.firm};
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
