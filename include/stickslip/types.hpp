// Basic types of the library: laws, solvers, precisions, statuses, options.
// Plain data only: these types are copied to the GPU as they are.
#pragma once
#include <cstdint>

namespace stickslip {

/// The friction law of a contact block (docs/mathematics.md §2). One law for the whole batch; rows
/// that are not contacts (free, nonneg, box) have the same meaning under every law.
enum class Law : std::int32_t {
  coulomb = 0,      ///< exact Coulomb friction: De Saxcé's NCP (Acary & Brogliato 2008)
  convex = 1,       ///< associated cone complementarity, MuJoCo's model (Todorov 2014)
  pyramid = 2,      ///< Stewart-Trinkle LCP, 4 to 64 `directions`, inside the cone (1996)
  box = 3,          ///< decoupled axes: a square around the cone (Lacoursière 2007)
  frictionless = 4  ///< Signorini only, tangential impulses are zero
};

/// Which algorithm produced a result; `automatic` selects the ladder of the law.
enum class Solver : std::int32_t { automatic = 0, pgs = 1, newton = 2, lemke = 3 };

/// Arithmetic of the solver. The residual is always evaluated in double.
enum class Precision : std::int32_t {
  float64 = 0,  ///< double throughout
  float32 = 1,  ///< float throughout
  mixed = 2     ///< double state and residual, float factorisation; double where needed
};

/// Verdict on one environment, by the residual of docs/mathematics.md §4 only.
enum class EnvStatus : std::int32_t {
  solved = 0,         ///< residual <= tolerance
  not_converged = 1,  ///< budget used up; impulse: the best seen (mathematics §5)
  infeasible = 2,     ///< proved: no impulses satisfy the gaps (mathematics §5)
  bad_input = 3,      ///< NaN, infinity, mu < 0, lo > hi, ...; impulse is zero
  over_capacity = 4   ///< more rows than the batch was sized for; impulse is zero
};

/// How to solve a batch. Negative `atol`, `rtol` mean the default of the precision (1e-9 for
/// float64 and mixed, 1e-5 for float32).
struct SolveOptions {
  Law law = Law::coulomb;
  Solver solver = Solver::automatic;
  Precision precision = Precision::float64;
  double atol = -1.0;              ///< m/s; solved means residual <= atol + rtol * max|b|
  double rtol = -1.0;              ///< 1
  std::int32_t max_sweeps = 1000;  ///< budget of solver `pgs`
  std::int32_t max_newton = 100;   ///< steps of a stage of Newton's method, at most
  std::int32_t max_rung = 99;      ///< last rung of the ladder of solver `automatic` that may run
  /// Work on one environment, in multiplications (a Newton step of n rows counts n^3): half for
  /// rung 0, half for the other rungs. When the work is used up, the best impulse is the answer. 0:
  /// all of rung 0, then as `thorough` says.
  double max_work = 0.0;
  /// Whether to spend much work on problems that the first stages did not solve: after rung 0
  /// max(1e9, 2400 n^3), unless `max_work` is set. If false: 1000 n^3 up to 64 rows, but no less
  /// than 1e7 and no more than 4e7, and 1300 n^3 beyond, and rungs 2 and later are left out where
  /// an impulse solves but for the bound of its rounding errors (docs/mathematics.md, section 11).
  bool thorough = true;
  /// Run exactly `max_sweeps` sweeps (solver `pgs` only): no early exit, the verdict is the same.
  bool fixed_sweeps = false;
  std::int32_t max_pivots = 20000;  ///< budget of solver `lemke`, over all its attempts
  /// Run exactly `max_pivots` pivots (solver `lemke`, contacts of dimension 3 alone, 4 directions):
  /// when an attempt ends, another begins.
  bool fixed_pivots = false;
  /// Directions of law `pyramid` in the sliding plane: 4 (a diamond), 8, 16, 32 or 64.
  std::int32_t directions = 4;

  bool operator==(const SolveOptions&) const = default;
};

/// Number of rows of each kind in one environment, in the order of the rows.
struct RowCounts {
  std::int32_t n_free = 0;      ///< bilateral rows (joints, equalities)
  std::int32_t n_nonneg = 0;    ///< unilateral rows (limits, frictionless contacts)
  std::int32_t n_box = 0;       ///< box rows (dry friction, motors)
  std::int32_t n_contacts = 0;  ///< contact blocks of dimension 3, 4 or 6
};

}  // namespace stickslip
