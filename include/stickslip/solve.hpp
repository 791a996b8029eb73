// Solving batches in host memory on CPU threads.
#pragma once
#include <cstdint>
#include <memory>

#include "stickslip/batch.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

/// Memory and threads of CPU solves: allocated once, so that `solve` never allocates.
class Workspace {
 public:
  /// Prepares `threads` threads (0: all cores) for environments of up to `max_rows` rows and
  /// `max_contacts` contacts. Throws std::invalid_argument for negative numbers.
  Workspace(std::int32_t max_rows, std::int32_t max_contacts, int threads = 0);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  int threads() const;
  std::int32_t max_rows() const;
  std::int32_t max_contacts() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Solves every environment of `problem`; an environment that cannot be solved says so in its
/// status and leaves the others untouched. The bits of each result depend on that environment and
/// `options` alone. Throws std::invalid_argument (naming the argument) for missing arrays, a
/// workspace that is too small, or a law without a solver.
template <class In>
void solve(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
           const SolveOptions& options, Workspace& workspace);

/// The same with a workspace made for this call.
template <class In>
void solve(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
           const SolveOptions& options = {});

/// Measures given impulses (`impulse[e]`, rows of each shape) against the law: one `Measures` per
/// environment, in double. Bad input and NaN give an infinite residual. `directions` are those of
/// law `pyramid`.
template <class In>
void measure(const ProblemBatch<In>& problem, EnvArray<const In> impulse, Law law,
             Measures* measures, Workspace& workspace, int directions = 4);

/// The tolerance that `options` mean for an environment with the given max|b|.
double tolerance(const SolveOptions& options, double max_abs_b);

}  // namespace stickslip
