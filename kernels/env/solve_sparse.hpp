// The problem of a mechanism without W, on a CPU: climb_sparse.hpp and sparse_env.hpp, compiled
// once for all types of arithmetic (src/cpu/solve_sparse_kernels.cpp).
#pragma once
#include "kernels/env/solve_part.hpp"

#if defined(__CUDACC__)
namespace stickslip::kernels::inline SS_ISA {
template <class G>
inline constexpr bool kWithoutW = false;
}  // namespace stickslip::kernels::inline SS_ISA
#else
#include <type_traits>

#include "kernels/group/host_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether a group solves without W.
template <class G>
inline constexpr bool kWithoutW = std::is_same_v<G, HostGroup>;

bool solve_sparse(const HostGroup& g, const EnvProblem<double>& p, const SparseMechanism& m,
                  const Ladder& ladder, VelocityScratch& scratch, std::int64_t env, double share,
                  Outcome& out);

/// `memory`: of sparse_env_bytes(nv, batch.max_rows, batch.max_contacts).
void solve_sparse_env(const HostGroup& g, const MatrixSource<double>& source,
                      const ProblemBatch<double>& batch, const ResultBatch<double>& result,
                      const Ladder& ladder, std::int64_t env, void* memory);
std::size_t sparse_env_bytes(int nv, int max_rows, int max_contacts);

}  // namespace stickslip::kernels::inline SS_ISA
#endif
