// Signorini's law (1933): 0 <= r_n ⟂ u_n >= 0, and no friction, whatever the coefficients.
#pragma once
#include "kernels/law/circular.hpp"
#include "kernels/law/facts.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Frictionless {
  SS_HD static constexpr LawFacts facts() {
    return {.is_frictionless = true, .has_central_path = true};
  }
  SS_HD static constexpr bool supports(Solver solver) { return solver != Solver::lemke; }

  /// ||F||_inf / rho of a block and its rounding, m/s: without differences of impulses and
  /// velocities.
  template <class Scalar>
  SS_HD static Wide<Scalar> residual(const BlockView<Scalar>& v) {
    using Number = Wide<Scalar>;
    const Number inverse_rho = v.inverse_rho();
    const Number r_n = Number(v.r[v.row()]), u_n = v.u[v.row()];
    Number worst = abs(min(r_n, u_n / inverse_rho)) * inverse_rho;
    for (int j = 1; j < v.dim; ++j) {
      worst = max(worst, abs(Number(v.r[v.row() + j])) * inverse_rho);
    }
    return widened(worst);
  }

  /// Moves the impulse of block k onto the set.
  template <int dim, class Scalar>
  SS_HD static void make_feasible(const EnvProblem<Scalar>& p, int k, Scalar* r) {
    limit_friction<dim>(
        p, k, r, [](int, Wide<Scalar>, Wide<Scalar>, Wide<Scalar>) { return Wide<Scalar>(0.0); });
  }

  /// How far the impulse of a block lies outside the set, N s.
  template <class Scalar>
  SS_HD static double violation(const BlockView<Scalar>& v) {
    return circular_violation(v);
  }

  /// The impulse of one block with the others fixed.
  template <class Block>
  SS_HD static void solve_block(Block& block) {
    block.push_normal();
  }

  /// Rows of a contact near a solution.
  template <int dim>
  SS_HD static ContactState differentiate(const BlockRows<dim>& v) {
    const double y_n = v.y(0);
    return {y_n > 0.0 ? Contact::stick : Contact::open, abs(y_n), abs(y_n)};
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
