#include "kernels/env/solve_sparse.hpp"
#include "kernels/env/sparse_env.hpp"

namespace stickslip::kernels::inline SS_ISA {

bool solve_sparse(const HostGroup& g, const EnvProblem<double>& p, const SparseMechanism& m,
                  const Ladder& ladder, VelocityScratch& scratch, std::int64_t env, double share,
                  Outcome& out) {
  return climb_sparse(g, p, m, ladder, Rungs::all, kSparse, scratch, env, share, out);
}

void solve_sparse_env(const HostGroup& g, const MatrixSource<double>& source,
                      const ProblemBatch<double>& batch, const ResultBatch<double>& result,
                      const Ladder& ladder, std::int64_t env, void* memory) {
  auto& scratch = SparseEnvScratch::make(g, Arena(memory), source.engine.nv, batch.max_rows,
                                         batch.max_contacts);
  solve_sparse_env(g, source, batch, result, ladder, env, scratch);
}

std::size_t sparse_env_bytes(int nv, int max_rows, int max_contacts) {
  return SparseEnvScratch::bytes(nv, max_rows, max_contacts);
}

}  // namespace stickslip::kernels::inline SS_ISA
