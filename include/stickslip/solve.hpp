// Solving batches in host memory on CPU threads.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

#include "stickslip/batch.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

/// Thrown by a call that was stopped before it finished (`Workspace::watch`).
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Memory and threads of CPU solves. `solve` allocates only while the workspace grows: to a larger
/// batch, or to a law that needs more scratch. One call at a time: a call throws std::runtime_error
/// while another call uses its workspace. The child of a fork may use it too.
class Workspace {
 public:
  /// Prepares `threads` threads (0: all cores) for environments of up to `max_rows` rows and
  /// `max_contacts` contacts. Throws std::invalid_argument for negative numbers, and for sizes that
  /// the machine's memory cannot hold.
  Workspace(std::int32_t max_rows, std::int32_t max_contacts, int threads = 0);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// Long calls ask `go_on` about every 50 ms, between environments and on the calling thread. If
  /// it returns false, the call throws Interrupted: some environments then have their results,
  /// those of the others are unspecified. With an empty function, calls are never interrupted.
  void watch(std::function<bool()> go_on);

  int threads() const;
  std::int32_t max_rows() const;
  std::int32_t max_contacts() const;

  struct Impl;

 private:
  friend struct ImplAccess;
  std::unique_ptr<Impl> impl_;
};

/// Solves every environment of `problem`. One that cannot be solved gets a status that says so and
/// does not affect the others. The bits of each result depend only on that environment and
/// `options`. Arrays in float may be solved in any precision: with `float64` and `mixed` they are
/// converted where they are used, the verdict is that of the impulse before it is rounded to float,
/// which changes the residual by up to 6e-8 of |W| |r|. Throws std::invalid_argument (naming the
/// argument) for missing arrays, a workspace
/// that is too small, or a law without a solver.
template <class Scalar>
void solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
           const SolveOptions& options, Workspace& workspace);

/// The same with a workspace created for this call.
template <class Scalar>
void solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
           const SolveOptions& options = {});

/// Measures given impulses (`impulse[e]`, rows of each environment) against the law: one `Measures`
/// per environment, in double. Bad input and NaN give an infinite residual. `directions` are those
/// of law `pyramid`.
template <class Scalar>
void measure(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> impulse, Law law,
             Measures* measures, Workspace& workspace, int directions = 4);

/// Whether `certificate[e]` (rows of each environment, any scale) proves that environment e has no
/// solution under `options` (law and tolerances): `holds[e]` is 1 or 0. docs/mathematics.md §5.
template <class Scalar>
void check_certificates(const ProblemBatch<Scalar>& problem, EnvArray<const double> certificate,
                        const SolveOptions& options, std::uint8_t* holds, Workspace& workspace);

/// The tolerance that `options` define for an environment with the given max|b|.
double tolerance(const SolveOptions& options, double max_abs_b);

}  // namespace stickslip
