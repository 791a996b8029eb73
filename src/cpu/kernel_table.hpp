// Entry points of the CPU kernels, one table per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/delassus/matrix_source.hpp"
#include "kernels/env/adjoint_call.hpp"
#include "kernels/group/stop.hpp"
#include "kernels/ladder/ladder.hpp"
#include "stickslip/batch.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/lcp.hpp"
#include "stickslip/mncp.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip::kernels {

/// Entry points for one type of the caller's data.
template <class Scalar>
struct TypedKernels {
  using Solve = void (*)(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&, const Ladder&,
                         const MatrixSource<Scalar>&, std::int64_t begin, std::int64_t end,
                         void* scratch, Rungs rungs, const AdjointCall<Scalar>*);
  /// By Precision; null if the data type is too coarse for it. Derivatives only for double data and
  /// not in float; the scratch is then that of both.
  Solve solve[3];
  /// The same if the ladder consists of sweeps only (kernels/env/solve_pack.hpp): environments
  /// of equal layout in packs, with the same bits as `solve`, the others by `single`, a `solve`.
  void (*sweep[3])(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&, const Ladder&,
                   std::int64_t begin, std::int64_t end, void* scratch, Solve single);
  std::size_t (*sweep_bytes)(int max_rows, int max_contacts);
  void (*measure)(const ProblemBatch<Scalar>&, EnvArray<const Scalar> impulse, Law, Measures*,
                  int directions, std::int64_t begin, std::int64_t end, void* scratch);
  /// Whether certificates of infeasibility are valid, one byte each.
  void (*certify)(const ProblemBatch<Scalar>&, EnvArray<const double> certificate,
                  const SolveOptions&, std::uint8_t* holds, std::int64_t begin, std::int64_t end,
                  void* scratch);
  void (*delassus)(const MechanismBatch<Scalar>&, EnvArray<Scalar> W, int ld_W, std::int32_t* ok,
                   std::int64_t begin, std::int64_t end, void* scratch);
  void (*apply)(const MechanismBatch<Scalar>&, EnvArray<const Scalar> impulse,
                EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next, std::int32_t* ok,
                std::int64_t begin, std::int64_t end, void* scratch);
  /// Scratch of the largest solve. `directions` of law `pyramid`, 0 for the others; `nv` of
  /// mechanisms, negative if W is given.
  std::size_t (*solve_bytes)(int max_rows, int max_contacts, int directions, MatrixKind matrix);
  std::size_t (*delassus_bytes)(int nv, int max_rows);
  /// kernels/env/gradient_env.hpp; W comes from the step's mechanism, if it has environments.
  void (*vjp)(const ProblemBatch<Scalar>&, const MechanismStep<Scalar>&,
              const SolutionBatch<Scalar>&, const StepLoss<Scalar>&, const StepGradient<Scalar>&,
              const SolveOptions&, std::int64_t begin, std::int64_t end, void* scratch);
  void (*jvp)(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&, const ChangeBatch<Scalar>&,
              const SolutionChange<Scalar>&, const SolveOptions&, std::int64_t begin,
              std::int64_t end, void* scratch);
  std::size_t (*gradient_bytes)(int max_rows, int max_contacts, int nv);
  using SolveLcp = void (*)(const LcpBatch<Scalar>&, const LcpResult<Scalar>&, const LcpOptions&,
                            std::int64_t begin, std::int64_t end, void* scratch);
  SolveLcp solve_lcp[2];  ///< by Precision, without mixed; null if the data type is too coarse
  std::size_t (*lcp_bytes)(int max_rows, bool boxed);
};

/// A caller's map in the form that kernels can call: it does not throw.
struct MncpCallback {
  void (*function)(const void* context, const MncpPoint& point);
  const void* context;
  void operator()(const MncpPoint& point) const { function(context, point); }
};

