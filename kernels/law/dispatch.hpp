// The laws, chosen at run time: the only list of them in the kernels.
#pragma once
#include "kernels/law/box.hpp"
#include "kernels/law/convex.hpp"
#include "kernels/law/coulomb.hpp"
#include "kernels/law/frictionless.hpp"
#include "kernels/law/pyramid.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// f(its) for the struct of a law, whose functions are static. Kernels are not templated on the
/// law: they would multiply. The host refuses a law without a name.
template <class F>
SS_HD auto with_law(Law law, F&& f) {
  if (SS_LIKELY(law == Law::coulomb)) return f(Coulomb{});
  if (law == Law::convex) return f(Convex{});
  if (law == Law::pyramid) return f(Pyramid{});
  if (law == Law::box) return f(Box{});
  return f(Frictionless{});
}

SS_HD LawFacts facts_of(Law law) {
  return with_law(law, [](auto its) { return its.facts(); });
}

/// Whether a solver supports a law.
SS_HD bool solver_supports(Solver solver, Law law) {
  return with_law(law, [&](auto its) { return its.supports(solver); });
}

/// Whether the law gives its rows near a solution (block_rows.hpp): without them, no derivatives.
template <class L>
inline constexpr bool has_derivative = requires(const BlockRows<3>& rows) {
  L::differentiate(rows);
};

/// Whether the rows of its sliding contacts are curved, so that they have second derivatives.
template <class L>
inline constexpr bool has_bend = requires(const BlockRows<3>& rows, const BlockPath& path) {
  L::bend(rows, path, path, rows.A);
};

/// Directions of the pyramid if the law solves an LCP with them, else 0.
SS_HD int lcp_directions(const SolveOptions& o) {
  return facts_of(o.law).ladder == LadderKind::pivots ? o.directions : 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
