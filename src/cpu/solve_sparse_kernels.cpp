#include "kernels/env/climb_sparse.hpp"
#include "kernels/env/solve_sparse.hpp"

namespace stickslip::kernels::inline SS_ISA {

bool solve_sparse(const HostGroup& g, const EnvProblem<double>& p, const SparseMechanism& m,
                  const Ladder& ladder, VelocityScratch& scratch, std::int64_t env, double share,
                  Outcome& out) {
  return climb_sparse(g, p, m, ladder, scratch, env, share, out);
}

}  // namespace stickslip::kernels::inline SS_ISA