/// Result of an elimination of free variables (kernels/env/lcp_env.hpp).
struct Elimination {
  EnvArray<double> A, q, T, t;  ///< [m][ld], [m], [n_free][ld], [n_free]; m = rows - n_free
  int ld;
  EnvStatus* status;   ///< bad_input: not finite; infeasible: singular
  std::int32_t* rank;  ///< of the block of free rows
};

struct KernelTable {
  const char* isa;
  TypedKernels<double> f64;
  TypedKernels<float> f32;
  void (*sparse_delassus)(const SparseMechanism&, double* W, int ld_W, void* scratch);
  std::size_t (*sparse_delassus_bytes)(int nv, int max_rows);
  /// u = W r and the diagonal of W without W; scratch x[nv] and path[nv].
  void (*multiply_delassus)(const SparseMechanism&, const double* r, double* u, double* x);
  void (*delassus_diagonal)(const SparseMechanism&, double* diagonal, double* x,
                            std::int32_t* path);
  /// kernels/env/convex_env.hpp
  void (*solve_convex)(const ProblemBatch<double>&, const SparseMechanism&, const double* start,
                       const ResultBatch<double>&, const SolveOptions&, void* scratch);
  std::size_t (*solve_convex_bytes)(int nv, int max_rows, int max_contacts);
  /// Its derivatives, kernels/env/convex_gradient.hpp
  bool (*vjp_convex)(const ProblemBatch<double>&, const SparseMechanism&,
                     const SolutionBatch<double>&, const LossBatch<double>&,
                     const GradientBatch<double>&, const SolveOptions&, void* scratch);
  std::size_t (*vjp_convex_bytes)(int nv, int max_rows, int max_contacts);
  /// kernels/env/sparse_gradient.hpp
  bool (*vjp_sparse)(const ProblemBatch<double>&, const SparseMechanism&,
                     const SolutionBatch<double>&, const LossBatch<double>&,
                     const GradientBatch<double>&, const SolveOptions&, void* scratch);
  bool (*jvp_sparse)(const ProblemBatch<double>&, const SparseMechanism&,
                     const SolutionBatch<double>&, const ChangeBatch<double>&,
                     const SolutionChange<double>&, const SolveOptions&, void* scratch);
  std::size_t (*sparse_gradient_bytes)(int nv, int max_rows, int max_contacts);
  /// The same solve as solve_convex for mechanisms of an engine.
  void (*solve_engine_convex)(const ProblemBatch<double>&, const EngineMechanism&,
                              EnvArray<const double> start, const ResultBatch<double>&,
                              const SolveOptions&, std::int64_t begin, std::int64_t end,
                              void* scratch);
  std::size_t (*solve_engine_convex_bytes)(int nv, int max_rows, int max_contacts);
  // kernels/linalg/ltdl.hpp
  bool (*factor_ltdl)(const TreeSparsity&, double* M, double* diag_inv);
  void (*solve_ltdl)(const TreeSparsity&, const double* L, const double* diag_inv, double* x);
  void (*eliminate)(const LcpBatch<double>&, const Elimination&, std::int64_t begin,
                    std::int64_t end, void* scratch);
  void (*solve_mncp)(const MncpBatch&, const MncpCallback&, const MncpResult&, const MncpOptions&,
                     std::int64_t begin, std::int64_t end, void* scratch);
  std::size_t (*mncp_bytes)(int max_unknowns);
  /// Sets what the environments that this thread solves poll from now on (null: nothing); returns
  /// the previous value.
  const Stop* (*set_stop)(const Stop* stop);
};

/// The table for this processor. Throws std::runtime_error if it has none (below x86-64-v3).
const KernelTable& kernel_table();

/// The tables of all instruction sets that the processor and the build have, the best one last. For
/// tests that compare their bits.
std::vector<const KernelTable*> kernel_tables();

template <class Scalar>
const TypedKernels<Scalar>& typed(const KernelTable& table) {
  if constexpr (sizeof(Scalar) == 8) {
    return table.f64;
  } else {
    return table.f32;
  }
}

}  // namespace stickslip::kernels
