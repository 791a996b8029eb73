// The Delassus matrix of a problem, scaled and in the arithmetic of a solver.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// M_ij = scale(i) W_ij scale(j), without the compliance, in the arithmetic of W; column j at
/// M + j ld. Lanes that have single entries read the scale of their column once.
template <class G, class In, class Real, class Scale>
SS_HD void copy_scaled_delassus(const G& g, const EnvProblem<In>& p, Real* M, int ld,
                                const Scale& scale) {
  if (p.symmetric) {  // column j is row j: contiguous reads
    if constexpr (G::kChunk == 1) {
      g.for_rows(p.n, p.n, [&](int j, auto&& columns) {
        const In* const from = p.W + std::int64_t(j) * p.ld_W;
        Real* const to = M + std::int64_t(j) * ld;
        const In own = In(scale(j));
        columns([&](int i) { to[i] = Real(from[i] * (In(scale(i)) * own)); });
      });
    } else {
      g.for_each_2d(p.n, p.n, [&](int j, int i) {
        M[std::int64_t(j) * ld + i] =
            Real(p.W[std::int64_t(j) * p.ld_W + i] * (In(scale(i)) * In(scale(j))));
      });
    }
  } else {
    g.for_each_2d(p.n, p.n, [&](int j, int i) {
      M[std::int64_t(j) * ld + i] =
          Real(p.W[std::int64_t(i) * p.ld_W + j] * (In(scale(i)) * In(scale(j))));
    });
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
