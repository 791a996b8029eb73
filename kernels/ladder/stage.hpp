// One stage of a ladder: a solver, its budget, where it starts, and whether it solves the problem
// as given or an altered one. The same types for every instruction set.
#pragma once
#include "kernels/linalg/attempt.hpp"
#include "stickslip/types.hpp"

namespace stickslip::kernels {

enum class Method : std::int32_t {
  none,
  pgs,
  newton,
  primal,
  lemke,
  farkas,
  interior,
  continuation
};

/// Where a stage starts.
enum class Start : std::int32_t {
  last,             ///< where the previous stage ended
  given,            ///< at the warm start, or else at zero impulses
  zero,             ///< at zero impulses
  random_states,    ///< from `seed`: contacts open, sticking or sliding
  random_impulses,  ///< of such contacts, from `seed`
  best              ///< at the best impulse so far
};

inline constexpr double kEpsilon = 1e-8;       ///< least regularisation of Newton's Jacobian
inline constexpr double kWeakEpsilon = 1e-12;  ///< for contacts that are nearly identical

inline constexpr int kNever = 1 << 30;  ///< more rows than any environment has

struct Stage {
  Method method = Method::none;
  int rung = 0;               ///< of the ladder; stored with the result
  int budget = 0;             ///< sweeps, steps or pivots
  double factor = 1.0;        ///< multiplies 1/rho of Newton's natural map
  double epsilon = kEpsilon;  ///< least regularisation, in double (newton)
  bool selects = false;       ///< one solution among many (newton)
  bool steep = false;         ///< friction of mu > 1 in its own metric (newton)
  bool sticks = false;        ///< all contacts stick, whatever their impulse (newton)
  bool impatient = false;     ///< gives up soon where steps hardly get nearer (newton)
  Start start = Start::last;
  int seed = 0;  ///< of random starts; scales others by hashed numbers in [0, 1); 0: no scaling
  bool fixed = false;  ///< no early exit (pgs, lemke)
  /// Sweeps: judged by the Newton that follows. Newton: first, from what may be nearly the selected
  /// solution. Lemke: float tableau if mixed.
  bool coarse = false;
  Attempts attempts = {};  ///< which attempts (lemke)
  int least_rows = 0;      ///< environments of fewer rows skip it
  int most_rows = kNever;  ///< environments of more rows skip it
  double beyond = 0.0;     ///< skipped where the best residual is at most so many max|b|
  double soften = 0.0;     ///< compliance of contacts, times W_nn
  double distance = 1.0;   ///< from all bounds and cones at the start (interior, continuation)

  /// Whether it solves an altered problem; with `sticks`, other equations on the problem as given.
  SS_HD bool alters() const { return soften > 0.0; }
};

/// The algorithm that a result names; `farkas` finds no impulse itself.
SS_HD Solver solver_of(Method method) {
  if (method == Method::lemke) return Solver::lemke;
  return method == Method::pgs ? Solver::pgs : Solver::newton;
}

}  // namespace stickslip::kernels
