#include "src/cpu/mechanism_kernels.hpp"

#include "kernels/delassus/tree.hpp"
#include "kernels/env/convex_gradient.hpp"
#include "kernels/group/host_group.hpp"

namespace stickslip::kernels::inline SS_ISA {

void add_mechanism_kernels(KernelTable& t) {
  t.sparse_delassus = [](const SparseMechanism& m, double* W, int ld_W, void* memory) {
    Arena arena(memory);
    form_delassus(HostGroup{}, m, W, ld_W, TreeScratch(arena, m.tree.n, m.rows));
  };
  t.sparse_delassus_bytes = TreeScratch::bytes;
  t.multiply_delassus = [](const SparseMechanism& m, const double* r, double* u, double* x) {
    multiply_delassus(HostGroup{}, m, r, x, [&](int i, double sum) { u[i] = sum; });
  };
  t.delassus_diagonal = [](const SparseMechanism& m, double* diagonal, double* x,
                           std::int32_t* path) {
    delassus_diagonal(HostGroup{}, m, diagonal, x, path, 0);
  };
  t.solve_convex = [](const ProblemBatch<double>& batch, const SparseMechanism& m,
                      const double* start, const ResultBatch<double>& result,
                      const SolveOptions& options, void* memory) {
    Arena arena(memory);
    ConvexScratch scratch(arena, m.tree.n, batch.max_rows, batch.max_contacts);
    solve_convex(HostGroup{}, batch, m, start, result, options, 0, scratch);
  };
  t.solve_convex_bytes = ConvexScratch::bytes;
  t.vjp_convex = [](const ProblemBatch<double>& batch, const SparseMechanism& m,
                    const SolutionBatch<double>& solution, const LossBatch<double>& loss,
                    const GradientBatch<double>& gradient, const SolveOptions& options,
                    void* memory) {
    Arena arena(memory);
    ConvexGradientScratch scratch(arena, m.tree.n, batch.max_rows, batch.max_contacts);
    return vjp_convex(HostGroup{}, batch, m, solution, loss, gradient, options, scratch);
  };
  t.vjp_convex_bytes = ConvexGradientScratch::bytes;
  t.solve_engine_convex = [](const ProblemBatch<double>& batch, const EngineMechanism& m,
                             EnvArray<const double> start, const ResultBatch<double>& result,
                             const SolveOptions& options, std::int64_t begin, std::int64_t end,
                             void* memory) {
    Arena arena(memory);
    EngineConvexScratch scratch(arena, m.nv, batch.max_rows, batch.max_contacts);
    for (std::int64_t env = begin; env < end; ++env)
      solve_convex(HostGroup{}, batch, m, start, result, options, env, scratch);
  };
  t.solve_engine_convex_bytes = EngineConvexScratch::bytes;
  t.factor_ltdl = [](const TreeSparsity& s, double* M, double* diag_inv) {
    return factor_ltdl(HostGroup{}, s, M, diag_inv);
  };
  t.solve_ltdl = [](const TreeSparsity& s, const double* L, const double* diag_inv, double* x) {
    solve_ltdl(HostGroup{}, s, L, diag_inv, x);
  };
}

}  // namespace stickslip::kernels::inline SS_ISA
