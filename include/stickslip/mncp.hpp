// Mixed nonlinear complementarity problems (mNCP): the caller gives the maps and their Jacobians.
//
//   z(x, w) = 0,    0 <= y(x, w) ⟂ x >= 0,    w free
//
// (docs/mathematics.md §16). Solved by Newton's method on Fischer and Burmeister's function, the
// same body that solves LCPs; without x it is the Newton-Raphson method.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "stickslip/batch.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

/// One evaluation of the maps of an environment: a function of the caller reads x and w and writes
/// the others. It may write NaN where the maps are not defined: that step is then shortened.
struct MncpPoint {
  std::int32_t env;       ///< environment in the batch
  std::int32_t n_x, n_w;  ///< unknowns
  const double* x;        ///< [n_x]
  const double* w;        ///< [n_w]
  double* y;              ///< [n_x] out
  double* z;              ///< [n_w] out
  /// Out: [n_x + n_w][n_x + n_w] row-major, d(y, z) / d(x, w), zero on entry; null if it is not
  /// needed.
  double* jacobian;
};
using MncpMap = std::function<void(const MncpPoint&)>;

/// Batch of problems: one map for all environments; `MncpPoint::env` identifies the environment.
struct MncpBatch {
  std::int32_t num_envs = 0;
  std::int32_t max_x = 0, max_w = 0;            ///< capacity of a slot
  EnvArray<const std::int32_t> n_x{}, n_w{};    ///< unknowns in use; absent: max_x, max_w
  MncpMap map{};                                ///< called by several threads at once; may throw
  EnvArray<const double> start_x{}, start_w{};  ///< [n_x], [n_w] where to start; absent: 0
};

/// Output arrays. `residual`, `status` and `iterations` have one value per environment.
struct MncpResult {
  EnvArray<double> x{}, w{};    ///< [max_x], [max_w]; entries beyond those in use are set to zero
  EnvArray<double> y{};         ///< [max_x] y(x, w), optional
  double* residual = nullptr;   ///< max of |min(x, y)| and |z|, in the caller's units
  EnvStatus* status = nullptr;  ///< bad_input: the maps or the start are not finite at the start
  std::int32_t* iterations = nullptr;  ///< Newton steps
};

/// Negative tolerances mean 1e-9. An environment is solved if residual <= atol + rtol s; s
/// is the largest |y|, |z| at its start.
struct MncpOptions {
  double atol = -1.0, rtol = -1.0;
  std::int32_t max_newton = 100;  ///< budget of one attempt
  std::int32_t restarts = 0;      ///< further attempts, from points around the start
};

/// Scratch and threads of solves, allocated by the constructor: `solve_mncp` allocates no scratch.
/// One call at a time, as with `Workspace`.
class MncpWorkspace {
 public:
  /// For problems of up to `max_unknowns` = max_x + max_w; `threads` 0: all cores. Throws
  /// std::invalid_argument for negative numbers.
  explicit MncpWorkspace(std::int32_t max_unknowns, int threads = 0);
  ~MncpWorkspace();
  MncpWorkspace(MncpWorkspace&&) noexcept;
  MncpWorkspace& operator=(MncpWorkspace&&) noexcept;

  std::int32_t max_unknowns() const;
  void watch(std::function<bool()> go_on);  ///< as Workspace::watch; the map is not called after it
  struct Impl;

 private:
  friend struct ImplAccess;
  std::unique_ptr<Impl> impl_;
};

/// Solves every environment from its start. One that cannot be solved gets a status that says so
/// and does not affect the others. x >= 0 holds exactly. An exception thrown by the map ends the
/// call at once and is rethrown; of several threads, the first. Throws std::invalid_argument
/// (naming the argument) for missing arrays, impossible options, or a workspace that is too small.
void solve_mncp(const MncpBatch& problem, const MncpResult& result, const MncpOptions& options,
                MncpWorkspace& workspace);

/// The same with a workspace created for this call.
void solve_mncp(const MncpBatch& problem, const MncpResult& result,
                const MncpOptions& options = {});

}  // namespace stickslip
