// The convex model of MuJoCo (Todorov 2014; Anitescu 2006): Coulomb's law without the shift of the
// gap,
//
//   K_mu  ∋  r  ⟂  u  ∈  K_mu*,
//
// the optimality conditions of  min 1/2 r^T W r + b^T r  over the cones. Sliding contacts separate
// with u_n = mu ||u_t||. W must be symmetric.
#pragma once
#include "kernels/law/circular.hpp"
#include "kernels/law/facts.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Convex {
  SS_HD static constexpr LawFacts facts() {
    return {.friction = Friction::cone,
            .ladder = LadderKind::primal,
            .needs_symmetric_W = true,
            .has_one_rho = true};
  }
  SS_HD static constexpr bool supports(Solver solver) { return solver != Solver::lemke; }

  /// ||F||_inf / rho of a block and its rounding, m/s.
  template <class Scalar>
  SS_HD static Wide<Scalar> residual(const BlockView<Scalar>& v) {
    return cone_residual(v, false);
  }

  /// Moves the impulse of block k onto the set.
  template <int dim, class Scalar>
  SS_HD static void make_feasible(const EnvProblem<Scalar>& p, int k, Scalar* r) {
    make_circular<dim>(p, k, r);
  }

  /// How far the impulse of a block lies outside the set, N s.
  template <class Scalar>
  SS_HD static double violation(const BlockView<Scalar>& v) {
    return circular_violation(v);
  }

  /// The impulse of one block with the others fixed: sticking, else some steps of projected
  /// gradient.
  template <class Block>
  SS_HD static void solve_block(Block& block) {
    const auto slides = !block.stick();
    if (any(slides)) block.project_gradient(slides);
  }

  /// Rows of a contact near a solution.
  template <int dim>
  SS_HD static ContactState differentiate(const BlockRows<dim>& v) {
    return differentiate_cone(v, false);
  }
  template <int dim>
  SS_HD static void bend(const BlockRows<dim>& v, const BlockPath& one, const BlockPath& two,
                         double* bend) {
    bend_cone(v, false, one, two, bend);
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
