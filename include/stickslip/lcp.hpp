// Linear complementarity problems with any matrix: standard, mixed, boxed, with friction index.
//
//   w = M z + q,     lo_i s_i <= z_i <= hi_i s_i,
//   w_i >= 0 where z_i is at its lower bound, w_i <= 0 at its upper one, w_i = 0 in between,
//
// s_i = max(0, z_j) for a row with friction index j, else 1 (docs/mathematics.md §14). The first
// `n_free` rows are free (lo = -infinity, hi = infinity); bounds default to 0 and infinity.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "stickslip/batch.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

/// Which algorithm produced a result; with `automatic` both run alternately.
enum class LcpMethod : std::int32_t {
  automatic = 0,  ///< Lemke, then Newton if Lemke fails, attempt by attempt
  lemke = 1,      ///< complementary pivoting (Lemke 1965; Cottle, Pang & Stone 1992)
  newton = 2      ///< semismooth Newton on Fischer-Burmeister's function (Fischer 1992)
};

/// Batch of problems. `Scalar` is float or double.
template <class Scalar>
struct LcpBatch {
  std::int32_t num_envs = 0;
  std::int32_t max_rows = 0;            ///< capacity of a slot
  EnvArray<const std::int32_t> rows;    ///< rows in use; absent: max_rows
  EnvArray<const std::int32_t> n_free;  ///< free rows, which come first; absent: 0
  EnvArray<const Scalar> M;             ///< [rows][ld_M] row-major, any square matrix
  std::int32_t ld_M = 0;                ///< elements between two rows of M; 0: max_rows
  EnvArray<const Scalar> q;             ///< [rows]
  EnvArray<const Scalar> lo, hi;        ///< [rows] both or neither; not read for free rows
  EnvArray<const std::int32_t> findex;  ///< [rows] friction index or -1; absent: all -1
  EnvArray<const Scalar> start;         ///< [rows] z to start from; absent: 0
};

/// Output arrays. Every array except `z` and `w` has one value per environment.
template <class Scalar>
struct LcpResult {
  EnvArray<Scalar> z;          ///< [rows]; entries beyond an environment's rows are set to zero
  EnvArray<Scalar> w;          ///< [rows] M z + q, optional
  double* residual = nullptr;  ///< max |z - clamp(z - w, lo, hi)|, |w| on free rows; in double
  EnvStatus* status = nullptr;
  std::int32_t* iterations = nullptr;  ///< pivots and Newton steps together
  LcpMethod* method = nullptr;         ///< the algorithm that produced z
};

/// How to solve. Negative `atol`, `rtol` mean the default of the precision (1e-9 for float64, 1e-5
/// for float32).
struct LcpOptions {
  LcpMethod method = LcpMethod::automatic;
  Precision precision =
      Precision::float64;  ///< float64 or float32; the residual is always in double
  double atol = -1.0;      ///< solved means residual <= atol + rtol * max|q|
  double rtol = -1.0;
  std::int32_t max_pivots = 0;    ///< budget of one attempt by Lemke; 0: 100 + 20 rows
  std::int32_t max_newton = 100;  ///< budget of one attempt by Newton
  std::int32_t restarts = 7;      ///< further attempts, with different covering vectors and starts
  /// Constraint force mixing >= 0: solves and judges the problem with M_ii (1 + cfm).
  double cfm = 0.0;
};

/// The problems of an LcpWorkspace, and its threads.
struct LcpWorkspaceConfig {
  std::int32_t max_rows = 0;  ///< of a problem
  bool boxed = false;         ///< also problems with bounds
  int threads = 0;            ///< 0: all cores
};

/// Scratch and threads of solves, allocated by the constructor: `solve_lcp` allocates no scratch.
/// One call at a time, as with `Workspace`.
class LcpWorkspace {
 public:
  /// Throws std::invalid_argument for negative numbers.
  explicit LcpWorkspace(const LcpWorkspaceConfig& config);
  ~LcpWorkspace();
  LcpWorkspace(LcpWorkspace&&) noexcept;
  LcpWorkspace& operator=(LcpWorkspace&&) noexcept;

  std::int32_t max_rows() const;
  bool boxed() const;
  int threads() const;
  void watch(std::function<bool()> go_on);  ///< as Workspace::watch
  struct Impl;

 private:
  friend struct ImplAccess;
  std::unique_ptr<Impl> impl_;
};

/// Solves every environment. One that cannot be solved gets a status that says so (`infeasible` if
/// an attempt by Lemke ended with a proof) and does not affect the others. The bits of a result
/// depend only on that environment and `options`. Throws std::invalid_argument (naming the
/// argument) for missing arrays, impossible options, or a workspace that is too small.
template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options, LcpWorkspace& workspace);

/// The same with a workspace created for this call.
template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options = {});

const char* name(LcpMethod method);  ///< "auto", "lemke", "newton"

}  // namespace stickslip
