// What the solvers and the ladder must know about a law.
#pragma once
#include <type_traits>

#include "kernels/group/defs.hpp"
#include "stickslip/types.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The set of friction that Newton's method linearises.
enum class Friction : std::int32_t {
  disk,   ///< of radius mu y_n: Alart-Curnier
  cone,   ///< natural map of the cone
  square  ///< |t_j| <= mu y_n
};

/// Calls f() with the set as a constant of the compiler, outside of the loops over a matrix.
template <class F>
SS_HD void with_friction(Friction friction, F&& f) {
  if (SS_LIKELY(friction == Friction::disk)) {
    f(std::integral_constant<Friction, Friction::disk>{});
  } else if (friction == Friction::cone) {
    f(std::integral_constant<Friction, Friction::cone>{});
  } else {
    f(std::integral_constant<Friction, Friction::square>{});
  }
}

/// The ladder of `solver = automatic` (kernels/ladder/ladder.cpp).
enum class LadderKind : std::int32_t {
  newton,  ///< sweeps and Newton
  primal,  ///< sweeps, Newton on the convex dual (primal.hpp), then the same
  sweeps,  ///< many sweeps, then Newton
  pivots   ///< Lemke's method
};

struct LawFacts {
  Friction friction = Friction::disk;
  LadderKind ladder = LadderKind::newton;
  bool needs_symmetric_W = false;
  bool is_frictionless = false;
  bool has_one_rho = false;       ///< blocks are projected as a whole, with one rho for all rows
  bool may_jam = false;           ///< a problem without solution may have no certificate
  bool has_central_path = false;  ///< the interior point can solve it
};

}  // namespace stickslip::kernels::inline SS_ISA
