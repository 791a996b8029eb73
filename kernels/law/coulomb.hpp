// Coulomb's law, exact (Signorini 1933, Coulomb 1785; De Saxce & Feng 1998):
//
//   K_mu  ∋  r  ⟂  u + mu ||u_t|| e_n  ∈  K_mu*,   K_mu = {||r_t|| <= mu r_n}:
//
// an open contact has no impulse, a sticking one no velocity, and sliding friction mu r_n opposes
// the velocity. The shift of the gap, mu ||u_t||, makes it a complementarity over the cone.
#pragma once
#include "kernels/law/circular.hpp"
#include "kernels/law/facts.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Coulomb {
  SS_HD static constexpr LawFacts facts() { return {.may_jam = true, .has_central_path = true}; }
  SS_HD static constexpr bool supports(Solver solver) { return solver != Solver::lemke; }

  /// ||F||_inf / rho of a block and its rounding, m/s.
  template <class Scalar>
  SS_HD static Wide<Scalar> residual(const BlockView<Scalar>& v) {
    return cone_residual(v, true);
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

  /// The impulse of one block with the others fixed: open, sticking or sliding.
  template <class Block>
  SS_HD static void solve_block(Block& block) {
    const auto closed = block.c[0] < typename Block::Number(0);
    if (!any(closed)) return block.release();
    const auto slides = closed & !block.stick();
    block.release_unless(closed);
    if (any(slides)) block.slide(slides);
  }

  /// Rows of a contact near a solution.
  template <int dim>
  SS_HD static ContactState differentiate(const BlockRows<dim>& v) {
    return differentiate_cone(v, true);
  }
  template <int dim>
  SS_HD static void bend(const BlockRows<dim>& v, const BlockPath& one, const BlockPath& two,
                         double* bend) {
    bend_cone(v, true, one, two, bend);
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
