// Derivatives of a solve: how impulses and velocities change with the problem (docs/gradients.md).
//
// At a solution, u = (W + diag R) r + b and every row obeys one equation of its state: open,
// sticking, sliding, at a bound. The derivatives are those of these equations, by the implicit
// function theorem. They are exact while no state changes; `GradientStatus` says whether they are.
#pragma once
#include <cstdint>

#include "stickslip/batch.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/solve.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip {

/// Whether the derivatives of an environment can be trusted. None of them is ever NaN.
enum class GradientStatus : std::int32_t {
  valid = 0,       ///< the derivative exists, and this is it (`redundant`: of J dv alone)
  kink = 1,        ///< a state is about to change: one of the one-sided derivatives
  not_unique = 2,  ///< the solution moves in a direction that is not determined (R = 0)
  unsolved = 3     ///< zeros: the problem is not solved, or an input is not finite
};

/// The solution of every environment, from `solve` with the same problem.
template <class Scalar>
struct SolutionBatch {
  EnvArray<const Scalar> impulse;     ///< [rows]
  const EnvStatus* status = nullptr;  ///< others than `solved` get GradientStatus::unsolved
};

/// What every derivative says about itself, one value per environment.
struct GradientReport {
  GradientStatus* status = nullptr;
  /// m/s: how far the velocities are from the next change of a state; 0 if unsolved, or where the
  /// residual of the solution may hide the state of a contact. `kink` means less than 10 tolerances
  /// of the options, more where the linear system is nearly singular: times 1e-4 over its least
  /// pivot.
  double* kink_distance = nullptr;
  /// Share of the right side that does not fit the equations, and, of a change, share of the
  /// velocities that they do not determine, and how far redundant impulses are from the selected
  /// ones, if above 1e-6; `not_unique` means more than 1e-9, for float 1e-6.
  double* inconsistency = nullptr;
  /// Optional: 1 where the active rows are linearly dependent (W singular, no compliance). Then
  /// dL/db, row by row, is its part in the range of W: right for every change of b that the
  /// mechanism can make, J dv. A change of one such row alone has no derivative.
  std::int32_t* redundant = nullptr;
};

/// A loss L by its derivatives with respect to the solution; absent: 0.
template <class Scalar>
struct LossBatch {
  EnvArray<const Scalar> impulse;   ///< [rows] dL/dr
  EnvArray<const Scalar> velocity;  ///< [rows] dL/du
};

/// The derivatives of a loss with respect to the problem. Absent arrays are not computed. Entries
/// beyond the rows of an environment are not written, except those of `b`, which are 0.
template <class Scalar>
struct GradientBatch {
  EnvArray<Scalar> b;       ///< [rows]; required
  EnvArray<Scalar> W;       ///< [rows][ld_W], the rank-one matrix b r^T
  std::int32_t ld_W = 0;    ///< 0: max_rows
  EnvArray<Scalar> mu, R;   ///< as in ProblemBatch. Where mu is 0, its derivative is given as 0.
  EnvArray<Scalar> lo, hi;  ///< [n_box]
  GradientReport report;    ///< required
};

/// A change of the problem; absent: 0.
template <class Scalar>
struct ChangeBatch {
  EnvArray<const Scalar> b, W;  ///< [rows], [rows][ld_W]
  std::int32_t ld_W = 0;        ///< 0: max_rows
  EnvArray<const Scalar> mu, R, lo, hi;
};

/// The change of the solution that follows.
template <class Scalar>
struct SolutionChange {
  EnvArray<Scalar> impulse, velocity;  ///< [rows]; 0 beyond the rows of an environment
  GradientReport report;               ///< required
  /// The impulses serve only for their motion J^T dr: how contacts share a load does not matter.
  bool for_motion = false;
};

/// The derivatives of a loss of the solution with respect to the problem (vector-Jacobian product):
/// by one transposed linear system per environment. Throws std::invalid_argument (naming the
/// argument) as `solve` does, and for laws without derivatives.
template <class Scalar>
void solve_vjp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const LossBatch<Scalar>& loss, const GradientBatch<Scalar>& gradient,
               const SolveOptions& options, Workspace& workspace);

/// The change of the solution with the problem (Jacobian-vector product).
template <class Scalar>
void solve_jvp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& result,
               const SolveOptions& options, Workspace& workspace);

/// `solve` and `solve_vjp` in one call, for a loss whose derivatives are known before the solve:
/// each environment is differentiated where it was solved. The bits are those of the two calls.
template <class Scalar>
void solve_with_vjp(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                    const LossBatch<Scalar>& loss, const GradientBatch<Scalar>& gradient,
                    const SolveOptions& options, Workspace& workspace);

/// A loss of the next velocities v = v_free + M^-1 J^T r of a mechanism, and of its contacts.
template <class Scalar>
struct StepLoss {
  EnvArray<const Scalar> v_next;  ///< [nv] dL/dv
  LossBatch<Scalar> contacts;     ///< optional
};

/// Its derivatives; absent arrays are not computed.
template <class Scalar>
struct StepGradient {
  GradientBatch<Scalar> contacts;  ///< `b` and the report are required
  EnvArray<Scalar> adjoint;        ///< [nv] w = M^-1 dL/dv_free, the derivative by M v_free
  EnvArray<Scalar> v_free;         ///< [nv]
  EnvArray<Scalar> M;              ///< [nv][nv], symmetric
  EnvArray<Scalar> J;              ///< [rows][nv]
};

/// The derivatives of a loss through `solve_mechanism`, with b = J v_free + c (so dL/dc is that of
/// b, and those of v_free and J contain what b does with them). `step.v_free` is required,
/// `problem.W` absent.
template <class Scalar>
void step_vjp(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
              const SolutionBatch<Scalar>& solution, const StepLoss<Scalar>& loss,
              const StepGradient<Scalar>& gradient, const SolveOptions& options,
              Workspace& workspace);

/// `solve_vjp` of the one environment of `problem` by its mechanism, without W: by the transpose of
/// a block-sparse LU in the space of velocities. False, with nothing written, if the mechanism is
/// not sparse enough for that to be faster: the caller must form W. `problem.W` and `gradient.W`
/// must be absent. Throws as `solve_vjp` does.
bool solve_vjp(const ProblemBatch<double>& problem, const SparseMechanism& mechanism,
               const SolutionBatch<double>& solution, const LossBatch<double>& loss,
               const GradientBatch<double>& gradient, const SolveOptions& options,
               Workspace& workspace);

/// `solve_jvp` of the same, with the same result; `change.W` must be absent.
bool solve_jvp(const ProblemBatch<double>& problem, const SparseMechanism& mechanism,
               const SolutionBatch<double>& solution, const ChangeBatch<double>& change,
               const SolutionChange<double>& result, const SolveOptions& options,
               Workspace& workspace);

/// The derivatives of the one environment of `problem` by the mechanism, as `solve_convex` solves
/// it (stickslip/sparse_mechanism.hpp): by one back substitution with the Hessian of Newton's
/// method in velocity space, without W. False, with nothing written, if rows have no compliance:
/// the caller must form W and call `solve_vjp`. `gradient.W` must be absent. Throws as
/// `solve_convex` and `solve_vjp` do.
bool solve_convex_vjp(const ProblemBatch<double>& problem, const SparseMechanism& mechanism,
                      const SolutionBatch<double>& solution, const LossBatch<double>& loss,
                      const GradientBatch<double>& gradient, const SolveOptions& options,
                      Workspace& workspace);

}  // namespace stickslip
