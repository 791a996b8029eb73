// Misuse of the API throws at once; the message names the argument, what is expected and the value.
#pragma once
#include <stdexcept>
#include <string>
#include <type_traits>

#include "stickslip/batch.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/engine_mechanism.hpp"
#include "stickslip/gradient.hpp"
#include "stickslip/lcp.hpp"

namespace stickslip {

template <class T>
void require(bool condition, const char* argument, const char* expected, const T& got) {
  if (condition) return;
  std::string value;
  if constexpr (std::is_arithmetic_v<T>) {
    value = std::to_string(got);
  } else {
    value = got;
  }
  throw std::invalid_argument(std::string(argument) + ": expected " + expected + ", got " + value);
}

template <class T>
void require_array(const EnvArray<T>& array, const char* argument) {
  require(array.data != nullptr, argument, "an array", "none");
}

/// Refuses sizes whose arrays take more bytes than this machine has, before they are allocated.
void require_memory(double bytes, const char* arguments);

/// Checks what can be checked without reading any environment (the data may be on a device).
/// `MatrixOf`: whether the problem contains W or a mechanism gives it.
enum class MatrixOf { problem, mechanism };
template <class Scalar>
void check_problem(const ProblemBatch<Scalar>& problem, MatrixOf matrix = MatrixOf::problem);
template <class Scalar>
void check_solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                 const SolveOptions& options, MatrixOf matrix = MatrixOf::problem);
void check_options(const SolveOptions& options);
template <class Scalar>
void check_solve_mechanism(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                           const ResultBatch<Scalar>& result, const SolveOptions& options);
void check_engine_step(const EngineStep& step, const ProblemBatch<double>& problem,
                       const ResultBatch<double>& result, const SolveOptions& options);
/// Of a solve of the law convex for velocities.
void check_engine_convex(const ProblemBatch<double>& problem, const EngineMechanism& mechanism,
                         const ResultBatch<double>& result, const SolveOptions& options);
/// lo and hi may be absent only if no environment has box rows. The shapes tell this, so they must
/// be in host memory.
template <class Scalar>
void check_bounds(const ProblemBatch<Scalar>& problem);
/// Arguments of spread_friction and sum_friction; `from` and `to` by their names.
template <class Scalar>
void check_friction(const ProblemBatch<Scalar>& problem, const EnvArray<const Scalar>& from,
                    const EnvArray<Scalar>& to, const char* from_name, const char* to_name);
/// Throws if a tolerance is NaN or infinite.
void check_tolerances(double atol, double rtol);
/// Allowed: 4, 8, 16, 32 or 64.
void check_directions(std::int32_t directions, const char* argument);
template <class Scalar>
void check_mechanism(const MechanismBatch<Scalar>& mechanism);
/// The same for a mechanism that gives the matrices of a problem.
template <class Scalar>
void check_mechanism_of(const MechanismBatch<Scalar>& mechanism,
                        const ProblemBatch<Scalar>& problem);
/// Arguments of solve_vjp, solve_jvp and step_vjp.
template <class Scalar>
void check_gradient(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
                    const GradientBatch<Scalar>& gradient, const SolveOptions& options,
                    MatrixOf matrix = MatrixOf::problem);
template <class Scalar>
void check_change(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
                  const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& result,
                  const SolveOptions& options, MatrixOf matrix = MatrixOf::problem);
template <class Scalar>
void check_step_gradient(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                         const SolutionBatch<Scalar>& solution,
                         const StepGradient<Scalar>& gradient, const SolveOptions& options);
template <class Scalar>
void check_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options);

}  // namespace stickslip
